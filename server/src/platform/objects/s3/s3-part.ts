// Reads a body part by part into shared memory, and hashes each part while it is read.
import { createHash } from 'node:crypto';
import { allEnded } from '../../../kernel/async/settled.ts';
import { outage } from '../../../kernel/error.ts';
import type { Hashing, StreamHash } from '../../hashing/stream-hash.ts';
import { sharedBuffer } from '../../heap.ts';
import type { BodyReader } from '../body-reader.ts';
import type { PartMemory } from './part-memory.ts';

export interface PartTools {
  readonly memory: PartMemory;
  readonly hashing: Hashing;
}

/** A body that is sent in parts. */
export interface PartStream {
  /** Of the object. */
  readonly key: string;
  readonly reader: BodyReader;
  readonly signal: AbortSignal | undefined;
  /** Gets every byte of the body. */
  readonly hash: StreamHash | undefined;
}

/** Bytes that were stored earlier and begin the next part. */
export interface PartPrefix {
  readonly bytes: number;
  /** Called at most once, and only if the body has bytes to put behind them. */
  readonly open: () => Promise<BodyReader>;
}

export interface PartRoom {
  /** The length of the part, its prefix included, unless the body ends before. */
  readonly bytes: number;
  /** What the body may still hold. */
  readonly bytesLeft: number;
  readonly prefix?: PartPrefix | undefined;
}

export type SendPart = (body: readonly Buffer[], digest: Buffer) => Promise<void>;

/** This much of each part is in the stream's own memory: a shorter body takes nothing from the shared memory. */
const startBytes = 64 << 10;

export class PartReader {
  readonly #tools: PartTools;
  readonly #stream: PartStream;
  readonly #start = sharedBuffer(startBytes);

  constructor(tools: PartTools, stream: PartStream) {
    this.#tools = tools;
    this.#stream = stream;
  }

  /**
   * Reads the next part and passes it to `send` with its digest. Memory is taken for one part at a time, for no more
   * than can come, and only after the first bytes are here: so all uploads make progress, however many share it.
   * If the body holds nothing more, `send` gets no bytes and the prefix is not read.
   */
  async next({ bytes, bytesLeft, prefix }: PartRoom, send: SendPart): Promise<void> {
    const { reader, hash } = this.#stream;
    const stored = prefix?.bytes ?? 0;
    const start = await reader.fill(this.#start.subarray(0, bytes - stored));
    if (reader.ended && (!prefix || start.length === 0))
      return allEnded([send([start], md5(start)), ...(hash ? [hash.update(start)] : [])]);
    const room = Math.min(bytes - stored, bytesLeft) - start.length;
    if (room < 0) throw new Error('A body is longer than it was said to be');
    await this.#withMemory(stored + room, async (slabs, digest) => {
      const body = prefix ? await readPrefix(prefix, slabs, digest) : [];
      body.push(start);
      digest.update(start);
      for (const target of cutOut(slabs, stored, room)) {
        const filled = await reader.fill(target);
        if (filled.length === 0) break;
        digest.update(filled);
        body.push(filled);
      }
      await send(body, await digest.finish());
      await digest.pending();
    });
  }

  async #withMemory(
    bytes: number,
    work: (slabs: readonly Buffer[], digest: PartDigest) => Promise<void>,
  ): Promise<void> {
    const { key, signal, hash } = this.#stream;
    const { slabs, giveBack } = await this.#tools.memory.take(projectIn(key), bytes, signal);
    const digest = new PartDigest(this.#tools.hashing.open('md5'), hash);
    try {
      await work(slabs, digest);
    } finally {
      await digest.close();
      giveBack();
    }
  }
}

async function readPrefix(
  prefix: PartPrefix,
  slabs: readonly Buffer[],
  digest: PartDigest,
): Promise<Buffer[]> {
  const body: Buffer[] = [];
  const stored = await prefix.open();
  try {
    for (const target of cutOut(slabs, 0, prefix.bytes)) {
      const filled = await stored.fill(target);
      if (filled.length < target.length)
        throw outage('storage', 'The object store sent less of an object than it holds');
      digest.updatePart(filled);
      body.push(filled);
    }
    // Sees the end, so that the connection can be used again.
    await stored.fill(sharedBuffer(1));
    return body;
  } finally {
    stored.close();
  }
}

/** The pieces of the slabs that hold these bytes. */
function* cutOut(slabs: readonly Buffer[], from: number, bytes: number): Generator<Buffer> {
  let slabAt = 0;
  for (const slab of slabs) {
    const piece = slab.subarray(Math.max(0, from - slabAt), Math.max(0, from + bytes - slabAt));
    if (piece.length > 0) yield piece;
    slabAt += slab.length;
  }
}

/** Hashes a part while it is read: its own digest, and its share of the whole body's. */
class PartDigest {
  readonly #part: StreamHash;
  readonly #whole: StreamHash | undefined;
  readonly #updates: Promise<void>[] = [];

  constructor(part: StreamHash, whole: StreamHash | undefined) {
    this.#part = part;
    this.#whole = whole;
  }

  update(bytes: Buffer): void {
    this.updatePart(bytes);
    if (this.#whole) this.#note(this.#whole.update(bytes));
  }

  /** For bytes of the part that are not the body's. */
  updatePart(bytes: Buffer): void {
    this.#note(this.#part.update(bytes));
  }

  finish(): Promise<Buffer> {
    return this.#part.digest();
  }

  /** The hash of the whole body may go on while the part is sent. */
  pending(): Promise<void> {
    return allEnded(this.#updates);
  }

  /** Resolves when the memory of the part is no longer read. */
  async close(): Promise<void> {
    this.#part.close();
    await Promise.allSettled(this.#updates);
  }

  #note(update: Promise<void>): void {
    // `pending` reports it.
    update.catch(() => undefined);
    this.#updates.push(update);
  }
}

/** Keys begin with the id of their project. */
const projectIn = (key: string): string => key.split('/', 1)[0] ?? '';

export const md5 = (body: Buffer): Buffer => createHash('md5').update(body).digest();
