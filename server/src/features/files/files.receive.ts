// Receives the bytes of one file part. A small file is kept in memory and hashed; a larger one is passed on as a stream,
// and hashed where it is stored. Bytes of a refused file are read and dropped.
import { joined } from '../../kernel/bytes.ts';
import { sha256 } from '../../kernel/crypto/secret.ts';
import type { PartSink } from '../../kernel/form/form-parser.ts';
import { droppedBytesMax } from '../../platform/forms/form-reader.ts';
import { crc32 } from '../../platform/hashing/crc32.ts';
import type { ContentDigest } from '../../platform/hashing/digest.ts';
import { PushedBody } from '../../platform/objects/pushed-body.ts';

/** Up to this size a file stays in memory until the whole form has been validated. */
export const wholeBytesMax = 256 * 1024;

/** Where the bytes of the file come from. */
export interface ByteSource {
  pause(): void;
  resume(): void;
  /** Counts bytes of a large file. */
  count(bytes: number): void;
  /** The rest is not read. */
  cutShort(): void;
}

export interface ReceivedFile {
  readonly size: number;
  /** Only of a small file. */
  readonly digest: ContentDigest | null;
  /** The first bytes, enough to detect the type. */
  readonly head: Buffer;
  /** The whole file, if it is small. */
  readonly whole: Buffer | null;
  /** The file is refused, and the rest of it is too long to read and drop. */
  readonly cutShort: boolean;
}

export class Intake implements PartSink {
  readonly #source: ByteSource;
  #bytesMax: number;
  readonly #wholeBytesMax: number;
  readonly #onLarge: (body: PushedBody, head: Buffer) => void;
  #size = 0;
  /** The file so far, while it is small. */
  #chunks: Buffer[] = [];
  #head = Buffer.alloc(0);
  #body: PushedBody | null = null;
  #dropping = false;
  #droppedBytes = 0;

  /** Above `wholeMax` bytes, `onLarge` gets the file from its first byte. */
  constructor(
    source: ByteSource,
    bytesMax: number,
    wholeMax: number,
    onLarge: (body: PushedBody, head: Buffer) => void,
  ) {
    this.#source = source;
    this.#bytesMax = bytesMax;
    this.#wholeBytesMax = wholeMax;
    this.#onLarge = onLarge;
  }

  write(chunk: Buffer): void {
    this.#size += chunk.length;
    // Keep the chunk that exceeds the limit as well: the type is checked before the size, and needs the first bytes.
    if (!this.#dropping && !this.#body) this.#chunks.push(chunk);
    if (!this.#dropping && this.#size > this.#bytesMax) this.drop();
    if (this.#dropping) this.#countDropped(chunk.length);
    else if (this.#body) this.#push(this.#body, chunk);
    else if (this.#size > this.#wholeBytesMax) this.#startStream();
  }

  end(): void {
    this.#body?.end();
    // An ended body wants no more, so it would never resume a source that it paused.
    this.#source.resume();
  }

  /** For limits that are known only after the first bytes. */
  lowerLimit(bytesMax: number): void {
    this.#bytesMax = Math.min(this.#bytesMax, bytesMax);
    if (this.#size > this.#bytesMax) this.drop();
  }

  /** Reads and drops the rest. */
  drop(): void {
    if (!this.#dropping && !this.#body) this.#head = Buffer.concat(this.#chunks);
    this.#dropping = true;
    this.#chunks = [];
    this.#body?.destroy();
    this.#source.resume();
  }

  /** Call once the form has been read. */
  received(): ReceivedFile {
    const whole = this.#body || this.#dropping ? null : joined(this.#chunks);
    return {
      size: this.#size,
      digest: whole && { sha256: sha256(whole), crc32: crc32(whole) },
      head: whole ?? this.#head,
      whole,
      cutShort: this.#isOverrun(),
    };
  }

  #startStream(): void {
    this.#head = Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#body = new PushedBody(() => this.#source.resume());
    this.#push(this.#body, this.#head);
    this.#onLarge(this.#body, this.#head);
  }

  #push(body: PushedBody, chunk: Buffer): void {
    if (!body.push(chunk)) this.#source.pause();
    this.#source.count(chunk.length);
  }

  #countDropped(bytes: number): void {
    this.#droppedBytes += bytes;
    if (this.#isOverrun()) this.#source.cutShort();
  }

  #isOverrun(): boolean {
    return this.#droppedBytes > droppedBytesMax;
  }
}
