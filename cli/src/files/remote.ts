// The remote side: a user's files as a tree of folders.
import { type ListedFile, PakhusError } from '@pakhus/client/node';
import { CommandError } from '../frame/failure.ts';
import { findMatches, isPattern, splitPattern, unescapePattern } from './glob.ts';
import { describePlace, type Holder, joinPath, type RemotePlace, splitPath } from './place.ts';
import { compareText, type Tree, type TreeEntry } from './walk.ts';

/** What commands need to know of a file; small, because there may be very many. */
export interface RemoteFile {
  readonly name: string;
  readonly id: string;
  readonly folder: string;
  /** Of a download. */
  readonly size: number;
  /** Of a download; null if the service does not know it. */
  readonly sha256: string | null;
  /** When the local file was changed that it was uploaded from; null if nobody said. */
  readonly mtimeMs: number | null;
  readonly createdAt: string;
  readonly visibility: string;
  readonly type: string;
  /** The version that this one was uploaded to replace. */
  readonly replaces: string | null;
}

export interface RemoteFolder {
  readonly name: string;
  /** From the root. */
  readonly path: string;
}

export type RemoteTree = Tree<RemoteFolder, RemoteFile>;
export type RemoteEntry = TreeEntry<RemoteFolder, RemoteFile>;

const pageSize = 100;

export const toFolder = (path: string): RemoteFolder => ({ name: splitPath(path).name, path });

export const createRemoteTree = ({ user, spaceId }: Holder, signal: AbortSignal): RemoteTree => ({
  async *list({ path }) {
    const query = { prefix: path, limit: pageSize, ...(spaceId !== undefined && { space_id: spaceId }) };
    for await (const entry of user.files.folders(query, { signal }))
      yield 'folder' in entry
        ? { folder: { name: entry.folder, path: joinPath(path, entry.folder) } }
        : { file: toRemoteFile(entry.file) };
  },
  // The newest counts, as the service lists them.
  compareEqual: (one, other) => compareText(other.createdAt, one.createdAt) || compareText(other.id, one.id),
});

export function toRemoteFile(file: ListedFile): RemoteFile {
  const { id, name, folder, metadata, created_at, visibility } = file;
  const { mtime, replaces } = metadata as { mtime?: unknown; replaces?: unknown };
  const content = describeContent(file);
  const mtimeMs = typeof mtime === 'string' ? Date.parse(mtime) : Number.NaN;
  return {
    id,
    name,
    folder,
    ...content,
    mtimeMs: Number.isNaN(mtimeMs) ? null : mtimeMs,
    createdAt: created_at,
    visibility,
    replaces: typeof replaces === 'string' ? replaces : null,
  };
}

/** `size` and `sha256` are of the upload; a compressed image is delivered instead of it. */
function describeContent({ size, sha256, mimeType, compression }: ListedFile) {
  if (compression?.status !== 'done') return { size, sha256, type: mimeType };
  return {
    size: compression.compressed_size ?? size,
    sha256: null,
    type: `image/${compression.format ?? 'jpeg'}`,
  };
}

/** A person's place, or several if it has a pattern. */
export async function* findRemote(
  holder: Holder,
  place: RemotePlace,
  signal: AbortSignal,
): AsyncGenerator<RemoteEntry> {
  if (place.fileId !== undefined) {
    yield { file: toRemoteFile(await holder.user.files.get(place.fileId, { signal })) };
    return;
  }
  const tree = createRemoteTree(holder, signal);
  if (!isPattern(place.path)) {
    yield await findOne(holder, { ...place, path: unescapePattern(place.path) }, tree, signal);
    return;
  }
  const { base, segments } = splitPattern(place.path);
  let count = 0;
  const seen = new Set<string>();
  for await (const match of findMatches(tree, toFolder(base), segments)) {
    if ('file' in match) {
      if (place.isFolder) continue;
      // Newest first: the others of the same name are not meant.
      const path = joinPath(match.file.folder, match.file.name);
      if (seen.has(path)) continue;
      seen.add(path);
    }
    count += 1;
    yield match;
  }
  if (count === 0) throw notFound(place);
}

/** The newest file of this path, else the folder. */
async function findOne(
  holder: Holder,
  place: RemotePlace,
  tree: RemoteTree,
  signal: AbortSignal,
): Promise<RemoteEntry> {
  if (place.path === '') return { folder: { name: '', path: '' } };
  if (!place.isFolder) {
    const file = await findFile(holder, place.path, signal);
    if (file !== null) return { file };
  }
  for await (const _ of tree.list(toFolder(place.path)))
    return { folder: { path: place.path, name: place.isFolder ? '' : splitPath(place.path).name } };
  throw notFound(place);
}

const notFound = (place: RemotePlace) =>
  new CommandError(
    'notFound',
    `There is nothing at ${describePlace(place)}: pakhus ls ${place.prefix}${splitPath(place.path).folder} shows what is there`,
  );

/** The newest file of this path. */
export async function findFile(
  { user, spaceId }: Holder,
  path: string,
  signal: AbortSignal,
): Promise<RemoteFile | null> {
  const { folder, name } = splitPath(path);
  const query = { folder, limit: pageSize, ...(spaceId !== undefined && { space_id: spaceId }) };
  for await (const file of user.files.list(query, { signal }))
    if (file.name === name) return toRemoteFile(file);
  return null;
}

/** Exactly one file. */
export async function findSingleFile(
  holder: Holder,
  place: RemotePlace,
  signal: AbortSignal,
): Promise<RemoteFile> {
  for await (const entry of findRemote(holder, place, signal)) {
    if ('file' in entry) return entry.file;
    throw new CommandError('misused', `${describePlace(place)} is a folder: name a file in it`);
  }
  throw notFound(place);
}

export const isForbidden = (error: unknown): boolean => error instanceof PakhusError && error.status === 403;
