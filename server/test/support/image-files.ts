// Builds image files byte by byte and takes them apart, for the hostile corpus. Validates nothing.
import { crc32, deflateSync } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';

export function u16be(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

export function u32be(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function u32le(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** Bytes that look random and are the same in every run. */
export function noise(bytes: number): Buffer {
  const out = Buffer.alloc(bytes);
  let state = 2463534242;
  for (let index = 0; index < bytes; index += 1) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    out[index] = state & 0xff;
  }
  return out;
}

/** A picture that compresses badly, so that a cut anywhere loses something. */
export function picture(width = 120, height = 90, channels: 1 | 2 | 3 | 4 = 3): Sharp {
  return sharp(noise(width * height * channels), { raw: { width, height, channels } });
}

export function pngChunk(type: string, data: Buffer, crc?: number): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  return Buffer.concat([u32be(data.length), body, u32be(crc ?? crc32(body))]);
}

export interface PngParts {
  readonly width: number;
  readonly height: number;
  readonly bitDepth?: number;
  /** 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGBA. */
  readonly colour?: number;
  readonly interlaced?: boolean;
  readonly before?: readonly Buffer[];
  /** Compressed already. */
  readonly data?: Buffer;
}

/** Claims whatever it is given; without `data` it has one grey row. */
export function png(parts: PngParts): Buffer {
  const { width, height, bitDepth = 8, colour = 0, interlaced = false, before = [], data } = parts;
  const look = Buffer.from([bitDepth, colour, 0, 0, interlaced ? 1 : 0]);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    pngChunk('IHDR', Buffer.concat([u32be(width), u32be(height), look])),
    ...before,
    pngChunk('IDAT', data ?? deflateSync(Buffer.alloc(1 + Math.min(width, 65_536)))),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** All of an image that is one bit deep and one colour: 50 megapixels weigh 6 kB. */
export function blankPng(width: number, height: number): Buffer {
  const rows = Buffer.alloc((1 + Math.ceil(width / 8)) * height);
  return png({ width, height, bitDepth: 1, data: deflateSync(rows, { level: 1 }) });
}

export function gif(width: number, height: number, blocks: readonly Buffer[]): Buffer {
  const screen = Buffer.alloc(7);
  screen.writeUInt16LE(width, 0);
  screen.writeUInt16LE(height, 2);
  screen[4] = 0x80;
  const palette = Buffer.from([0, 0, 0, 255, 255, 255]);
  return Buffer.concat([Buffer.from('GIF89a'), screen, palette, ...blocks, Buffer.from([0x3b])]);
}

/** One white pixel at any position, claiming any size. */
export function gifFrame(left = 0, top = 0, width = 1, height = 1): Buffer {
  const frame = Buffer.from([0x2c, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 0x4c, 0x01, 0]);
  frame.writeUInt16LE(left, 1);
  frame.writeUInt16LE(top, 3);
  frame.writeUInt16LE(width, 5);
  frame.writeUInt16LE(height, 7);
  return frame;
}

export function webp(chunks: readonly Buffer[]): Buffer {
  const body = Buffer.concat([Buffer.from('WEBP'), ...chunks]);
  return Buffer.concat([Buffer.from('RIFF'), u32le(body.length), body]);
}

export function webpChunk(type: string, payload: Buffer): Buffer {
  const padding = Buffer.alloc(payload.length % 2);
  return Buffer.concat([Buffer.from(type, 'latin1'), u32le(payload.length), payload, padding]);
}

export function webpChunks(file: Buffer): { type: string; bytes: Buffer }[] {
  const chunks: { type: string; bytes: Buffer }[] = [];
  for (let offset = 12; offset + 8 <= file.length; ) {
    const payload = file.readUInt32LE(offset + 4);
    const end = offset + 8 + payload + (payload % 2);
    chunks.push({ type: file.toString('latin1', offset, offset + 4), bytes: file.subarray(offset, end) });
    offset = end;
  }
  return chunks;
}

/** Black and white frames in turn, `delay` milliseconds each. */
export function animation(frames: number, width = 16, height = 12, delay = 70): Sharp {
  const page = width * height * 3;
  const pixels = Buffer.alloc(page * frames);
  for (let frame = 1; frame < frames; frame += 2) pixels.fill(255, frame * page, (frame + 1) * page);
  const raw = { width, height: height * frames, channels: 3 as const, pageHeight: height };
  const delays = Array.from({ length: frames }, () => delay);
  return sharp(pixels, { raw }).gif({ delay: delays, loop: 0 });
}

/** Frames repeated in the container alone, so that 20,000 of them cost nothing to make. */
export async function webpOfFrames(count: number): Promise<Buffer> {
  const delay = [50, 50];
  const chunks = webpChunks(await animation(2).webp({ delay, lossless: true }).toBuffer());
  const head = chunks.filter(({ type }) => type !== 'ANMF').map(({ bytes }) => bytes);
  const frames = chunks.filter(({ type }) => type === 'ANMF').map(({ bytes }) => bytes);
  return webp([
    ...head,
    ...Array.from({ length: count }, (_, index) => frames[index % 2] ?? Buffer.alloc(0)),
  ]);
}

export function jpegSegment(marker: number, payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0xff, marker]), u16be(payload.length + 2), payload]);
}

/** Puts segments right behind the start of a jpeg. */
export function jpegWith(file: Buffer, segments: readonly Buffer[]): Buffer {
  return Buffer.concat([file.subarray(0, 2), ...segments, file.subarray(2)]);
}

/** Rewrites the size in the frame header of a jpeg. */
export function jpegResized(file: Buffer, width: number, height: number): Buffer {
  const out = Buffer.from(file);
  const frame = jpegMarkers(out).find(({ marker }) => marker >= 0xc0 && marker <= 0xc2);
  if (!frame) throw new Error('no frame header');
  out.writeUInt16BE(height, frame.offset + 5);
  out.writeUInt16BE(width, frame.offset + 7);
  return out;
}

/** Repeats the last scan: each one costs a decoder a pass over the whole picture. */
export function jpegOfScans(file: Buffer, scans: number): Buffer {
  const last = jpegMarkers(file).findLast(({ marker }) => marker === 0xda);
  if (!last) throw new Error('no scan');
  const scan = file.subarray(last.offset, file.length - 2);
  const repeated = Array.from({ length: scans }, () => scan);
  return Buffer.concat([file.subarray(0, last.offset), ...repeated, file.subarray(-2)]);
}

function jpegMarkers(file: Buffer): { marker: number; offset: number }[] {
  const markers: { marker: number; offset: number }[] = [];
  for (let offset = 2; offset + 4 < file.length; ) {
    const marker = file[offset + 1] ?? 0;
    if (file[offset] === 0xff && marker >= 0xc0 && !(marker >= 0xd0 && marker <= 0xd9)) {
      markers.push({ marker, offset });
      offset += 2 + file.readUInt16BE(offset + 2);
    } else {
      offset += 1;
    }
  }
  return markers;
}

/** A box of the ISO base media format, which avif uses. */
export function box(type: string, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([u32be(body.length + 8), Buffer.from(type, 'latin1'), body]);
}

/** Rewrites every stated size in an avif. */
export function avifResized(file: Buffer, width: number, height: number): Buffer {
  const out = Buffer.from(file);
  for (let at = out.indexOf('ispe'); at >= 0; at = out.indexOf('ispe', at + 4)) {
    out.writeUInt32BE(width, at + 8);
    out.writeUInt32BE(height, at + 12);
  }
  return out;
}
