// Downloads one file: into NAME.pakhus-part, which a later run continues, then checked, synced and renamed.
import { createHash, type Hash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { PakhusError, type ResumeStore } from '@pakhus/client/node';
import { CommandError } from '../frame/failure.ts';
import { partSuffix } from './names.ts';
import type { Holder } from './place.ts';
import type { RemoteFile } from './remote.ts';

export interface ReceiveOptions {
  readonly store: ResumeStore;
  readonly signal: AbortSignal;
  readonly onBytes: (loaded: number) => void;
  /** Symbolic links to folders on the way are refused otherwise. */
  readonly follow: boolean;
}

/** What a part holds the beginning of. */
interface Begun {
  readonly id: string;
  readonly etag: string;
}

const retriesMax = 5;
const firstPauseMs = 500;
/** A smaller file starts anew sooner than its state is written. */
const resumableBytesMin = 1 << 20;
const isResumable = ({ size }: RemoteFile): boolean => size >= resumableBytesMin;

/** `root` is the folder that must not be left. */
export async function receiveFile(
  holder: Holder,
  file: RemoteFile,
  root: string,
  relativePath: string,
  options: ReceiveOptions,
): Promise<string> {
  const path = join(root, relativePath);
  await makeFolders(root, dirname(relativePath), options.follow);
  await refuseOccupied(path);
  const part = partPath(path);
  const continued = await download(holder, file, part, options);
  const isWhole = (facts: Received) =>
    facts.size === file.size && (file.sha256 === null || facts.sha256 === file.sha256);
  // A part that somebody changed meanwhile is no reason to give up.
  const received = isWhole(continued) || !continued.isContinued ? continued : await restart();
  if (!isWhole(received)) {
    await forget();
    throw new CommandError(
      'failed',
      'The download does not have the size and sha256 of the file: get it again',
    );
  }
  await rename(part, path);
  if (isResumable(file)) await options.store.delete(part);
  return path;

  async function restart(): Promise<Received> {
    await forget();
    return download(holder, file, part, options);
  }
  async function forget(): Promise<void> {
    await options.store.delete(part);
    await rm(part, { force: true });
  }
}

/** Names are cut by bytes of UTF-8, never inside of a character. */
export function partPath(path: string): string {
  const name = basename(path);
  const fits = Buffer.byteLength(name) + partSuffix.length <= 255;
  const short = fits ? name : createHash('sha256').update(name).digest('hex');
  return join(dirname(path), `${short}${partSuffix}`);
}

/** One by one, because a symbolic link could lead outside of the root. */
async function makeFolders(root: string, relativeFolder: string, follow: boolean): Promise<void> {
  if (relativeFolder === '.' || relativeFolder === '') return;
  let path = root;
  for (const name of relativeFolder.split('/')) {
    path = join(path, name);
    await mkdir(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    const facts = await lstat(path);
    if (facts.isSymbolicLink() && !follow)
      throw new CommandError('failed', `${path} is a symbolic link: --follow writes to where it points`);
    if (!facts.isDirectory() && !facts.isSymbolicLink())
      throw new CommandError('failed', `${path} is a file, but a folder is needed there: move it away`);
  }
}

export async function refuseOccupied(path: string): Promise<void> {
  const facts = await lstat(path).catch(() => null);
  if (facts === null || facts.isFile()) return;
  const what = facts.isDirectory() ? 'a folder' : facts.isSymbolicLink() ? 'a symbolic link' : 'no file';
  throw new CommandError('failed', `${path} is ${what}: move it away`);
}

interface Received {
  readonly size: number;
  readonly sha256: string;
  /** Some of it was there before. */
  readonly isContinued: boolean;
}

async function download(
  holder: Holder,
  file: RemoteFile,
  part: string,
  options: ReceiveOptions,
): Promise<Received> {
  const begun = isResumable(file) ? await readBegun(options.store, part, file.id) : null;
  const flags = constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
  const handle = await open(part, flags | (begun === null ? constants.O_TRUNC : 0), 0o666);
  try {
    const state = await hashPart(part, handle, file.size);
    const isContinued = state.size > 0;
    await retrying(options.signal, state, () => readOn(holder, file, part, handle, state, options));
    if (file.mtimeMs !== null) await handle.utimes(new Date(), new Date(file.mtimeMs));
    await handle.sync();
    return { size: state.size, sha256: state.hash.digest('hex'), isContinued };
  } finally {
    await handle.close();
  }
}

async function readBegun(store: ResumeStore, part: string, id: string): Promise<Begun | null> {
  try {
    const begun = JSON.parse((await store.get(part)) ?? 'null') as Begun | null;
    return begun?.id === id ? begun : null;
  } catch {
    return null;
  }
}

interface PartState {
  size: number;
  hash: Hash;
}

async function hashPart(part: string, handle: FileHandle, sizeMax: number): Promise<PartState> {
  const { size } = await handle.stat();
  if (size > sizeMax) await handle.truncate(0);
  const state = { size: size > sizeMax ? 0 : size, hash: createHash('sha256') };
  if (state.size > 0) for await (const chunk of createReadStream(part)) state.hash.update(chunk);
  return state;
}

async function readOn(
  { user }: Holder,
  file: RemoteFile,
  part: string,
  handle: FileHandle,
  state: PartState,
  { store, signal, onBytes }: ReceiveOptions,
): Promise<void> {
  if (state.size > 0 && state.size === file.size) return onBytes(state.size);
  const begun = state.size > 0 ? await readBegun(store, part, file.id) : null;
  const response = await user.files.download(file.id, {
    signal,
    ...(begun && { range: [state.size] as const, ifRange: begun.etag }),
  });
  const etag = response.headers.get('etag');
  if (response.status !== 206) {
    await handle.truncate(0);
    state.size = 0;
    state.hash = createHash('sha256');
    if (isResumable(file) && etag !== null && !etag.startsWith('W/'))
      await store.set(part, JSON.stringify({ id: file.id, etag }));
  }
  for await (const chunk of response.body ?? []) {
    await handle.write(chunk, 0, chunk.byteLength, state.size);
    state.hash.update(chunk);
    state.size += chunk.byteLength;
    onBytes(state.size);
    if (state.size > file.size) break;
  }
  if (state.size < file.size) throw new PakhusError('NETWORK_ERROR', 'The connection was closed too early');
}

/** Counts anew whenever some bytes came through. */
export async function retrying(
  signal: AbortSignal,
  state: { readonly size: number },
  work: () => Promise<void>,
): Promise<void> {
  let failures = 0;
  for (let before = state.size; ; before = state.size) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (state.size > before) failures = 0;
      if (failures >= retriesMax || !isTransient(error)) throw error;
      failures += 1;
      await delay(firstPauseMs * 2 ** failures * (0.5 + Math.random() / 2), undefined, { signal });
    }
  }
}

/** A body that breaks off throws errors of fetch, which have no status. */
function isTransient(error: unknown): boolean {
  if (error instanceof PakhusError)
    return error.code === 'NETWORK_ERROR' || [429, 500, 502, 503, 504].includes(error.status);
  return error instanceof TypeError;
}
