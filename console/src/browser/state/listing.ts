// The folder that is shown: its pages, with what is uploaded, changed and deleted here meanwhile.
import type { ListedFile } from '@pakhus/client';
import { batch, type ReadonlySignal, signal } from '@preact/signals';
import { childTowards } from '../paths.ts';
import type { BrowsedUser } from './browsed-user.ts';
import { type FileItem, toFileItem, toFolderItem } from './entries.ts';
import { createEntryList, type EntryList } from './entry-list.ts';
import { createFolderPages, type FolderPages } from './folder-pages.ts';

export interface Listing
  extends Pick<EntryList, 'version' | 'entries' | 'get' | 'indexOf' | 'remove'>,
    Pick<FolderPages, 'status' | 'error' | 'isComplete' | 'loadMore' | 'dispose'> {
  readonly folder: ReadonlySignal<string>;
  open(folder: string): void;
  reload(): void;
  /** Adds a file, or the folder that leads to it, if this is where it belongs. */
  add(file: ListedFile): void;
  /** After a change: a file that moved away disappears. */
  replace(file: ListedFile): void;
  restore(items: readonly FileItem[]): void;
}

export interface ListingOptions {
  readonly user: BrowsedUser;
  readonly spaceId: string | undefined;
  /** Files that are about to be deleted are left out. */
  readonly isHidden: (fileId: string) => boolean;
  readonly onError: (error: unknown) => void;
}

export function createListing({ isHidden, ...options }: ListingOptions): Listing {
  const folder = signal('');
  const list = createEntryList();
  const pages = createFolderPages({
    ...options,
    onPage({ folders, files }) {
      const shown = files.filter(({ id }) => !isHidden(id));
      list.append([...folders.map(toFolderItem), ...shown.map(toFileItem)]);
    },
  });

  const open = (next: string) =>
    batch(() => {
      folder.value = next;
      list.clear();
      pages.open(next);
    });
  const restore = (items: readonly FileItem[]) =>
    list.insertFiles(items.filter(({ file }) => file.folder === folder.peek()));
  function add(file: ListedFile): void {
    const child = childTowards(folder.peek(), file.folder);
    if (child !== null) list.insertFolder(toFolderItem(child));
    else restore([toFileItem(file)]);
  }

  return {
    ...list,
    ...pages,
    folder,
    open,
    reload: () => open(folder.peek()),
    add,
    replace(file) {
      const at = list.indexOf(file.id);
      if (at >= 0 && file.folder === folder.peek()) return list.replaceAt(at, toFileItem(file));
      list.remove(new Set([file.id]));
      add(file);
    },
    restore,
  };
}
