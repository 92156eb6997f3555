// Bytes to store and compare: repeatable, and without a pattern that could hide a shifted part.
import { createCipheriv, createHash, type Hash } from 'node:crypto';
import { Readable } from 'node:stream';

export function bytesOf(length: number, seed = 1): Buffer {
  const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16, seed), Buffer.alloc(16));
  return cipher.update(Buffer.alloc(length));
}

export function sha256(data: Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}

/** A stream of `data` in chunks, like from a network. */
export function streamOf(data: Buffer, chunkBytes = 64 << 10): Readable {
  return Readable.from(chunksOf(data, chunkBytes), { objectMode: false, highWaterMark: chunkBytes });
}

/** Streams `data`, then fails. */
export function failingStream(data: Buffer, error: Error): Readable {
  return Readable.from(
    (function* () {
      yield* chunksOf(data, 64 << 10);
      throw error;
    })(),
    { objectMode: false },
  );
}

/** Streams `data`, calls `onStall`, then never sends anything again. */
export function stallingStream(data: Buffer, onStall: () => void): Readable {
  const chunks = chunksOf(data, 64 << 10);
  return new Readable({
    read() {
      const next = chunks.next();
      if (next.done) onStall();
      else this.push(next.value);
    },
  });
}

export async function readAll(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export async function digestOf(body: Readable): Promise<string> {
  const hash: Hash = createHash('sha256');
  for await (const chunk of body) hash.update(chunk);
  return hash.digest('hex');
}

function* chunksOf(data: Buffer, chunkBytes: number): Generator<Buffer> {
  for (let at = 0; at < data.length; at += chunkBytes) yield data.subarray(at, at + chunkBytes);
}
