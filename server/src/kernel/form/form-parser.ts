// Parses multipart/form-data as it arrives (RFC 7578, RFC 2046). Bytes are passed on in slices of the incoming chunks;
// only an incomplete head and a possible start of a delimiter are held back. See docs/adr/0006-form-parser.md.
import { MalformedForm, type PartHead, parsePartHead } from './part-head.ts';

/** Receives the content of a part. */
export interface PartSink {
  write(bytes: Buffer): void;
  end(): void;
}

export const dropped: PartSink = { write: () => undefined, end: () => undefined };

export const headBytesMax = 16 * 1024;
/** Of all parts together: parsing a head is much more expensive than passing on content. */
export const headsBytesMax = 64 * 1024;
/** Blanks allowed between a delimiter and the end of its line. */
const paddingMax = 256;

const nothing = Buffer.alloc(0);
const lineEnd = Buffer.from('\r\n');
const headEnd = Buffer.from('\r\n\r\n');
const dashes = Buffer.from('--');

type State = 'opening' | 'part' | 'delimiter' | 'head' | 'first bytes' | 'over';

export class FormParser {
  readonly #delimiter: Buffer;
  readonly #openPart: (head: PartHead) => PartSink;
  #state: State = 'opening';
  /** Bytes before the first delimiter are not part of the form. */
  #sink = dropped;
  #held: Buffer = nothing;
  #headsBytes = 0;

  constructor(boundary: string, openPart: (head: PartHead) => PartSink) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
    this.#openPart = openPart;
  }

  /** Throws MalformedForm. */
  write(chunk: Buffer): void {
    const bytes = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk;
    this.#held = nothing;
    for (let at = 0; at < bytes.length; ) at = this.#advance(bytes, at);
  }

  /** The next bytes belong to no part that is read. */
  get isIdle(): boolean {
    return this.#state === 'over' || this.#sink === dropped;
  }

  /** Throws MalformedForm if the form is incomplete. */
  end(): void {
    if (this.#state !== 'over') throw new MalformedForm('it ends before its last boundary');
  }

  /** Returns the index to continue at. */
  #advance(bytes: Buffer, at: number): number {
    switch (this.#state) {
      case 'opening':
        return this.#readOpening(bytes, at);
      case 'part':
        return this.#readPart(bytes, at);
      case 'delimiter':
        return this.#readRestOfDelimiter(bytes, at);
      case 'head':
        return this.#readHead(bytes, at);
      case 'first bytes':
        return this.#readFirstBytes(bytes, at);
      case 'over':
        return bytes.length;
    }
  }

  /** Keeps bytes that can only be understood together with the next chunk. */
  #hold(bytes: Buffer, from: number): number {
    this.#held = bytes.subarray(from);
    return bytes.length;
  }

  /** The first delimiter has no line break before it. */
  #readOpening(bytes: Buffer, at: number): number {
    const length = this.#delimiter.length - lineEnd.length;
    if (bytes.length - at < length) return this.#hold(bytes, at);
    const isDelimiter = bytes.compare(this.#delimiter, lineEnd.length, undefined, at, at + length) === 0;
    this.#state = isDelimiter ? 'delimiter' : 'part';
    return isDelimiter ? at + length : at;
  }

  #readPart(bytes: Buffer, at: number): number {
    const found = bytes.indexOf(this.#delimiter, at);
    const end = found < 0 ? this.#unsureFrom(bytes, at) : found;
    if (end > at) this.#sink.write(bytes.subarray(at, end));
    return found < 0 ? this.#hold(bytes, end) : this.#endPart(found);
  }

  #endPart(delimiterAt: number): number {
    this.#sink.end();
    this.#sink = dropped;
    this.#state = 'delimiter';
    return delimiterAt + this.#delimiter.length;
  }

  /** Where an incomplete delimiter may begin at the end of the bytes, or their end. */
  #unsureFrom(bytes: Buffer, at: number): number {
    let from = Math.max(at, bytes.length - this.#delimiter.length + 1);
    for (; ; from += 1) {
      from = bytes.indexOf('\r', from);
      if (from < 0) return bytes.length;
      if (bytes.compare(this.#delimiter, 0, bytes.length - from, from) === 0) return from;
    }
  }

  /** Two dashes end the form; a line break starts the next part. */
  #readRestOfDelimiter(bytes: Buffer, at: number): number {
    if (bytes.length - at < 2) return this.#hold(bytes, at);
    if (bytes[at] === dashes[0] && bytes[at + 1] === dashes[1]) {
      this.#state = 'over';
      return bytes.length;
    }
    const end = bytes.indexOf(lineEnd, at);
    const padding = bytes.toString('latin1', at, end < 0 ? bytes.length : end);
    if (padding.length > paddingMax || !/^[ \t]*\r?$/.test(padding))
      throw new MalformedForm('a boundary is not at the end of its line');
    if (end < 0) return this.#hold(bytes, at);
    this.#state = 'head';
    return end + lineEnd.length;
  }

  #readHead(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(headEnd, at);
    if ((end < 0 ? bytes.length : end) - at > headBytesMax)
      throw new MalformedForm(`the head of a part is longer than ${headBytesMax} bytes`);
    if (bytes[at] === lineEnd[0] && bytes[at + 1] === lineEnd[1])
      throw new MalformedForm('a part has no headers');
    if (end < 0) return this.#hold(bytes, at);
    this.#headsBytes += end - at;
    if (this.#headsBytes > headsBytesMax)
      throw new MalformedForm(`the heads of its parts are longer than ${headsBytesMax} bytes together`);
    this.#sink = this.#openPart(parsePartHead(bytes.toString('utf8', at, end)));
    this.#state = 'first bytes';
    return end + lineEnd.length;
  }

  /** Skips the empty line behind a head. In an empty part it is also the line break of the next delimiter. */
  #readFirstBytes(bytes: Buffer, at: number): number {
    const end = at + this.#delimiter.length;
    if (bytes.length < end) return this.#hold(bytes, at);
    if (bytes.compare(this.#delimiter, 0, undefined, at, end) === 0) return this.#endPart(at);
    this.#state = 'part';
    return at + lineEnd.length;
  }
}
