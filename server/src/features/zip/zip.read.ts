// Produces any range of a zip. Small files are read ahead, several at once: one after another, each would cost a round trip
// to the store. A file that is no longer what the layout says ends the stream: wrong bytes are never sent.
import type { Readable } from 'node:stream';
import type { Deps } from '../../contract/deps.ts';
import { copyInto } from '../../kernel/bytes.ts';
import type { ByteRange } from '../../kernel/media/byte-range.ts';
import type { ZipPiece } from '../../kernel/media/zip-layout.ts';
import { crc32 } from '../../platform/hashing/crc32.ts';
import { sharedBuffer } from '../../platform/heap.ts';
import { Blocks } from '../../platform/memory/blocks.ts';
import { type Piece, RecycledBody } from '../../platform/memory/recycled-body.ts';
import { contentGone } from '../content/content.source.ts';
import { Checksums } from './zip.checksums.ts';
import { openEntry, readEntry } from './zip.entry.ts';
import type { Zip } from './zip.find.ts';

/** Larger files are streamed. */
const smallBytesMax = 256 << 10;
/** Longer ones are not sent together with their file. */
const headerBytesMax = 8 << 10;
const aheadBytesMax = 2 << 20;
const aheadMax = 16;
/** More are read when only so many are left: on disk those that are asked for together are cheaper. */
const aheadMin = { disk: 8, s3: 15 };
/** Shorter pieces are sent together. */
const chunkBytes = 64 << 10;

/** Of all zips. */
const blocks = new Blocks(
  sharedBuffer,
  { bytes: chunkBytes + headerBytesMax, idleMax: 16 },
  { bytes: smallBytesMax + headerBytesMax, idleMax: 8 },
);

export function openZip(deps: Deps, zip: Zip, range: ByteRange, signal: AbortSignal): Readable {
  const closed = new AbortController();
  const reader = new ZipReader(deps, zip, range, AbortSignal.any([signal, closed.signal]));
  return new RecycledBody(reader.pieces()).once('close', () => closed.abort());
}

/** A small file that is being read, into memory that has room for its header in front. */
interface AheadFile {
  readonly entry: number;
  readonly block: Buffer;
  readonly read: Promise<void>;
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

  async *pieces(): AsyncGenerator<Piece> {
    let waiting: Piece[] = [];
    let bytes = 0;
    for (const part of this.#zip.layout.pieces(this.#range.start, this.#range.end)) {
      this.#signal.throwIfAborted();
      this.#readAhead();
      if (this.#isStreamed(part)) {
        if (bytes > 0) yield join(waiting, bytes);
        waiting = [];
        bytes = 0;
        yield* this.#stream(part);
        continue;
      }
      const piece = await this.#produce(part);
      if (piece === null) continue;
      waiting.push(piece);
      bytes += piece.bytes.length;
      if (bytes < chunkBytes) continue;
      yield join(waiting, bytes);
      waiting = [];
      bytes = 0;
    }
    await this.#checksums.keep();
    if (bytes > 0) yield join(waiting, bytes);
  }

  #isStreamed({ part, entry }: ZipPiece): boolean {
    return part === 'content' && this.#isLarge(entry);
  }

  /** Null if it is sent with the next one. */
  async #produce(piece: ZipPiece): Promise<Piece | null> {
    const { layout } = this.#zip;
    const { part, entry, start, end } = piece;
    if (part === 'content') return this.#takeSmall(piece);
    if (part === 'end') return { bytes: layout.end().subarray(start, end + 1) };
    if (part === 'header' && this.#ahead[0]?.entry === entry) {
      this.#heldHeader = piece;
      return null;
    }
    const checksum = this.#zip.files[entry]?.crc32 ?? (await this.#checksums.compute(entry));
    const whole = part === 'header' ? layout.header(entry, checksum) : layout.record(entry, checksum);
    return { bytes: whole.subarray(start, end + 1) };
  }

  async #takeSmall({ entry, end, start }: ZipPiece): Promise<Piece> {
    const { layout, files } = this.#zip;
    const ahead = this.#ahead[0];
    if (ahead?.entry !== entry) throw new Error('A small file was not read ahead');
    const { block, read } = ahead;
    await read;
    this.#ahead.shift();
    this.#aheadBytes -= block.length;
    const release = () => blocks.giveBack(block);
    const headerBytes = layout.headerBytes(entry);
    const held = this.#heldHeader;
    this.#heldHeader = null;
    if (held?.entry !== entry)
      return { bytes: block.subarray(headerBytes + start, headerBytes + end + 1), release };
    const content = block.subarray(headerBytes, headerBytes + this.#bytesOf(entry));
    const checksum = files[entry]?.crc32 ?? (await this.#checksums.note(entry, crc32(content)));
    copyInto(block, 0, layout.header(entry, checksum));
    return { bytes: block.subarray(held.start, headerBytes + end + 1), release };
  }

  async *#stream({ entry, start, end }: ZipPiece): AsyncGenerator<Piece> {
    const wanted = end - start + 1;
    let sent = 0;
    for await (const chunk of await openEntry(this.#deps, this.#zip, entry, { start, end }, this.#signal)) {
      sent += (chunk as Buffer).length;
      if (sent > wanted) throw contentGone();
      yield { bytes: chunk as Buffer };
    }
    if (sent !== wanted) throw contentGone();
  }

  #readAhead(): void {
    if (this.#ahead.length > aheadMin[this.#deps.objects.kind]) return;
    for (let piece = this.#next; piece && this.#hasRoomFor(piece.entry); piece = this.#next) {
      if (!this.#isLarge(piece.entry)) this.#startReading(piece.entry);
      this.#advance();
    }
  }

  /** A large file is streamed when its turn comes; until then, nothing behind it is read. */
  #hasRoomFor(entry: number): boolean {
    if (this.#ahead.length === 0) return true;
    if (this.#isLarge(entry) || this.#ahead.length >= aheadMax) return false;
    return this.#aheadBytes + this.#bytesOf(entry) <= aheadBytesMax;
  }

  #startReading(entry: number): void {
    const headerBytes = this.#zip.layout.headerBytes(entry);
    const bytes = this.#bytesOf(entry);
    const block = blocks.take(headerBytes + bytes);
    const content = block.subarray(headerBytes, headerBytes + bytes);
    const read = readEntry(this.#deps, this.#zip, entry, content, this.#signal);
    // Whoever comes to this file sees the failure.
    read.catch(() => undefined);
    this.#ahead.push({ entry, block, read });
    this.#aheadBytes += block.length;
  }

  #isLarge(entry: number): boolean {
    return this.#bytesOf(entry) > smallBytesMax || this.#zip.layout.headerBytes(entry) > headerBytesMax;
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

/** Pieces that are sent together. */
function join(pieces: readonly Piece[], bytes: number): Piece {
  const [only] = pieces;
  if (only && pieces.length === 1) return only;
  const block = blocks.take(bytes);
  let at = 0;
  for (const piece of pieces) {
    at += copyInto(block, at, piece.bytes);
    piece.release?.();
  }
  return { bytes: block.subarray(0, bytes), release: () => blocks.giveBack(block) };
}
