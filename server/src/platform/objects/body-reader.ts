// Reads a body in pieces of a given size, for both stores. Holds at most one piece. The body's own errors and the
// caller's abort pass unchanged, so that neither looks like an outage.
import type { Readable } from 'node:stream';
import { copyInto } from '../../kernel/bytes.ts';
import { PushedBody } from './pushed-body.ts';

export interface BodyReader {
  /** Fills `target` and resolves to the filled part, which is shorter only at the end of the body. */
  fill(target: Buffer): Promise<Buffer>;
  /** True once the body is known to hold nothing more. */
  readonly ended: boolean;
  /** Destroys the body if it has not ended. Must be called exactly once, on every path. */
  close(): void;
}

export const createBodyReader = (body: Readable | PushedBody, signal?: AbortSignal): BodyReader =>
  body instanceof PushedBody ? new PushedReader(body, signal) : new StreamReader(body, signal);

/** Reports faults of the body apart from those of the store: both surface in the same put. */
export function notingFaults(reader: BodyReader, note: (error: unknown) => void): BodyReader {
  const tell = (error: unknown): never => {
    note(error);
    throw error;
  };
  return {
    get ended() {
      return reader.ended;
    },
    fill: (target) => reader.fill(target).catch(tell),
    close: () => reader.close(),
  };
}

class PushedReader implements BodyReader {
  readonly #body: PushedBody;
  readonly #signal: AbortSignal | undefined;

  constructor(body: PushedBody, signal?: AbortSignal) {
    this.#body = body;
    this.#signal = signal;
    signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  get ended(): boolean {
    return this.#body.ended;
  }

  async fill(target: Buffer): Promise<Buffer> {
    this.#signal?.throwIfAborted();
    try {
      return await this.#body.fill(target);
    } finally {
      this.#signal?.throwIfAborted();
    }
  }

  close(): void {
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#body.destroy();
  }

  /** Wakes a read that waits for a silent client. */
  readonly #onAbort = (): void => this.#body.destroy();
}

class StreamReader implements BodyReader {
  readonly #body: Readable;
  readonly #signal: AbortSignal | undefined;
  readonly #chunks: AsyncIterator<unknown>;
  #left: Buffer | undefined;
  #ended = false;

  constructor(body: Readable, signal?: AbortSignal) {
    this.#body = body;
    this.#signal = signal;
    this.#chunks = body[Symbol.asyncIterator]();
    signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  get ended(): boolean {
    return this.#ended;
  }

  async fill(target: Buffer): Promise<Buffer> {
    let at = 0;
    while (at < target.length && !this.#ended) {
      const chunk = await this.#nextWithin(target.length - at);
      if (!chunk) break;
      at += copyInto(target, at, chunk);
    }
    return target.subarray(0, at);
  }

  close(): void {
    this.#signal?.removeEventListener('abort', this.#onAbort);
    if (this.#ended) return;
    // After this there is no listener for an error that the body still emits.
    this.#body.on('error', () => undefined);
    this.#body.destroy();
  }

  /** Destroying the body wakes a read that waits for a silent client. */
  readonly #onAbort = (): void => void this.#body.destroy(new Error('aborted'));

  /** The next chunk, cut to `bytesMax`; the rest comes next. */
  async #nextWithin(bytesMax: number): Promise<Buffer | null> {
    const chunk = await this.#next();
    if (!chunk || chunk.length <= bytesMax) return chunk;
    this.#left = chunk.subarray(bytesMax);
    return chunk.subarray(0, bytesMax);
  }

  async #next(): Promise<Buffer | null> {
    this.#signal?.throwIfAborted();
    if (this.#left) {
      const chunk = this.#left;
      this.#left = undefined;
      return chunk;
    }
    try {
      const step = await this.#chunks.next();
      this.#signal?.throwIfAborted();
      if (!step.done) return toBuffer(step.value);
      this.#ended = true;
      return null;
    } catch (error) {
      this.#signal?.throwIfAborted();
      throw error;
    }
  }
}

function toBuffer(chunk: unknown): Buffer {
  if (Buffer.isBuffer(chunk)) return chunk;
  if (chunk instanceof Uint8Array) return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  if (typeof chunk === 'string') return Buffer.from(chunk);
  throw new TypeError('A body must yield bytes');
}
