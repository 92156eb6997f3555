// The loaded entries of a folder: one array that changes in place, so that a page costs the same however long the list is.
import { type ReadonlySignal, signal } from '@preact/signals';
import { compareFiles, type Entry, type FileItem, type FolderItem, findPlace } from './entries.ts';

export interface EntryList {
  /** Changes whenever `entries` does. */
  readonly version: ReadonlySignal<number>;
  readonly entries: readonly Entry[];
  get(key: string): Entry | undefined;
  /** -1 if it is not loaded. `guess` is tried first. */
  indexOf(key: string, guess?: number): number;
  clear(): void;
  /** In the order given; known ones are left out. */
  append(added: readonly Entry[]): void;
  /** Where they belong; known ones are left out. */
  insertFiles(items: readonly FileItem[]): void;
  insertFolder(item: FolderItem): void;
  replaceAt(index: number, item: FileItem): void;
  remove(keys: ReadonlySet<string>): FileItem[];
}

export function createEntryList(): EntryList {
  const version = signal(0);
  const entries: Entry[] = [];
  const known = new Map<string, Entry>();
  const changed = () => {
    version.value += 1;
  };
  const push = (added: readonly Entry[]) => {
    // One by one: a call has a limit of arguments.
    for (const entry of added) entries.push(entry);
    changed();
  };
  const setAll = (next: readonly Entry[]) => {
    entries.length = 0;
    push(next);
  };
  const insertAt = (index: number, item: Entry) => {
    entries.splice(index, 0, item);
    changed();
  };
  /** Remembers those that are new, and returns them. */
  const learn = <Item extends Entry>(items: readonly Item[]): Item[] =>
    items.filter((item) => !known.has(item.key) && known.set(item.key, item));

  return {
    version,
    entries,
    get: (key) => known.get(key),
    indexOf: (key, guess = -1) =>
      entries[guess]?.key === key ? guess : entries.findIndex((entry) => entry.key === key),
    clear() {
      known.clear();
      setAll([]);
    },
    append: (added) => push(learn(added)),
    insertFiles(items) {
      const fresh = learn(items);
      const [first] = fresh;
      if (!first) return;
      if (fresh.length === 1) return insertAt(findPlace(entries, first), first);
      const files = [...entries.filter((entry) => entry.kind === 'file'), ...fresh].sort(compareFiles);
      setAll([...entries.filter((entry) => entry.kind === 'folder'), ...files]);
    },
    insertFolder(item) {
      if (learn([item]).length === 0) return;
      const at = entries.findIndex((entry) => entry.kind === 'file' || entry.name > item.name);
      insertAt(at === -1 ? entries.length : at, item);
    },
    replaceAt(index, item) {
      entries[index] = item;
      known.set(item.key, item);
      changed();
    },
    remove(keys) {
      const removed = entries.filter(
        (entry): entry is FileItem => entry.kind === 'file' && keys.has(entry.key),
      );
      if (removed.length === 0) return removed;
      for (const { key } of removed) known.delete(key);
      setAll(entries.filter(({ key }) => known.has(key)));
      return removed;
    },
  };
}
