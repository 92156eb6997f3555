// The entries of a list and their order: folders by name, then files, newest first, as the server sends them.
import type { ListedFile } from '@pakhus/client';

export interface FolderItem {
  readonly kind: 'folder';
  readonly key: string;
  readonly name: string;
}

export interface FileItem {
  readonly kind: 'file';
  /** The id of the file. */
  readonly key: string;
  readonly file: ListedFile;
}

export type Entry = FolderItem | FileItem;

/** No id of a file has a colon. */
export const toFolderItem = (name: string): FolderItem => ({ kind: 'folder', key: `folder:${name}`, name });

export const toFileItem = (file: ListedFile): FileItem => ({ kind: 'file', key: file.id, file });

/** Newest first, like the server. */
export function compareFiles(one: FileItem, other: FileItem): number {
  const a = one.file;
  const b = other.file;
  if (a.created_at !== b.created_at) return a.created_at < b.created_at ? 1 : -1;
  if (a.id === b.id) return 0;
  return a.id < b.id ? 1 : -1;
}

/** Where a file belongs among sorted entries. Folders stay before it. */
export function findPlace(entries: readonly Entry[], item: FileItem): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const entry = entries[middle];
    if (entry?.kind === 'folder' || (entry && compareFiles(entry, item) < 0)) low = middle + 1;
    else high = middle;
  }
  return low;
}

export const fileOf = (entry: Entry | undefined): ListedFile | null =>
  entry?.kind === 'file' ? entry.file : null;
