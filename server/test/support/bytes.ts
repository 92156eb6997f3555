// Bytes to store and to compare: repeatable, without a pattern that a shifted part could hide in.
import { createCipheriv, createHash, type Hash } from 'node:crypto';
import { Readable } from 'node:stream';

export function bytesOf(length: number, seed = 1): Buffer {
  const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16, seed), Buffer.alloc(16));
  return cipher.update(Buffer.alloc(length));
}

export function sha256(data: Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}

/** A stream of `data` in chunks, as a network would give it. */
export function streamOf(data: Buffer, chunkBytes = 64 << 10): Readable {
  return Readable.from(chunksOf(data, chunkBytes), { objectMode: false, highWaterMark: chunkBytes });
}

/** Gives `data`, then fails. */
export function failingStream(data: Buffer, error: Error): Readable {
  return Readable.from(
    (function* () {
      yield* chunksOf(data, 64 << 10);
      throw error;
    })(),
    { objectMode: false },
  );
}

/** Gives `data`, calls `onStall`, and then stays silent for ever. */
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
