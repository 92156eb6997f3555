// Writes a body piece by piece, and copies files the same way. What is hashed is written by the thread of the hash.
import type { StreamHash } from '../../hashing/stream-hash.ts';
import { type BodyReader, createBodyReader } from '../body-reader.ts';
import type { Body } from '../object-store.ts';
import { PushedBody } from '../pushed-body.ts';
import { readFd, writeAll } from './disk-files.ts';
import { type DiskSlabs, writeThroughSlabs } from './disk-slabs.ts';
import type { DiskSpace } from './disk-space.ts';

export type WritePiece = (piece: Buffer) => Promise<void>;

/** Also reads a Buffer, which so reaches the hash in shared memory. */
export function createPieceReader(body: Body, signal?: AbortSignal): BodyReader {
  if (!Buffer.isBuffer(body)) return createBodyReader(body, signal);
  const pushed = new PushedBody(() => undefined);
  pushed.push(body);
  pushed.end();
  return createBodyReader(pushed, signal);
}

/**
 * Writes pieces one behind the other, from position `at` on. The next one may come before the last has been written. See
 * docs/adr/0017-hash-threads.md for why the thread of the hash writes them.
 */
export function createPieceWriter(fd: number, space: DiskSpace, at = 0, hash?: StreamHash): WritePiece {
  let end = at;
  let reserved = Promise.resolve();
  return async (piece) => {
    const place = { fd, at: end };
    end += piece.length;
    // One after the other, because the hash takes the pieces in the order in which it gets them.
    reserved = reserved.then(() => space.reserve(piece.length));
    await reserved;
    await (hash ? hash.update(piece, place) : writeAll(fd, piece, place.at));
  };
}

/** Passes the first `bytes` of an open file to `write`. Rejects with `whenShort` if there are fewer. */
export async function copyPieces(
  slabs: DiskSlabs,
  fd: number,
  bytes: number,
  write: WritePiece,
  whenShort: () => Error,
): Promise<void> {
  const reader = new OpenFileReader(fd, bytes, whenShort);
  const slab = slabs.take();
  try {
    await writeThroughSlabs(slabs, reader, slab, await reader.fill(slab), write);
  } finally {
    slabs.giveBack(slab);
  }
}

class OpenFileReader implements BodyReader {
  readonly #fd: number;
  readonly #bytes: number;
  readonly #whenShort: () => Error;
  #at = 0;

  constructor(fd: number, bytes: number, whenShort: () => Error) {
    this.#fd = fd;
    this.#bytes = bytes;
    this.#whenShort = whenShort;
  }

  get ended(): boolean {
    return this.#at === this.#bytes;
  }

  async fill(target: Buffer): Promise<Buffer> {
    const wanted = Math.min(target.length, this.#bytes - this.#at);
    for (let filled = 0; filled < wanted; ) {
      const { bytesRead } = await readFd(this.#fd, target, filled, wanted - filled, this.#at);
      if (bytesRead === 0) throw this.#whenShort();
      filled += bytesRead;
      this.#at += bytesRead;
    }
    return target.subarray(0, wanted);
  }

  /** The file belongs to the caller. */
  close(): void {}
}
