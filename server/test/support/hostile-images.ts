// The corpus of hostile and odd images, made afresh by each run. Every entry says how it must end; what it is
// called never matters, so all of them are called .png.
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import type { ImageRecipe } from '../../src/kernel/media/image-recipe.ts';
import {
  animation,
  avifResized,
  blankPng,
  box,
  gif,
  gifFrame,
  jpegOfScans,
  jpegResized,
  jpegSegment,
  jpegWith,
  noise,
  picture,
  png,
  pngChunk,
  u32le,
  webp,
  webpChunk,
  webpOfFrames,
} from './image-files.ts';

export interface HostileImage {
  readonly name: string;
  readonly ends: 'done' | 'refused';
  readonly make: () => Buffer | Promise<Buffer>;
  readonly recipe?: ImageRecipe;
}

type Maker = HostileImage['make'];

const thumbnail: ImageRecipe = { format: 'webp', quality: 75, width: 150, height: 150 };
const wholeZip = Buffer.concat([Buffer.from('PK\x05\x06', 'latin1'), Buffer.alloc(18)]);
const nothing = Buffer.alloc(0);

function refused(name: string, make: Maker, recipe?: ImageRecipe): HostileImage {
  return { name, ends: 'refused', make, ...(recipe && { recipe }) };
}

function done(name: string, make: Maker, recipe?: ImageRecipe): HostileImage {
  return { name, ends: 'done', make, ...(recipe && { recipe }) };
}

const formats: Record<string, Maker> = {
  jpeg: () => picture().jpeg().toBuffer(),
  'progressive jpeg': () => picture().jpeg({ progressive: true }).toBuffer(),
  png: () => picture().png().toBuffer(),
  'interlaced png': () => picture().png({ progressive: true }).toBuffer(),
  webp: () => picture().webp().toBuffer(),
  'lossless webp': () => picture().webp({ lossless: true }).toBuffer(),
  'animated webp': () => animation(4).webp().toBuffer(),
  gif: () => picture().gif().toBuffer(),
  'animated gif': () => animation(4).toBuffer(),
  avif: () => picture().avif({ effort: 0 }).toBuffer(),
};

const bombs: HostileImage[] = [
  refused('a png that claims 65000 x 65000', () => png({ width: 65_000, height: 65_000 })),
  refused('a png whose 900 megapixels are really there', () => blankPng(30_000, 30_000)),
  done('a png of 6 kB with 49 megapixels', () => blankPng(7000, 7000), thumbnail),
  refused('a png that claims a row of 2^31 - 1', () => png({ width: 2 ** 31 - 1, height: 1 })),
  refused('a png that claims no width', () => png({ width: 0, height: 10 })),
  refused('a png too wide for webp', () => blankPng(20_000, 10)),
  done('a png too wide for webp, to be shrunk', () => blankPng(20_000, 10), thumbnail),
  refused('a png wider than any side may be', () => blankPng(70_000, 10), thumbnail),
  refused('a png whose rows are missing', () => png({ width: 5000, height: 5000 })),
  refused('a gif that claims 65535 x 65535', () => gif(65_535, 65_535, [gifFrame()])),
  refused('a gif whose frame lies far outside its screen', () =>
    gif(1, 1, [gifFrame(65_000, 65_000, 500, 500)]),
  ),
  done(
    'a gif whose frame claims more than it has',
    () => gif(7000, 7000, [gifFrame(0, 0, 7000, 7000)]),
    thumbnail,
  ),
  refused('a gif of no size', () => gif(0, 0, [gifFrame(0, 0, 0, 0)])),
  refused('a webp canvas of 16777216 x 16777216', () => webp([webpChunk('VP8X', hugeCanvas())])),
  refused('a lossless webp that claims 16384 x 16384', () => webp([webpChunk('VP8L', hugeLossless())])),
  refused('an avif that claims 60000 x 60000', async () => avifResized(await make('avif'), 60_000, 60_000)),
  refused('an avif that claims 2^32 - 1 squared', async () =>
    avifResized(await make('avif'), 2 ** 32 - 1, 2 ** 32 - 1),
  ),
  refused('a jpeg that claims 65500 x 65500', async () => jpegResized(await make('jpeg'), 65_500, 65_500)),
  refused('a jpeg that claims no height', async () => jpegResized(await make('jpeg'), 100, 0)),
  done(
    'a jpeg with less than the size it claims',
    async () => jpegResized(await make('jpeg'), 7000, 7000),
    thumbnail,
  ),
];

function hugeCanvas(): Buffer {
  return Buffer.concat([Buffer.from([0x02, 0, 0, 0]), Buffer.alloc(6, 0xff)]);
}

function hugeLossless(): Buffer {
  return Buffer.concat([Buffer.from([0x2f]), Buffer.alloc(4, 0xff), noise(64)]);
}

async function make(format: string): Promise<Buffer> {
  const maker = formats[format];
  if (!maker) throw new Error(`no such format: ${format}`);
  return maker();
}

/** The last picture byte of each is gone at the latest; a png's closing chunk of 12 bytes holds none. */
const truncated: HostileImage[] = Object.keys(formats).flatMap((format) =>
  [0.02, 0.3, 0.55, 0.9].map((part) =>
    refused(`${format} cut at ${part}`, async () => {
      const whole = await make(format);
      return whole.subarray(0, Math.min(Math.ceil(whole.length * part), whole.length - 20));
    }),
  ),
);

const svgFilters = Array.from({ length: 40 }, () => '<feGaussianBlur stdDeviation="200"/>').join('');

/** Most of these are images to the library behind; none may reach it. */
const foreign: HostileImage[] = [
  refused('an empty file', () => nothing),
  refused('one byte', () => Buffer.from([0xff])),
  refused('the first three bytes of a jpeg', () => Buffer.from([0xff, 0xd8, 0xff])),
  refused('random bytes', () => noise(10_000)),
  refused('a jpeg start and then random bytes', () =>
    Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), noise(50_000)]),
  ),
  refused('zeros', () => Buffer.alloc(100_000)),
  refused('ones', () => Buffer.alloc(100_000, 0xff)),
  refused('a zip', () => wholeZip),
  refused('html', () => Buffer.from('<!doctype html><script>alert(1)</script>')),
  refused('svg', () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')),
  refused('an svg of many filters', () =>
    Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" width="5000" height="5000"><filter id="f">${svgFilters}</filter><rect width="5000" height="5000" filter="url(#f)"/></svg>`,
    ),
  ),
  refused('an svg that reads a file', () =>
    Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9" height="9"><image xlink:href="file:///etc/passwd" width="9" height="9"/></svg>',
    ),
  ),
  refused('pdf', () =>
    Buffer.from('%PDF-1.7\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n'),
  ),
  refused('tiff', () => picture().tiff().toBuffer()),
  refused('bmp', () => Buffer.concat([Buffer.from('BM'), u32le(1000), Buffer.alloc(1000)])),
  refused('ico', () => Buffer.concat([Buffer.from([0, 0, 1, 0, 1, 0, 16, 16]), Buffer.alloc(500)])),
  refused('psd', () => Buffer.concat([Buffer.from('8BPS\0\x01'), Buffer.alloc(500)])),
  refused('openexr', () => Buffer.concat([Buffer.from([0x76, 0x2f, 0x31, 0x01]), Buffer.alloc(500)])),
  refused('radiance', () => Buffer.from('#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 1\n\x01\x01\x01\x01')),
  refused('ppm', () => Buffer.from('P6 2 2 255\n............')),
  refused('fits', () => Buffer.from('SIMPLE  =                    T'.padEnd(2880))),
  refused('jpeg xl', () => Buffer.concat([Buffer.from([0xff, 0x0a]), noise(500)])),
  refused('jpeg 2000', () => Buffer.concat([box('jP  ', Buffer.from([0x0d, 0x0a, 0x87, 0x0a])), noise(500)])),
  refused('the raw format of the library behind', () =>
    Buffer.concat([Buffer.from('08f2a6b6', 'hex'), Buffer.alloc(60)]),
  ),
  refused('heic', () => Buffer.concat([box('ftyp', Buffer.from('heic\0\0\0\0mif1heic')), noise(500)])),
  refused('mp4', () => Buffer.concat([box('ftyp', Buffer.from('isom\0\0\x02\0isommp42')), noise(500)])),
  refused('an avif of one box', () => box('ftyp', Buffer.from('avif\0\0\0\0mif1avif'))),
  refused('an avif of boxes in boxes', () =>
    Buffer.concat([box('ftyp', Buffer.from('avif\0\0\0\0')), nested(500)]),
  ),
];

function nested(levels: number): Buffer {
  let inner: Buffer = nothing;
  for (let level = 0; level < levels; level += 1) inner = box('meta', Buffer.alloc(4), inner);
  return inner;
}

const polyglots: HostileImage[] = [
  done('a gif that is also a script', () => gif(1, 1, [gifComment('*/=1;alert(1);/*'), gifFrame()])),
  done('a jpeg with a zip behind', async () => Buffer.concat([await make('jpeg'), wholeZip])),
  done('a png with html behind', async () =>
    Buffer.concat([await make('png'), Buffer.from('<script>1</script>')]),
  ),
  done('a jpeg with html in a comment', async () =>
    jpegWith(await make('jpeg'), [jpegSegment(0xfe, Buffer.from('<script>alert(1)</script>'))]),
  ),
  done('a webp with a pdf behind', async () => Buffer.concat([await make('webp'), Buffer.from('%PDF-1.7')])),
];

function gifComment(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x21, 0xfe, text.length]), Buffer.from(text), Buffer.from([0])]);
}

const crowds: HostileImage[] = [
  done('a webp of 5000 frames', () => webpOfFrames(5000)),
  refused('a webp of 60000 frames', () => webpOfFrames(60_000)),
  done('a gif of 5000 frames', () =>
    gif(
      9,
      9,
      Array.from({ length: 5000 }, () => gifFrame()),
    ),
  ),
  refused('a gif of 60000 frames', () =>
    gif(
      9,
      9,
      Array.from({ length: 60_000 }, () => gifFrame()),
    ),
  ),
  refused('a gif of a million comments and no frame', () =>
    gif(
      9,
      9,
      Array.from({ length: 1_000_000 }, () => gifComment('')),
    ),
  ),
  done('a gif of 100 frames of 9 megapixels', () =>
    gif(
      3000,
      3000,
      Array.from({ length: 100 }, () => gifFrame()),
    ),
  ),
  done('a jpeg of 10000 segments', async () =>
    jpegWith(
      await make('jpeg'),
      Array.from({ length: 10_000 }, () => jpegSegment(0xe5, Buffer.from('x'))),
    ),
  ),
  refused('a jpeg of 5000 scans', async () => jpegOfScans(await make('progressive jpeg'), 5000)),
  done('a png of 20000 text chunks', () =>
    png({
      width: 9,
      height: 1,
      before: Array.from({ length: 20_000 }, () => pngChunk('tEXt', Buffer.from('a\0b'))),
    }),
  ),
  refused('a webp of a million empty chunks', () =>
    webp([
      webpChunk('VP8X', Buffer.alloc(10)),
      Buffer.concat(Array.from({ length: 1_000_000 }, () => webpChunk('JUNK', nothing))),
    ]),
  ),
];

const corrupt: HostileImage[] = [
  refused('a png with a wrong checksum on its header', async () => flipped(await make('png'), 29)),
  refused('a png with a wrong checksum on its data', async () => {
    const whole = await make('png');
    return flipped(whole, whole.length - 14);
  }),
  refused('a png with damaged data', async () => flipped(await make('png'), 5000)),
  done('a png whose colour profile unpacks to 100 MB', () =>
    png({ width: 9, height: 1, before: [packed('iCCP')] }),
  ),
  done('a png whose text unpacks to 100 MB', () => png({ width: 9, height: 1, before: [packed('zTXt')] })),
  refused('a png without its palette', () => png({ width: 9, height: 1, colour: 3 })),
  done('a jpeg with an EXIF that points at itself', async () => jpegWith(await make('jpeg'), [exifLoop()])),
  done('a jpeg with an EXIF of 65535 entries', async () => jpegWith(await make('jpeg'), [exifOf(65_535)])),
  done('a jpeg with 100 EXIFs', async () =>
    jpegWith(
      await make('jpeg'),
      Array.from({ length: 100 }, () => exifLoop()),
    ),
  ),
  done('a jpeg with a colour profile of noise', async () =>
    jpegWith(await make('jpeg'), [
      jpegSegment(0xe2, Buffer.concat([Buffer.from('ICC_PROFILE\0\x01\x01', 'latin1'), noise(3000)])),
    ]),
  ),
  refused('a jpeg without its tables', async () => withoutTables(await make('jpeg'))),
  refused('a jpeg with a second start of a larger frame', async () => secondFrame(await make('jpeg'))),
  refused('a webp whose chunk claims 4 GB', async () => stretched(await make('webp'))),
  refused('a webp inside a webp', async () => webp([await make('webp')])),
  refused('an animated webp of noise', () =>
    webp([
      webpChunk('VP8X', Buffer.from([2, 0, 0, 0, 9, 0, 0, 9, 0, 0])),
      webpChunk('ANIM', noise(6)),
      webpChunk('ANMF', noise(200)),
    ]),
  ),
  refused('a gif with damaged data', async () => flipped(await make('gif'), 5000)),
  refused('an avif with damaged data', async () => flipped(await make('avif'), 2000)),
];

function flipped(file: Buffer, offset: number): Buffer {
  const out = Buffer.from(file);
  for (let at = offset; at < Math.min(offset + 20, out.length); at += 1) out[at] = (out[at] ?? 0) ^ 0x5a;
  return out;
}

function packed(type: 'iCCP' | 'zTXt'): Buffer {
  return pngChunk(
    type,
    Buffer.concat([Buffer.from('name\0\0'), deflateSync(Buffer.alloc(100_000_000), { level: 1 })]),
  );
}

function exif(directory: Buffer): Buffer {
  return jpegSegment(0xe1, Buffer.concat([Buffer.from('Exif\0\0II*\0'), u32le(8), directory]));
}

/** One entry, an EXIF sub-directory that starts where this one does, and a next directory that does too. */
function exifLoop(): Buffer {
  return exif(Buffer.concat([Buffer.from([1, 0, 0x69, 0x87, 4, 0]), u32le(1), u32le(8), u32le(8)]));
}

function exifOf(entries: number): Buffer {
  return exif(Buffer.concat([Buffer.from([entries & 0xff, entries >> 8]), noise(20_000)]));
}

function withoutTables(file: Buffer): Buffer {
  const out = Buffer.from(file);
  for (let at = out.indexOf('ffdb', 'hex'); at >= 0; at = out.indexOf('ffdb', at + 2, 'hex'))
    out[at + 1] = 0xe9;
  return out;
}

function secondFrame(file: Buffer): Buffer {
  const frame = Buffer.from([8, 0xff, 0xdc, 0xff, 0xdc, 1, 1, 0x11, 0]);
  const scan = file.indexOf('ffda', 'hex');
  return Buffer.concat([file.subarray(0, scan), jpegSegment(0xc0, frame), file.subarray(scan)]);
}

function stretched(file: Buffer): Buffer {
  const out = Buffer.from(file);
  out.writeUInt32LE(0xffff_fff0, 16);
  return out;
}

const odd: HostileImage[] = [
  done('jpeg called png', () => make('jpeg')),
  done('interlaced png', () => make('interlaced png')),
  done('16-bit png', () => picture().toColourspace('rgb16').png().toBuffer()),
  done('1-bit png', () => blankPng(33, 17)),
  done('palette png', () => picture().png({ palette: true }).toBuffer()),
  done('grey png with alpha', () => picture(40, 30, 2).png().toBuffer()),
  done('grey jpeg', () => picture(40, 30, 1).jpeg().toBuffer()),
  done('CMYK jpeg', () => picture().toColourspace('cmyk').jpeg().toBuffer()),
  done('transparent png to jpeg', () => picture(40, 30, 4).png().toBuffer(), { format: 'jpeg', quality: 80 }),
  done('one pixel', () => picture(1, 1).png().toBuffer(), { format: 'avif', quality: 50 }),
  done('10-bit avif', () => picture().avif({ bitdepth: 10, effort: 0 }).toBuffer()),
  done('gif without its trailer', async () => (await make('gif')).subarray(0, -1)),
  done('png without its closing chunk', async () => (await make('png')).subarray(0, -12)),
  ...[1, 2, 3, 4, 5, 6, 7, 8, 99].map((orientation) =>
    done(`jpeg of orientation ${orientation}`, () => turned(orientation)),
  ),
];

async function turned(orientation: number): Promise<Buffer> {
  const entry = Buffer.concat([Buffer.from([0x12, 0x01, 3, 0]), u32le(1), u32le(orientation)]);
  return jpegWith(await make('jpeg'), [exif(Buffer.concat([Buffer.from([1, 0]), entry, u32le(0)]))]);
}

/** Honest, and many seconds of work as avif: noise, laid out as tiles because making it is slow as well. */
export async function slowImage(): Promise<Buffer> {
  const tile = await picture(500, 500).png().toBuffer();
  const canvas = { width: 7000, height: 7000, channels: 3 as const, background: '#000000' };
  return sharp({ create: canvas })
    .composite([{ input: tile, tile: true }])
    .jpeg({ quality: 90 })
    .toBuffer();
}

export const hostileImages: readonly HostileImage[] = [
  ...bombs,
  ...truncated,
  ...foreign,
  ...polyglots,
  ...crowds,
  ...corrupt,
  ...odd,
];
