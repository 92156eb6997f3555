// Produces any range of a zip. Small files are read ahead, several at once: one after another, each would cost a round trip
// to the store. A file that is no longer what the layout says ends the stream: wrong bytes are never sent.
import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import type { Deps } from '../../contract/deps.ts';
import type { ByteRange } from '../../kernel/media/byte-range.ts';
import type { ZipPiece } from '../../kernel/media/zip-layout.ts';
import { contentGone } from '../content/content.source.ts';
import { Checksums } from './zip.checksums.ts';
import { openEntry, readEntry } from './zip.entry.ts';
import type { Zip } from './zip.find.ts';

/** Larger files are streamed. */
const smallBytesMax = 256 << 10;
const aheadBytesMax = 2 << 20;
/** On disk, half of the threads for disk access are left to others. */
const aheadMax = { disk: 2, s3: 16 };
/** Shorter pieces are sent together. */
const chunkBytes = 64 << 10;

export function openZip(deps: Deps, zip: Zip, range: ByteRange, signal: AbortSignal): Readable {
  const closed = new AbortController();
  const reader = new ZipReader(deps, zip, range, AbortSignal.any([signal, closed.signal]));
  return Readable.from(reader.chunks(), { objectMode: false, highWaterMark: chunkBytes }).once('close', () =>
    closed.abort(),
  );
}

/** A small file that is being read, into memory that has room for its header in front. */
interface AheadFile {
  readonly entry: number;
  readonly block: Promise<Buffer>;
}

class ZipReader {
  readonly #deps: Deps;
  readonly #zip: Zip;
  readonly #range: ByteRange;
  readonly #signal: AbortSignal;
  readonly #checksums: Checksums;
  /** The files to come, in order. */
  readonly #upcoming: Iterator<ZipPiece>;
  #next: ZipPiece | undefined;
  readonly #ahead: AheadFile[] = [];
  #aheadBytes = 0;
  /** Sent together with the small file that follows. */
  #heldHeader: ZipPiece | null = null;

  constructor(deps: Deps, zip: Zip, range: ByteRange, signal: AbortSignal) {
    this.#deps = deps;
    this.#zip = zip;
    this.#range = range;
    this.#signal = signal;
    this.#checksums = new Checksums(deps, zip, signal);
    this.#upcoming = zip.layout.pieces(range.start, range.end);
    this.#advance();
  }

  async *chunks(): AsyncGenerator<Buffer> {
    let waiting: Buffer[] = [];
    let bytes = 0;
    for (const piece of this.#zip.layout.pieces(this.#range.start, this.#range.end)) {
      this.#signal.throwIfAborted();
      this.#readAhead();
      if (this.#isStreamed(piece)) {
        if (bytes > 0) yield Buffer.concat(waiting, bytes);
        waiting = [];
        bytes = 0;
        yield* this.#stream(piece);
        continue;
      }
      const part = await this.#produce(piece);
      if (part === null) continue;
      waiting.push(part);
      bytes += part.length;
      if (bytes < chunkBytes) continue;
      yield waiting.length === 1 ? part : Buffer.concat(waiting, bytes);
      waiting = [];
      bytes = 0;
    }
    await this.#checksums.keep();
    if (bytes > 0) yield Buffer.concat(waiting, bytes);
  }

  #isStreamed({ part, entry }: ZipPiece): boolean {
    return part === 'content' && this.#isLarge(entry);
  }

  /** Null if the piece is sent with the next one. */
  async #produce(piece: ZipPiece): Promise<Buffer | null> {
    const { layout } = this.#zip;
    const { part, entry, start, end } = piece;
    if (part === 'content') return this.#takeSmall(piece);
    if (part === 'end') return layout.end().subarray(start, end + 1);
    if (part === 'header' && this.#ahead[0]?.entry === entry) {
      this.#heldHeader = piece;
      return null;
    }
    const checksum = this.#zip.files[entry]?.crc32 ?? (await this.#checksums.compute(entry));
    const whole = part === 'header' ? layout.header(entry, checksum) : layout.record(entry, checksum);
    return whole.subarray(start, end + 1);
  }

  async #takeSmall({ entry, end, start }: ZipPiece): Promise<Buffer> {
    const { layout, files } = this.#zip;
    const ahead = this.#ahead[0];
    if (ahead?.entry !== entry) throw new Error('A small file was not read ahead');
    const block = await ahead.block;
    this.#ahead.shift();
    const headerBytes = block.length - this.#bytesOf(entry);
    this.#aheadBytes -= this.#bytesOf(entry);
    const held = this.#heldHeader;
    this.#heldHeader = null;
    if (held?.entry !== entry) return block.subarray(headerBytes + start, headerBytes + end + 1);
    const checksum =
      files[entry]?.crc32 ?? (await this.#checksums.note(entry, crc32(block.subarray(headerBytes))));
    layout.header(entry, checksum).copy(block);
    return block.subarray(held.start, headerBytes + end + 1);
  }

  async *#stream({ entry, start, end }: ZipPiece): AsyncGenerator<Buffer> {
    const wanted = end - start + 1;
    let sent = 0;
    for await (const chunk of await openEntry(this.#deps, this.#zip, entry, { start, end }, this.#signal)) {
      sent += (chunk as Buffer).length;
      if (sent > wanted) throw contentGone();
      yield chunk as Buffer;
    }
    if (sent !== wanted) throw contentGone();
  }

  #readAhead(): void {
    for (let piece = this.#next; piece && this.#hasRoomFor(piece.entry); piece = this.#next) {
      if (!this.#isLarge(piece.entry)) this.#startReading(piece.entry);
      this.#advance();
    }
  }

  /** A large file is streamed when its turn comes; until then, nothing behind it is read. */
  #hasRoomFor(entry: number): boolean {
    if (this.#ahead.length === 0) return true;
    if (this.#isLarge(entry) || this.#ahead.length >= aheadMax[this.#deps.objects.kind]) return false;
    return this.#aheadBytes + this.#bytesOf(entry) <= aheadBytesMax;
  }

  #startReading(entry: number): void {
    const block = readEntry(this.#deps, this.#zip, entry, this.#signal);
    // Whoever comes to this file sees the failure.
    block.catch(() => undefined);
    this.#ahead.push({ entry, block });
    this.#aheadBytes += this.#bytesOf(entry);
  }

  #isLarge(entry: number): boolean {
    return this.#bytesOf(entry) > smallBytesMax;
  }

  #bytesOf(entry: number): number {
    return this.#zip.layout.entries[entry]?.bytes ?? 0;
  }

  /** To the next file whose content is wanted. */
  #advance(): void {
    let step = this.#upcoming.next();
    while (!step.done && step.value.part !== 'content') step = this.#upcoming.next();
    this.#next = step.done ? undefined : step.value;
  }
}
