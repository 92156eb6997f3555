// Walks two trees side by side, folder by folder, in the order of names. Neither tree is ever in memory as a whole.
import { createSorter, type Sorter } from './sorted.ts';

export interface Named {
  readonly name: string;
}

/** Folders and files of one level come in any order. Both must survive JSON. */
export interface Tree<Folder extends Named, File extends Named> {
  list(folder: Folder): AsyncIterable<TreeEntry<Folder, File>>;
  /** For files of the same name: the one that counts comes first. */
  compareEqual?(one: File, other: File): number;
}

export type TreeEntry<Folder, File> = { readonly folder: Folder } | { readonly file: File };

/** All files of one name in one folder, on both sides. */
export interface Pair<Left, Right> {
  /** The folder, relative to where the walk began. */
  readonly at: string;
  readonly name: string;
  readonly left: readonly Left[];
  readonly right: readonly Right[];
}

export interface FolderPair {
  readonly at: string;
  readonly name: string;
  readonly hasLeft: boolean;
  readonly hasRight: boolean;
}

export interface WalkOptions {
  /** Names with the same key are the same file. By default the name itself. */
  readonly keyOf?: (name: string) => string;
  /** False skips a folder with everything in it. */
  readonly enter?: (folder: FolderPair) => boolean;
  readonly itemsMax?: number;
}

/** Goes on listing while the caller works on what was listed. */
export async function* readAhead<Item>(items: AsyncGenerator<Item>, itemsMax = 100): AsyncGenerator<Item> {
  const waiting: Promise<IteratorResult<Item>>[] = [];
  try {
    for (;;) {
      while (waiting.length < itemsMax) {
        const next = items.next();
        // Reported when its turn comes.
        next.catch(() => undefined);
        waiting.push(next);
      }
      const result = await waiting.shift();
      if (result === undefined || result.done) return;
      yield result.value;
    }
  } finally {
    await items.return(undefined);
  }
}

interface Side<Folder extends Named, File extends Named> {
  readonly tree: Tree<Folder, File>;
  /** Null if this side does not have the folder. */
  readonly folder: Folder | null;
}

export async function* walkPairs<
  LeftFolder extends Named,
  Left extends Named,
  RightFolder extends Named,
  Right extends Named,
>(
  left: Side<LeftFolder, Left>,
  right: Side<RightFolder, Right>,
  options: WalkOptions = {},
  at = '',
): AsyncGenerator<Pair<Left, Right>> {
  const levels = await Promise.all([readLevel(left, options), readLevel(right, options)]);
  const [leftLevel, rightLevel] = levels;
  try {
    const files = mergeGroups(leftLevel.files.drain(), rightLevel.files.drain(), options.keyOf);
    for await (const group of files) yield { at, ...group };
    const folders = mergeGroups(leftLevel.folders.drain(), rightLevel.folders.drain(), options.keyOf);
    for await (const { name, left: leftFolders, right: rightFolders } of folders) {
      const pair = { at, name, hasLeft: leftFolders.length > 0, hasRight: rightFolders.length > 0 };
      if (options.enter?.(pair) === false) continue;
      yield* walkPairs(
        { tree: left.tree, folder: leftFolders[0] ?? null },
        { tree: right.tree, folder: rightFolders[0] ?? null },
        options,
        at === '' ? name : `${at}/${name}`,
      );
    }
  } finally {
    for (const { files, folders } of levels) await Promise.all([files.discard(), folders.discard()]);
  }
}

export interface Level<Folder, File> {
  readonly folders: Sorter<Folder>;
  readonly files: Sorter<File>;
}

export async function readLevel<Folder extends Named, File extends Named>(
  { tree, folder }: Side<Folder, File>,
  { keyOf = asItIs, itemsMax }: WalkOptions = {},
): Promise<Level<Folder, File>> {
  const byName = (one: Named, other: Named) =>
    compareText(keyOf(one.name), keyOf(other.name)) || compareText(one.name, other.name);
  const folders = createSorter<Folder>(byName, itemsMax);
  const files = createSorter<File>(
    // The key first and alone: of names that a disk cannot tell apart, the one that counts comes first as well.
    (one, other) =>
      compareText(keyOf(one.name), keyOf(other.name)) ||
      (tree.compareEqual?.(one, other) ?? byName(one, other)),
    itemsMax,
  );
  try {
    if (folder !== null)
      for await (const entry of tree.list(folder))
        await ('folder' in entry ? folders.add(entry.folder) : files.add(entry.file));
  } catch (error) {
    await Promise.all([folders.discard(), files.discard()]);
    throw error;
  }
  return { folders, files };
}

const asItIs = (name: string): string => name;

/** By code units, the same on every machine. */
export const compareText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

export interface Group<Left, Right> {
  readonly name: string;
  readonly left: readonly Left[];
  readonly right: readonly Right[];
}

/** Both sides must be sorted by key. */
export async function* mergeGroups<Left extends Named, Right extends Named>(
  left: AsyncIterable<Left>,
  right: AsyncIterable<Right>,
  keyOf: (name: string) => string = asItIs,
): AsyncGenerator<Group<Left, Right>> {
  const [leftGroups, rightGroups] = [groupByKey(left, keyOf), groupByKey(right, keyOf)];
  try {
    let [one, other] = await Promise.all([leftGroups.next(), rightGroups.next()]);
    while (!one.done || !other.done) {
      const order = one.done ? 1 : other.done ? -1 : compareText(one.value.key, other.value.key);
      const taken = order <= 0 && !one.done ? one.value.items : [];
      const matched = order >= 0 && !other.done ? other.value.items : [];
      yield { name: taken[0]?.name ?? matched[0]?.name ?? '', left: taken, right: matched };
      if (taken.length > 0) one = await leftGroups.next();
      if (matched.length > 0) other = await rightGroups.next();
    }
  } finally {
    await Promise.all([leftGroups.return(undefined), rightGroups.return(undefined)]);
  }
}

interface Keyed<Item> {
  readonly key: string;
  readonly items: readonly Item[];
}

/** How many of one key are kept: a folder may hold any number of files of one name. */
const groupItemsMax = 1000;

async function* groupByKey<Item extends Named>(
  items: AsyncIterable<Item>,
  keyOf: (name: string) => string,
): AsyncGenerator<Keyed<Item>, undefined> {
  let group: Keyed<Item> & { items: Item[] } = { key: '', items: [] };
  for await (const item of items) {
    const key = keyOf(item.name);
    if (group.items.length > 0 && group.key !== key) {
      yield group;
      group = { key, items: [] };
    }
    if (group.items.length === 0) group = { key, items: [] };
    if (group.items.length < groupItemsMax) group.items.push(item);
  }
  if (group.items.length > 0) yield group;
}
