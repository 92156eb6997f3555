// The files of a drop, with those inside dropped folders.
import { joinFolder } from './paths.ts';
import type { NewUpload } from './state/upload-item.ts';

/** Call it in the event handler itself: the items are gone afterwards. */
export async function readDropped(transfer: DataTransfer, folder: string): Promise<NewUpload[]> {
  const items = [...transfer.items].filter(({ kind }) => kind === 'file');
  const entries = items.map((item) => item.webkitGetAsEntry?.() ?? null);
  const plain = items.map((item) => item.getAsFile());
  const found: NewUpload[] = [];
  for (const [index, entry] of entries.entries()) {
    const file = plain[index];
    if (entry) await readEntry(entry, folder, found);
    else if (file) found.push({ file, folder });
  }
  return found;
}

async function readEntry(entry: FileSystemEntry, folder: string, found: NewUpload[]): Promise<void> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) =>
      (entry as FileSystemFileEntry).file(resolve, reject),
    );
    found.push({ file, folder });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const inside = joinFolder(folder, entry.name);
  for (;;) {
    // At most 100 at a time; none when all were read.
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (entries.length === 0) return;
    for (const one of entries) await readEntry(one, inside, found);
  }
}

/** Files of an input; those of a chosen folder know their path. */
export function readChosen(files: Iterable<File>, folder: string): NewUpload[] {
  return [...files].map((file) => {
    const path = file.webkitRelativePath || '';
    const inside = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
    return { file, folder: joinFolder(folder, inside) };
  });
}
