// Takes in the bytes of one file part: counts them, hashes them, and keeps a small file in memory whole. A
// larger one is handed on as a stream once it has proved to be larger. Refused bytes are read and dropped.
import { createHash, type Hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { sha256 } from '../../kernel/secret.ts';
import type { FilePart } from '../../platform/multipart.ts';

/** Up to this size a file waits in memory until the whole form is known and nothing can be refused any more. */
export const wholeBytesMax = 256 * 1024;
const streamBufferBytes = 256 * 1024;
/** What is read and dropped of a file that is refused, so that its sender can finish and hear why. */
const droppedBytesMax = 16 * 1024 * 1024;

export interface ReceivedFile {
  readonly size: number;
  /** Of no use where bytes were dropped. */
  readonly sha256: Buffer;
  /** The file's first bytes, at least as many as detection needs. */
  readonly head: Buffer;
  /** All of it, where it was small. */
  readonly whole: Buffer | null;
}

export interface Intake {
  readonly received: Promise<ReceivedFile>;
  /** Resolves when so much was dropped that reading on is not worth it. */
  readonly overrun: Promise<void>;
  /** From now on bytes are dropped. */
  drop(): void;
}

/** `onLarge` gets the stream of everything, from the first byte on. */
export function takeIn(
  part: FilePart,
  bytesMax: number,
  onLarge: (body: Readable, head: Buffer) => void,
): Intake {
  const { stream: source } = part;
  /** Of a large file; a small one is hashed in one go, at half the cost. */
  let running: Hash | null = null;
  let chunks: Buffer[] = [];
  let body: Readable | null = null;
  let head = Buffer.alloc(0);
  let size = 0;
  let dropped = 0;
  let dropping = false;

  const drop = () => {
    dropping = true;
    chunks = [];
    body?.destroy();
    source.resume();
  };
  const becomeLarge = () => {
    head = Buffer.concat(chunks);
    chunks = [];
    running = createHash('sha256').update(head);
    body = new Readable({ highWaterMark: streamBufferBytes, read: () => void source.resume() });
    body.on('error', () => undefined);
    if (!body.push(head)) source.pause();
    onLarge(body, head);
  };
  let overran: () => void = () => undefined;
  const overrun = new Promise<void>((resolve) => {
    overran = resolve;
  });
  const received = new Promise<ReceivedFile>((resolve, reject) => {
    const result = (whole: Buffer | null): ReceivedFile => ({
      size,
      sha256: whole ? sha256(whole) : (running?.copy().digest() ?? Buffer.alloc(0)),
      head: whole ?? head,
      whole,
    });
    source.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > bytesMax && !dropping) {
        // This chunk as well: its type is judged before its size.
        if (!body) head = Buffer.concat([...chunks, chunk]);
        drop();
      }
      if (dropping) {
        dropped += chunk.length;
        if (dropped > droppedBytesMax) {
          resolve(result(null));
          overran();
        }
        return;
      }
      if (body) {
        running?.update(chunk);
        if (!body.push(chunk)) source.pause();
        return;
      }
      chunks.push(chunk);
      if (size > wholeBytesMax) becomeLarge();
    });
    source.on('end', () => {
      body?.push(null);
      resolve(
        result(body || dropping ? null : chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)),
      );
    });
    source.on('error', (error) => {
      body?.destroy(error);
      reject(error);
    });
  });
  // Whoever reads the form hears of the error as well.
  received.catch(() => undefined);
  return { received, overrun, drop };
}
