// Reads a body in pieces of a wanted size, as both stores need it. It holds no more than one piece, and
// it passes on the body's own errors and the caller's abort unchanged, so that neither looks like an outage.
import type { Hash } from 'node:crypto';
import type { Readable } from 'node:stream';

export interface BodyReader {
  /** At most `bytesMax` bytes as they came, fewer only at the end of the body. */
  gather(bytesMax: number): Promise<Buffer[]>;
  /** Copies into `target` and feeds `hash` on the way; resolves to what was filled, all of it but at the body's end. */
  fill(target: Buffer, hash: Hash): Promise<Buffer>;
  /** True once the body is known to hold nothing more. */
  readonly ended: boolean;
  /** Destroys the body where it has not ended. Must be called exactly once, on every path. */
  close(): void;
}

export function createBodyReader(body: Readable, signal?: AbortSignal): BodyReader {
  const chunks: AsyncIterator<unknown> = body[Symbol.asyncIterator]();
  let left: Buffer | undefined;
  let ended = false;
  // A read that waits for a silent client is woken by destroying what it waits for.
  const onAbort = () => body.destroy(new Error('aborted'));
  signal?.addEventListener('abort', onAbort, { once: true });

  async function next(): Promise<Buffer | null> {
    signal?.throwIfAborted();
    if (left) {
      const chunk = left;
      left = undefined;
      return chunk;
    }
    try {
      const step = await chunks.next();
      signal?.throwIfAborted();
      if (step.done) {
        ended = true;
        return null;
      }
      return toBuffer(step.value);
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  }

  /** The next chunk, cut to `bytesMax`; what was cut off comes next. */
  async function nextWithin(bytesMax: number): Promise<Buffer | null> {
    const chunk = await next();
    if (!chunk || chunk.length <= bytesMax) return chunk;
    left = chunk.subarray(bytesMax);
    return chunk.subarray(0, bytesMax);
  }

  return {
    get ended() {
      return ended;
    },

    async gather(bytesMax) {
      const gathered: Buffer[] = [];
      for (let room = bytesMax; room > 0 && !ended; ) {
        const chunk = await nextWithin(room);
        if (!chunk) break;
        gathered.push(chunk);
        room -= chunk.length;
      }
      return gathered;
    },

    async fill(target, hash) {
      let at = 0;
      while (at < target.length && !ended) {
        const chunk = await nextWithin(target.length - at);
        if (!chunk) break;
        hash.update(chunk);
        at += chunk.copy(target, at);
      }
      return target.subarray(0, at);
    },

    close() {
      signal?.removeEventListener('abort', onAbort);
      if (ended) return;
      // The reader is leaving: an error that the body has still to tell has no listener any more.
      body.on('error', () => undefined);
      body.destroy();
    },
  };
}

function toBuffer(chunk: unknown): Buffer {
  if (Buffer.isBuffer(chunk)) return chunk;
  if (chunk instanceof Uint8Array) return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  if (typeof chunk === 'string') return Buffer.from(chunk);
  throw new TypeError('A body must yield bytes');
}
