// Objects as plain files below one folder: private/ab/<key with + for />, public/<key> exactly as an
// operator's web server maps it, tmp/ for what is being written. All three must be on one file system.
// Types and dispositions are not kept here: the file's row knows them and the signed URL carries them.
import { hash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { access, copyFile, link, mkdir, opendir, readdir, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { microBatch } from '../../../kernel/async/micro-batch.ts';
import { joined, lengthOf } from '../../../kernel/bytes.ts';
import { outage, PakhusError } from '../../../kernel/error.ts';
import { type BodyReader, createBodyReader } from '../body-reader.ts';
import { assertKey, assertRange, isKey } from '../object-key.ts';
import type { ObjectInfo, ObjectStore, Zone } from '../object-store.ts';
import { createDiskSpace } from './disk-space.ts';
import { createDownloadSigner } from './disk-url.ts';

export interface DiskStoreOptions {
  readonly root: string;
  readonly signingSecret: Buffer | string;
  /** Where the service serves signed URLs, e.g. '/api/v1/objects'. */
  readonly urlPath: string;
  readonly clock: () => number;
  /** Free space that is left to others; null means 1 GiB, but at most 5 % of the disk. */
  readonly freeBytesMin?: number | null;
}

// Callbacks made promises: half the CPU of FileHandle for a small file, and the wait stays off the event loop.
const openFd = promisify(fs.open);
const writeFd = promisify(fs.write);
const writevFd = promisify(fs.writev);
const fdatasyncFd = promisify(fs.fdatasync);
const fsyncFd = promisify(fs.fsync);
const renamePath = promisify(fs.rename);

const { O_CREAT, O_DIRECTORY, O_DSYNC, O_EXCL, O_RDONLY, O_WRONLY } = fs.constants;
const createFlags = O_WRONLY | O_CREAT | O_EXCL;
/** A body of at most this size is written in one go. */
const pieceBytes = 1 << 19;
/** The free space is looked at once for so much of a stream: little, since every upload may have so much to spare. */
const reservedBytes = 1 << 20;
/** A reader that does not take its bytes holds two reads: the more readers there are, the less each reads at a time. */
const readBytes = { inAll: 32 << 20, most: 256 << 10, least: 16 << 10 };
const knownFoldersMax = 100_000;
const deletesAtOnce = 8;

/** In no key. */
const tempMark = '~';

/** Where an object is to be. */
interface Place {
  readonly key: string;
  readonly path: string;
}

type ReadCallback = (error: Error | null, bytesRead: number, buffer: NodeJS.ArrayBufferView) => void;

/**
 * Makes a disk that fails in the middle of a read an outage as well, with no stream in between; so is a file that
 * ends before `bytes` of it were read: whoever was promised them must not take what follows for the rest.
 */
function faultTellingFs(bytes: number) {
  let missing = bytes;
  const read = (
    fd: number,
    buffer: NodeJS.ArrayBufferView,
    offset: number,
    length: number,
    position: fs.ReadPosition | null,
    done: ReadCallback,
  ) =>
    fs.read(fd, buffer, offset, length, position, (failed, bytesRead) => {
      missing -= bytesRead;
      const error =
        failed ?? (bytesRead === 0 && missing > 0 ? new Error('the file is shorter than it was') : null);
      done(error && outage('storage', 'The object folder failed at get', error), bytesRead, buffer);
    });
  return { open: fs.open, close: fs.close, read };
}

export function createDiskStore(options: DiskStoreOptions): ObjectStore {
  const root = path.resolve(options.root);
  const zones: Record<Zone, string> = {
    private: path.join(root, 'private'),
    public: path.join(root, 'public'),
  };
  const tmp = path.join(root, 'tmp');
  const run = randomBytes(6).toString('hex');
  let serial = 0;
  let layingOut: Promise<void> | undefined;
  let readers = 0;
  // Folders whose own entry is known to have reached the disk. What another process made, or this one
  // before it crashed, is not in here, so that its parents are synced once more.
  const known = new Set<string>();
  const sync = createFolderSync();
  const space = createDiskSpace(root, options.freeBytesMin ?? null);
  const signer = createDownloadSigner(options.signingSecret);

  const shardPath = (shard: string): string => `${zones.private}/${shard}`;

  const pathOf = (zone: Zone, key: string): string => {
    assertKey(key);
    if (zone === 'public') return `${zones.public}/${key}`;
    return `${shardPath(hash('sha256', key).slice(0, 2))}/${key.replaceAll('/', '+')}`;
  };

  const placeOf = (zone: Zone, key: string): Place => ({ key, path: pathOf(zone, key) });

  /** Named after its object: whether an old one is still being written is asked by its key. */
  const tempPath = (key: string): string =>
    `${tmp}/${key.replaceAll('/', '+')}${tempMark}${run}-${(++serial).toString(36)}`;

  /** Once only: a root that vanishes later is an outage, not a new and empty store. */
  function ready(): Promise<void> {
    layingOut ??= layOut().catch((error: unknown) => {
      layingOut = undefined;
      throw error;
    });
    return layingOut;
  }

  async function layOut(): Promise<void> {
    await mkdir(root, { recursive: true, mode: 0o755 });
    for (const [folder, mode] of [
      [zones.private, 0o700],
      [zones.public, 0o755],
      [tmp, 0o700],
    ] as const) {
      await mkdir(folder, { mode }).catch(ignore('EEXIST'));
    }
    // All 256 shards now: a folder made during a put would double what that put costs.
    const shards = Array.from({ length: 256 }, (_, i) => shardPath(i.toString(16).padStart(2, '0')));
    await Promise.all(shards.map((shard) => mkdir(shard, { mode: 0o700 }).catch(ignore('EEXIST'))));
    for (const folder of [zones.private, root, path.dirname(root)]) await syncFolder(folder);
    for (const shard of [...shards, zones.private, zones.public]) known.add(shard);
  }

  /** Moves a finished temporary file to its place, durably. */
  async function settle(temp: string, target: string): Promise<void> {
    const folder = path.dirname(target);
    try {
      await renamePath(temp, target);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      await access(root);
      await mkdir(folder, { recursive: true });
      for (let at = folder; at !== root; at = path.dirname(at)) known.delete(at);
      await renamePath(temp, target);
    }
    await sync(folder);
    if (!known.has(folder)) await syncParents(folder);
  }

  async function syncParents(folder: string): Promise<void> {
    for (let at = folder; at !== root && !known.has(at); at = path.dirname(at)) {
      await syncFolder(path.dirname(at));
    }
    if (known.size >= knownFoldersMax) known.clear();
    for (let at = folder; at !== root; at = path.dirname(at)) known.add(at);
  }

  /** Runs `fill` on a fresh temporary file and settles it; whatever fails, no temporary file stays. */
  async function writeObject(
    { key, path: target }: Place,
    flags: number,
    fill: (fd: number) => Promise<void>,
    signal?: AbortSignal,
  ): Promise<void> {
    await ready();
    const temp = tempPath(key);
    let fd = await openFd(temp, flags, 0o644);
    try {
      await fill(fd);
      const written = fd;
      fd = -1;
      fs.closeSync(written);
      signal?.throwIfAborted();
      await settle(temp, target);
    } catch (error) {
      if (fd >= 0) closeQuietly(fd);
      await unlink(temp).catch(() => undefined);
      throw error;
    }
  }

  async function putStream(target: Place, reader: BodyReader, signal?: AbortSignal): Promise<void> {
    const first = await reader.gather(pieceBytes);
    if (reader.ended) return guard('put', () => putBuffer(target, joined(first), signal));
    let bodyError: { readonly error: unknown } | undefined;
    const fill = async (fd: number) => {
      let reserved = 0;
      for (let piece = first; piece.length > 0; ) {
        if (reserved <= 0) await space.reserve(reservedBytes);
        reserved = (reserved > 0 ? reserved : reservedBytes) - lengthOf(piece);
        await writePieces(fd, piece);
        piece = await reader.gather(pieceBytes).catch((error: unknown) => {
          bodyError = { error };
          throw error;
        });
      }
      await fdatasyncFd(fd);
    };
    return guard(
      'put',
      () => writeObject(target, createFlags, fill, signal),
      () => bodyError !== undefined,
    );
  }

  // O_DSYNC makes the write itself durable: one call less than write and fdatasync.
  function putBuffer(target: Place, body: Buffer, signal?: AbortSignal): Promise<void> {
    const fill = async (fd: number) => {
      await space.reserve(body.length);
      await writeAll(fd, body);
    };
    return writeObject(target, createFlags | O_DSYNC, fill, signal);
  }

  /** What is absent together with the whole folder, as on a disk that is not mounted, is neither gone nor deleted. */
  async function refuseAbsentRoot(): Promise<void> {
    await ready();
    await access(tmp);
  }

  /** Unlinks, and syncs the folder: a public file must not come back after a power cut. */
  async function remove(target: string): Promise<void> {
    try {
      await unlink(target);
    } catch (error) {
      if (!isAbsent(error)) throw error;
      await refuseAbsentRoot();
      return;
    }
    await sync(path.dirname(target));
  }

  async function linkOrCopy(source: string, temp: string): Promise<void> {
    try {
      await link(source, temp);
    } catch (error) {
      if (isAbsent(error)) throw notFound();
      // No hard links here, or too many on this file: a copy takes room, but is as good.
      await space.reserve((await stat(source)).size);
      await copyFile(source, temp, fs.constants.COPYFILE_EXCL);
      const fd = await openFd(temp, O_RDONLY);
      await fsyncFd(fd).finally(() => closeQuietly(fd));
    }
  }

  return {
    kind: 'disk',
    separatesPublic: true,

    async put(zone, key, body, _meta, signal) {
      if (Buffer.isBuffer(body)) {
        const target = placeOf(zone, key);
        signal?.throwIfAborted();
        return guard(
          'put',
          () => putBuffer(target, body, signal),
          () => signal?.aborted === true,
        );
      }
      const reader = createBodyReader(body, signal);
      try {
        return await putStream(placeOf(zone, key), reader, signal);
      } catch (error) {
        signal?.throwIfAborted();
        throw error;
      } finally {
        reader.close();
      }
    },

    get: (zone, key, range, signal) =>
      guard(
        'get',
        async () => {
          signal?.throwIfAborted();
          if (range) assertRange(range);
          const { fd, bytes } = await openObject(pathOf(zone, key), range?.etag);
          readers += 1;
          const stream = fs.createReadStream('', {
            fd,
            fs: faultTellingFs(range ? Math.min(range.end + 1, bytes) - range.start : bytes),
            highWaterMark: Math.max(readBytes.least, Math.min(readBytes.most, readBytes.inAll / readers)) | 0,
            ...(range ? { start: range.start, end: range.end } : {}),
            ...(signal ? { signal } : {}),
          });
          return stream.once('close', () => {
            readers -= 1;
          });
        },
        () => signal?.aborted === true,
      ),

    head: (zone, key) =>
      guard('head', async () => {
        try {
          const stats = await stat(pathOf(zone, key), { bigint: true });
          return stats.isFile() ? infoOf(stats) : null;
        } catch (error) {
          if (!isAbsent(error)) throw error;
          await refuseAbsentRoot();
          return null;
        }
      }),

    delete: (zone, key) => guard('delete', () => remove(pathOf(zone, key))),

    async deleteMany(zone, keys) {
      const targets = keys.map((key) => ({ key, target: pathOf(zone, key) }));
      const failed: string[] = [];
      const work = async () => {
        for (let next = targets.pop(); next; next = targets.pop()) {
          const { key, target } = next;
          await remove(target).catch(() => failed.push(key));
        }
      };
      await Promise.all(Array.from({ length: deletesAtOnce }, work));
      return failed;
    },

    copy: (from, to, key) =>
      guard('copy', async () => {
        await ready();
        const temp = tempPath(key);
        try {
          await linkOrCopy(pathOf(from, key), temp);
          await settle(temp, pathOf(to, key));
        } finally {
          // rename() of two links to one file does nothing at all, so the temporary name may still be there.
          await unlink(temp).catch(() => undefined);
        }
      }),

    downloadUrl(_zone, key, { origin, expiresInSeconds, contentType, contentDisposition }) {
      assertKey(key);
      const expiresAtSeconds = Math.floor(options.clock() / 1000) + expiresInSeconds;
      const query = signer.sign(key, expiresAtSeconds, contentType, contentDisposition);
      return `${origin}${options.urlPath}/${key}?${query}`;
    },

    async *list(zone, prefix = '') {
      const base = zones[zone];
      for await (const file of walk(base)) {
        const relative = path.relative(base, file).split(path.sep);
        const key = zone === 'public' ? relative.join('/') : relative.slice(1).join('/').replaceAll('+', '/');
        if (isKey(key) && key.startsWith(prefix)) yield key;
      }
    },

    sweepUnfinished: (olderThan, isUnderWay) =>
      guard('sweep', async () => {
        let swept = 0;
        for (const name of await readdir(tmp).catch(absentAs<string[]>([]))) {
          const file = path.join(tmp, name);
          // The time of the last change of any kind: a link made for a copy has the mtime of its source.
          const changed = await stat(file).catch(absentAs(null));
          if (!changed || changed.ctimeMs >= olderThan.getTime()) continue;
          const [key = ''] = name.split(tempMark);
          if (await isUnderWay(key.replaceAll('+', '/'))) continue;
          await unlink(file).catch(ignore('ENOENT'));
          swept += 1;
        }
        return swept;
      }),

    async check() {
      try {
        await ready();
        const devices = new Set<number>();
        for (const folder of [tmp, zones.private, zones.public]) {
          await access(folder, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK);
          devices.add((await stat(folder)).dev);
        }
        if (devices.size > 1) throw new Error('tmp, private and public are on different file systems');
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        throw outage('storage', `The object folder ${root} cannot be used: ${why}`, error);
      }
    },

    close: () => Promise.resolve(),
  };
}

/** A fault of the disk becomes an outage; `isCallers` tells what is the caller's own and passes as it is. */
async function guard<T>(what: string, run: () => Promise<T>, isCallers?: () => boolean): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (isCallers?.() || codeOf(error) === undefined || error instanceof PakhusError) throw error;
    throw outage('storage', `The object folder failed at ${what}`, error);
  }
}

async function openObject(target: string, etag?: string): Promise<{ fd: number; bytes: number }> {
  try {
    const fd = await openFd(target, O_RDONLY);
    const stats = fs.fstatSync(fd, { bigint: true });
    if (stats.isFile() && (etag === undefined || etagOf(stats) === etag))
      return { fd, bytes: Number(stats.size) };
    closeQuietly(fd);
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
  throw notFound();
}

async function writeAll(fd: number, body: Buffer): Promise<void> {
  // Without a write O_DSYNC does nothing: an empty file is synced by hand.
  if (body.length === 0) await fdatasyncFd(fd);
  for (let at = 0; at < body.length; ) {
    at += (await writeFd(fd, body, at, body.length - at, null)).bytesWritten;
  }
}

async function writePieces(fd: number, pieces: Buffer[]): Promise<void> {
  const total = lengthOf(pieces);
  const { bytesWritten } = await writevFd(fd, pieces);
  // The kernel may take less than it was given; the rest is rare enough to be copied.
  if (bytesWritten < total) await writeAll(fd, Buffer.concat(pieces).subarray(bytesWritten));
}

// Opening is synchronous: the folder was in use a moment ago, so this touches no disk, and it saves two waits.
async function syncFolder(folder: string): Promise<void> {
  const fd = fs.openSync(folder, O_RDONLY | O_DIRECTORY);
  try {
    await fsyncFd(fd);
  } finally {
    closeQuietly(fd);
  }
}

/** Callers that wait for the same folder share a sync, but not one that began before their change. */
function createFolderSync(): (folder: string) => Promise<void> {
  const sync = microBatch<null, void, string>(
    async (changes, folder) => {
      await syncFolder(folder);
      return changes.map(() => undefined);
    },
    { gather: 'previous' },
  );
  return (folder) => sync(null, folder);
}

function closeQuietly(fd: number): void {
  try {
    fs.closeSync(fd);
  } catch {
    // What matters was synced before; a failing close loses nothing.
  }
}

async function* walk(folder: string): AsyncGenerator<string> {
  const entries = await opendir(folder).catch(absentAs(null));
  if (!entries) return;
  for await (const entry of entries) {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(full);
    else if (entry.isFile()) yield full;
  }
}

const etagOf = (stats: fs.BigIntStats): string =>
  `"${stats.ino.toString(36)}-${stats.size.toString(36)}-${stats.mtimeNs.toString(36)}"`;

function infoOf(stats: fs.BigIntStats): ObjectInfo {
  return {
    bytes: Number(stats.size),
    etag: etagOf(stats),
    contentType: 'application/octet-stream',
    contentDisposition: 'attachment',
    modifiedAt: new Date(Number(stats.mtimeMs)),
  };
}

function notFound(): PakhusError {
  return new PakhusError('NOT_FOUND', 'There is no such object');
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

function isAbsent(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function ignore(code: string): (error: unknown) => void {
  return (error) => {
    if (codeOf(error) !== code) throw error;
  };
}

function absentAs<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (isAbsent(error)) return value;
    throw error;
  };
}
