// Takes in the bytes of one file part: counts them, hashes them, and keeps a small file in memory whole. A
// larger one is handed on as a stream once it has proved to be larger. Refused bytes are read and dropped.
import { createHash, type Hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { joined } from '../../kernel/bytes.ts';
import { sha256 } from '../../kernel/crypto/secret.ts';
import type { PartSink } from '../../kernel/form/form-parser.ts';
import { droppedBytesMax, type FormSource } from '../../platform/forms/form-reader.ts';

/** Up to this size a file waits in memory until the whole form is known and nothing can be refused any more. */
export const wholeBytesMax = 256 * 1024;
const streamBufferBytes = 256 * 1024;

export interface ReceivedFile {
  readonly size: number;
  /** Of no use where bytes were dropped. */
  readonly sha256: Buffer;
  /** The file's first bytes, at least as many as detection needs. */
  readonly head: Buffer;
  /** All of it, where it was small. */
  readonly whole: Buffer | null;
  /** It is refused, and there is more of it than is worth reading. */
  readonly cutShort: boolean;
}

export class Intake implements PartSink {
  readonly #source: FormSource;
  #bytesMax: number;
  readonly #wholeBytesMax: number;
  readonly #onLarge: (body: Readable, head: Buffer) => void;
  #size = 0;
  /** Of a file that is small so far. */
  #chunks: Buffer[] = [];
  #head = Buffer.alloc(0);
  /** Of a large file; a small one is hashed in one go, at half the cost. */
  #hash: Hash | null = null;
  #body: Readable | null = null;
  #dropping = false;
  #droppedBytes = 0;

  /** Above `wholeMax` bytes, `onLarge` gets the stream of everything, from the first byte on. */
  constructor(
    source: FormSource,
    bytesMax: number,
    wholeMax: number,
    onLarge: (body: Readable, head: Buffer) => void,
  ) {
    this.#source = source;
    this.#bytesMax = bytesMax;
    this.#wholeBytesMax = wholeMax;
    this.#onLarge = onLarge;
  }

  write(chunk: Buffer): void {
    this.#size += chunk.length;
    // Also the chunk that is too much: a file's type is judged before its size.
    if (!this.#dropping && !this.#body) this.#chunks.push(chunk);
    if (!this.#dropping && this.#size > this.#bytesMax) this.drop();
    if (this.#dropping) this.#countDropped(chunk.length);
    else if (this.#body) this.#handOn(this.#body, chunk);
    else if (this.#size > this.#wholeBytesMax) this.#becomeLarge();
  }

  end(): void {
    this.#body?.push(null);
    // A stream that has ended asks for nothing more, and so would never let go of what it held back.
    this.#source.resume();
  }

  /** Less may come than was allowed at first. */
  lowerLimit(bytesMax: number): void {
    this.#bytesMax = Math.min(this.#bytesMax, bytesMax);
    if (this.#size > this.#bytesMax) this.drop();
  }

  /** From now on bytes are dropped. */
  drop(): void {
    if (!this.#dropping && !this.#body) this.#head = Buffer.concat(this.#chunks);
    this.#dropping = true;
    this.#chunks = [];
    this.#body?.destroy();
    this.#source.resume();
  }

  /** Once the form has been read. */
  received(): ReceivedFile {
    const whole = this.#body || this.#dropping ? null : joined(this.#chunks);
    return {
      size: this.#size,
      sha256: whole ? sha256(whole) : (this.#hash?.digest() ?? Buffer.alloc(0)),
      head: whole ?? this.#head,
      whole,
      cutShort: this.#isOverrun(),
    };
  }

  #becomeLarge(): void {
    this.#head = Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#hash = createHash('sha256');
    this.#body = new Readable({ highWaterMark: streamBufferBytes, read: () => this.#source.resume() });
    this.#body.on('error', () => undefined);
    this.#handOn(this.#body, this.#head);
    this.#onLarge(this.#body, this.#head);
  }

  #handOn(body: Readable, chunk: Buffer): void {
    this.#hash?.update(chunk);
    if (!body.push(chunk)) this.#source.pause();
  }

  #countDropped(bytes: number): void {
    this.#droppedBytes += bytes;
    if (this.#isOverrun()) this.#source.cutShort();
  }

  #isOverrun(): boolean {
    return this.#droppedBytes > droppedBytesMax;
  }
}
