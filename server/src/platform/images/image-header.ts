// Reads format, size and frames of an image before a decoder sees it, in one pass with a small window of memory. Refuses
// images that should not reach a decoder.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

export type ImageKind = 'jpeg' | 'png' | 'webp' | 'gif' | 'avif';

export interface ImageHeader {
  readonly kind: ImageKind;
  /** Undefined for avif: its library reads the size without decoding. */
  readonly size: { readonly width: number; readonly height: number } | undefined;
  readonly frames: number;
}

/** This image can never succeed. The message is public. */
export class Refusal extends Error {}

/** Opening an animated webp takes time quadratic in its frames: 0.15 s at this bound, minutes without one. */
const framesReadMax = 10_000;
const windowBytes = 64 * 1024;
const cutShort = 'The image is damaged or cut short';
const unknownFormat = 'The file is not a jpeg, png, webp, gif or avif image';

/** Synchronous, because it runs in a child process with one job, and a promise per 1-byte block is slow. */
class FileWindow {
  readonly bytes: number;
  readonly #fd: number;
  readonly #buffer = Buffer.alloc(windowBytes);
  #start = 0;
  #length = 0;

  constructor(fd: number) {
    this.#fd = fd;
    this.bytes = fstatSync(fd).size;
  }

  /** The bytes at `offset`, valid until the next call. `length` is at most the window. */
  at(offset: number, length: number): Buffer {
    if (offset + length > this.bytes) throw new Refusal(cutShort);
    if (offset < this.#start || offset + length > this.#start + this.#length) this.#load(offset);
    if (offset + length > this.#start + this.#length) throw new Refusal(cutShort);
    return this.#buffer.subarray(offset - this.#start, offset - this.#start + length);
  }

  byte(offset: number): number {
    return this.at(offset, 1).readUInt8(0);
  }

  ascii(offset: number, length: number): string {
    return this.at(offset, length).toString('latin1');
  }

  #load(offset: number): void {
    this.#start = offset;
    this.#length = readSync(this.#fd, this.#buffer, 0, windowBytes, offset);
  }
}

export function readImageHeader(path: string): ImageHeader {
  const fd = openSync(path, 'r');
  try {
    return readHeader(new FileWindow(fd));
  } finally {
    closeSync(fd);
  }
}

/** The bytes that `refuseOtherThanImage` looks at. */
export const signatureBytes = 16;

/** Throws for a file that does not begin like an image: no need to read the rest of it. */
export function refuseOtherThanImage(head: Buffer): void {
  if (head.length === 0) throw new Refusal('The file is empty');
  if (head.length < signatureBytes || findKind(head.toString('latin1')) === null)
    throw new Refusal(unknownFormat);
}

const readers: Record<ImageKind, (file: FileWindow) => ImageHeader> = {
  jpeg: readJpeg,
  png: readPng,
  gif: readGif,
  webp: readWebp,
  avif: readAvif,
};

function readHeader(file: FileWindow): ImageHeader {
  if (file.bytes === 0) throw new Refusal('The file is empty');
  if (file.bytes < signatureBytes) throw new Refusal(unknownFormat);
  const kind = findKind(file.ascii(0, signatureBytes));
  if (kind === null) throw new Refusal(unknownFormat);
  return readers[kind](file);
}

/** By the signature alone. Other formats of the family of avif are refused when they are read. */
function findKind(head: string): ImageKind | null {
  if (head.startsWith('\xff\xd8\xff')) return 'jpeg';
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'png';
  if (head.startsWith('GIF87a') || head.startsWith('GIF89a')) return 'gif';
  if (head.startsWith('RIFF') && head.startsWith('WEBP', 8)) return 'webp';
  return head.startsWith('ftyp', 4) ? 'avif' : null;
}

function readPng(file: FileWindow): ImageHeader {
  if (file.ascii(12, 4) !== 'IHDR') throw new Refusal(cutShort);
  const ihdr = file.at(16, 8);
  return still('png', ihdr.readUInt32BE(0), ihdr.readUInt32BE(4));
}

function still(kind: ImageKind, width: number, height: number): ImageHeader {
  return { kind, size: { width, height }, frames: 1 };
}

function readJpeg(file: FileWindow): ImageHeader {
  let offset = 2;
  for (;;) {
    // Cameras leave fill bytes and some tools leave junk between segments; decoders skip both.
    if (file.byte(offset) !== 0xff || isJpegFill(file.byte(offset + 1))) {
      offset += 1;
      continue;
    }
    const marker = file.byte(offset + 1);
    if (marker === 0xda || marker === 0xd9) throw new Refusal(cutShort);
    if (isJpegFrame(marker)) {
      const frame = file.at(offset + 5, 4);
      return still('jpeg', frame.readUInt16BE(2), frame.readUInt16BE(0));
    }
    offset += isJpegAlone(marker) ? 2 : 2 + Math.max(2, file.at(offset + 2, 2).readUInt16BE(0));
  }
}

function isJpegFill(marker: number): boolean {
  return marker === 0xff || marker === 0x00;
}

function isJpegAlone(marker: number): boolean {
  return marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);
}

/** SOF0 to SOF15, among which DHT, JPG and DAC have their own meaning. */
function isJpegFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

function readGif(file: FileWindow): ImageHeader {
  const screen = file.at(6, 7);
  let width = screen.readUInt16LE(0);
  let height = screen.readUInt16LE(2);
  let offset = 13 + gifTableBytes(screen.readUInt8(4));
  let frames = 0;
  // A missing trailer after a complete block is common, and loses no picture.
  while (offset < file.bytes) {
    const block = file.byte(offset);
    if (block === 0x21) {
      offset = skipGifBlocks(file, offset + 2);
    } else if (block === 0x2c) {
      const frame = file.at(offset + 1, 9);
      width = Math.max(width, frame.readUInt16LE(0) + frame.readUInt16LE(4));
      height = Math.max(height, frame.readUInt16LE(2) + frame.readUInt16LE(6));
      offset = skipGifBlocks(file, offset + 11 + gifTableBytes(frame.readUInt8(8)));
      frames = countFrame(frames);
    } else {
      break;
    }
  }
  if (frames === 0) throw new Refusal(cutShort);
  return { kind: 'gif', size: { width, height }, frames };
}

function gifTableBytes(flags: number): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 0x07) + 1) : 0;
}

function skipGifBlocks(file: FileWindow, start: number): number {
  let offset = start;
  for (;;) {
    const bytes = file.byte(offset);
    offset += 1 + bytes;
    if (bytes === 0) return offset;
  }
}

function countFrame(frames: number): number {
  if (frames >= framesReadMax) throw new Refusal(`The image has more than ${framesReadMax} frames`);
  return frames + 1;
}

function readWebp(file: FileWindow): ImageHeader {
  const end = 8 + file.at(4, 4).readUInt32LE(0);
  if (end > file.bytes) throw new Refusal(cutShort);
  const size = readWebpSize(file);
  let frames = 0;
  let offset = 12;
  while (offset + 8 <= end) {
    if (file.ascii(offset, 4) === 'ANMF') frames = countFrame(frames);
    const payload = file.at(offset + 4, 4).readUInt32LE(0);
    offset += 8 + payload + (payload % 2);
  }
  // Some writers omit the padding of the last chunk.
  if (offset > end + 1) throw new Refusal(cutShort);
  return { kind: 'webp', size, frames: Math.max(1, frames) };
}

function readWebpSize(file: FileWindow): { width: number; height: number } {
  const chunk = file.ascii(12, 4);
  const payload = file.at(20, 10);
  if (chunk === 'VP8X') return { width: 1 + payload.readUIntLE(4, 3), height: 1 + payload.readUIntLE(7, 3) };
  if (chunk === 'VP8 ') {
    return { width: payload.readUInt16LE(6) & 0x3fff, height: payload.readUInt16LE(8) & 0x3fff };
  }
  if (chunk === 'VP8L') {
    const bits = payload.readUInt32LE(1);
    return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
  }
  throw new Refusal(cutShort);
}

function readAvif(file: FileWindow): ImageHeader {
  const bytes = Math.min(file.at(0, 4).readUInt32BE(0), 1024, file.bytes);
  const brands: string[] = file.ascii(8, Math.max(8, bytes) - 8).match(/.{4}/gs) ?? [];
  if (brands.includes('avif') || brands.includes('avis')) return { kind: 'avif', size: undefined, frames: 1 };
  if (brands.some((brand) => /^(hei|hev|mif|msf)/.test(brand))) {
    throw new Refusal('HEIC images are not supported');
  }
  throw new Refusal(unknownFormat);
}
