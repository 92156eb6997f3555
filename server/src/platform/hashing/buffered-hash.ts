// Feeds chunks of any size to a hash, through shared memory of its own.
import type { Readable } from 'node:stream';
import { type Deferred, deferred } from '../../kernel/async/deferred.ts';
import { copyInto } from '../../kernel/bytes.ts';
import { sharedBuffer } from '../heap.ts';
import { type ContentDigest, splitContentDigest } from './digest.ts';
import type { HashAlgorithm, Hashing, StreamHash } from './stream-hash.ts';

const slabBytes = 128 << 10;
/** One is filled while these are hashed. */
const slabsInFlightMax = 2;

export class BufferedHash {
  readonly #hash: StreamHash;
  readonly #idle: Buffer[] = [];
  #slab: Buffer | null = null;
  #filled = 0;
  #inFlight = 0;
  #drained: Deferred<void> | null = null;

  constructor(hash: StreamHash) {
    this.#hash = hash;
  }

  /** Takes the whole chunk. If it returns false, wait for `drained` before the next one. */
  write(chunk: Buffer): boolean {
    for (let at = 0; at < chunk.length; ) {
      this.#slab ??= this.#idle.pop() ?? sharedBuffer(slabBytes);
      const copied = copyInto(this.#slab, this.#filled, at > 0 ? chunk.subarray(at) : chunk);
      at += copied;
      this.#filled += copied;
      if (this.#filled === slabBytes) this.#flush();
    }
    return this.#inFlight < slabsInFlightMax;
  }

  /** Resolves as well if the hash has failed, which `digest` reports. */
  async drained(): Promise<void> {
    if (this.#inFlight < slabsInFlightMax) return;
    this.#drained ??= deferred();
    await this.#drained.promise;
  }

  digest(): Promise<Buffer> {
    this.#flush();
    return this.#hash.digest();
  }

  close(): void {
    this.#hash.close();
  }

  #flush(): void {
    const slab = this.#slab;
    if (!slab || this.#filled === 0) return;
    this.#inFlight += 1;
    const done = () => {
      this.#inFlight -= 1;
      this.#idle.push(slab);
      this.#drained?.resolve();
      this.#drained = null;
    };
    this.#hash.update(slab.subarray(0, this.#filled)).then(done, done);
    this.#slab = null;
    this.#filled = 0;
  }
}

/** Reads the stream to its end. */
export async function hashStream(
  hashing: Hashing,
  algorithm: HashAlgorithm,
  source: Readable,
): Promise<Buffer> {
  const hash = new BufferedHash(hashing.open(algorithm));
  try {
    for await (const chunk of source) if (!hash.write(chunk as Buffer)) await hash.drained();
    return await hash.digest();
  } finally {
    hash.close();
  }
}

/** Reads the stream to its end. */
export const digestContent = async (hashing: Hashing, content: Readable): Promise<ContentDigest> =>
  splitContentDigest(await hashStream(hashing, 'content', content));
