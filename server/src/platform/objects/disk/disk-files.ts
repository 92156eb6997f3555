// File operations of the disk store: durable writes, checked reads, walks. Knows no zones and no keys.
import fs from 'node:fs';
import { opendir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { microBatch } from '../../../kernel/async/micro-batch.ts';
import { writeBytesMax } from '../../hashing/file-place.ts';
import type { ObjectInfo } from '../object-store.ts';
import { absentAs, diskOutage, isAbsent, noSuchObject } from './disk-errors.ts';

// Promisified callbacks: half the CPU of FileHandle for a small file.
export const openFd = promisify(fs.open);
export const fdatasyncFd = promisify(fs.fdatasync);
export const fsyncFd = promisify(fs.fsync);
export const renamePath = promisify(fs.rename);
export const ftruncateFd = promisify(fs.ftruncate);
export const readFd = promisify(fs.read);
const writeFd = promisify(fs.write);

const { O_DIRECTORY, O_RDONLY } = fs.constants;

interface OpenFile {
  readonly fd: number;
  readonly bytes: number;
  readonly etag: string;
}

export async function openForRead(target: string, wanted?: string): Promise<OpenFile> {
  try {
    const fd = await openFd(target, O_RDONLY);
    const stats = fs.fstatSync(fd, { bigint: true });
    const etag = toEtag(stats);
    if (stats.isFile() && (wanted === undefined || etag === wanted))
      return { fd, bytes: Number(stats.size), etag };
    closeQuietly(fd);
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
  throw noSuchObject();
}

type ReadCallback = (error: Error | null, bytesRead: number, buffer: NodeJS.ArrayBufferView) => void;

/**
 * The `fs` of a read stream that reports a failing disk as an outage. A file that ends before `bytes` were read is one
 * as well: a client that was promised them must not mistake what follows on the connection for the rest.
 */
export function readFaultsAsOutages(bytes: number) {
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
      done(error && diskOutage('get', error), bytesRead, buffer);
    });
  return { open: fs.open, close: fs.close, read };
}

/** Without a position: behind what was written last, and in one piece, because with O_DSYNC each of them waits for the disk. */
export async function writeAll(fd: number, body: Buffer, position: number | null = null): Promise<void> {
  // O_DSYNC does nothing without a write: an empty file needs an explicit sync.
  if (body.length === 0) await fdatasyncFd(fd);
  for (let at = 0; at < body.length; ) {
    const to = position === null ? null : position + at;
    const bytes = position === null ? body.length - at : Math.min(body.length - at, writeBytesMax);
    at += (await writeFd(fd, body, at, bytes, to)).bytesWritten;
  }
}

// The open is synchronous: the folder was in use just now, so it touches no disk and saves two waits.
export async function syncFolder(folder: string): Promise<void> {
  const fd = fs.openSync(folder, O_RDONLY | O_DIRECTORY);
  try {
    await fsyncFd(fd);
  } finally {
    closeQuietly(fd);
  }
}

/** Callers that wait for the same folder share a sync, but never one that began before their change. */
export function createFolderSync(): (folder: string) => Promise<void> {
  const sync = microBatch<null, void, string>(
    async (changes, folder) => {
      await syncFolder(folder);
      return changes.map(() => undefined);
    },
    { gather: 'previous' },
  );
  return (folder) => sync(null, folder);
}

export function closeQuietly(fd: number): void {
  try {
    fs.closeSync(fd);
  } catch {
    // The data was synced before, so a failing close loses nothing.
  }
}

export async function* walk(folder: string): AsyncGenerator<string> {
  const entries = await opendir(folder).catch(absentAs(null));
  if (!entries) return;
  for await (const entry of entries) {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(full);
    else if (entry.isFile()) yield full;
  }
}

const toEtag = (stats: fs.BigIntStats): string =>
  `"${stats.ino.toString(36)}-${stats.size.toString(36)}-${stats.mtimeNs.toString(36)}"`;

export function toObjectInfo(stats: fs.BigIntStats): ObjectInfo {
  return {
    bytes: Number(stats.size),
    etag: toEtag(stats),
    contentType: 'application/octet-stream',
    contentDisposition: 'attachment',
    modifiedAt: new Date(Number(stats.mtimeMs)),
  };
}
