// The program of a child process, and the only file that knows sharp. Takes one job at a time over IPC and
// answers it. Its memory, time and priority are bounded from outside; it dies with its parent.
import sharp, { type Metadata, type Sharp, type SharpOptions } from 'sharp';
import type { ImageFormat, ImageRecipe } from '../../kernel/media/image-recipe.ts';
import { type ImageHeader, type ImageKind, Refusal, readImageHeader } from './image-header.ts';
import type { ImageJob, ImageReply, ImageReplyFailed, ImageResult } from './image-protocol.ts';

/** An animation longer than this is reduced to its first frame, as is one over the pixel cap in all. */
const framesKeptMax = 256;
/** The widest that jpeg and gif can say. A png can say 2^31, which costs a decoder one row of that. */
const inputSideMax = 65_535;
/** What each output format, or its encoder here, can hold. */
const outputSideMax: Record<ImageFormat, number> = { webp: 16_383, avif: 16_384, jpeg: 65_500, png: 65_535 };
/** Above this, png and avif are encoded with less effort, to stay within the time limit. */
const hurryPixels = 16_000_000;

const damaged = 'The image is damaged or cut short';

guardLife();
restrictDecoders();
process.on('message', (job: ImageJob) => {
  void answer(job);
});

/** Only the parent decides when a child ends; a signal to the whole group must not cut a job short. */
function guardLife(): void {
  const die = () => process.kill(process.pid, 'SIGKILL');
  // sharp works on other threads, so this is noticed in the middle of native work, which exit() would await.
  process.on('disconnect', die);
  if (!process.connected) die();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
}

/** All other formats (svg, tiff, pdf and so on) have no decoder, whatever the file is called. */
function restrictDecoders(): void {
  sharp.cache(false);
  sharp.concurrency(1);
  sharp.block({ operation: ['VipsForeignLoad'] });
  const allowed = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Heif'].map((name) => `VipsForeignLoad${name}File`);
  sharp.unblock({ operation: allowed });
}

async function answer(job: ImageJob): Promise<void> {
  process.send?.(await inspect(job));
}

async function inspect(job: ImageJob): Promise<ImageReply> {
  let header: ImageHeader;
  try {
    header = readImageHeader(job.inputPath);
    if (header.size) checkInput(header.size.width, header.size.height, job.pixelsMax);
  } catch (error) {
    return { ...explain(error), touched: false };
  }
  return compress(job, header).then(
    (result) => ({ kind: 'done', result }),
    (error: unknown) => ({ ...explain(error), touched: true }),
  );
}

async function compress(job: ImageJob, header: ImageHeader): Promise<ImageResult> {
  const { inputPath, outputPath, recipe, pixelsMax } = job;
  // `error` refuses what is cut short or undecodable: half a grey picture must not replace an original. Warnings
  // pass, such as stray bytes or a worn colour profile: too many honest files have them, and every viewer copes.
  const reading: SharpOptions = { failOn: 'error', limitInputPixels: pixelsMax };
  const metadata = await sharp(inputPath, reading).metadata();
  if (metadata.format !== toDecoderName(header.kind)) throw new Refusal(damaged);
  checkInput(metadata.width, metadata.height, pixelsMax);
  const output = outputSize(metadata, recipe);
  const animated = keepsFrames(header, metadata, job);
  const image = arrange(sharp(inputPath, { ...reading, animated }), recipe, animated);
  const written = await encode(image, recipe, output.width * output.height).toFile(outputPath);
  const height = written.pageHeight ?? written.height;
  return { bytes: written.size, format: recipe.format, width: written.width, height };
}

function toDecoderName(kind: ImageKind): string {
  return kind === 'avif' ? 'heif' : kind;
}

function checkInput(width: number, height: number, pixelsMax: number): void {
  if (width === 0 || height === 0) throw new Refusal(damaged);
  if (width * height > pixelsMax) {
    throw new Refusal(`The image has ${width} x ${height} pixels, more than the ${pixelsMax} allowed`);
  }
  if (Math.max(width, height) > inputSideMax) {
    throw new Refusal(`The image is ${width} x ${height}; a side may have ${inputSideMax} pixels`);
  }
}

/** An image that is too large for the format is refused, because shrinking it unasked would lose pixels. */
function outputSize(metadata: Metadata, recipe: ImageRecipe): { width: number; height: number } {
  const { width, height } = metadata.autoOrient;
  const filled = filledBox(recipe);
  if (filled) return filled;
  const scale = Math.min(1, (recipe.width ?? width) / width, (recipe.height ?? height) / height);
  const size = { width: Math.round(width * scale), height: Math.round(height * scale) };
  const side = Math.max(size.width, size.height);
  const sideMax = outputSideMax[recipe.format];
  if (side > sideMax)
    throw new Refusal(`A side of ${side} pixels is too long for ${recipe.format} (${sideMax})`);
  return size;
}

/** The box, if the image is enlarged or cut to fill it. */
function filledBox({ fit, width, height }: ImageRecipe): { width: number; height: number } | null {
  return fit === 'cover' && width !== undefined && height !== undefined ? { width, height } : null;
}

function keepsFrames(header: ImageHeader, metadata: Metadata, job: ImageJob): boolean {
  const frames = Math.max(header.frames, metadata.pages ?? 1);
  const animates = (header.kind === 'gif' || header.kind === 'webp') && frames > 1;
  // Filling a box may enlarge every frame.
  const box = filledBox(job.recipe) ?? { width: 0, height: 0 };
  const pixels = Math.max(metadata.width * metadata.height, box.width * box.height) * frames;
  return animates && job.recipe.format === 'webp' && frames <= framesKeptMax && pixels <= job.pixelsMax;
}

/** Colours become sRGB by way of the embedded profile and all metadata is dropped, both by sharp's default. */
function arrange(input: Sharp, recipe: ImageRecipe, animated: boolean): Sharp {
  const { width, height } = recipe;
  // Frames cannot be turned; an animation with an EXIF orientation is rarer than the viewers that heed it.
  const upright = animated ? input : input.autoOrient();
  if (width === undefined && height === undefined) return upright;
  if (filledBox(recipe)) return upright.resize(width, height, { fit: 'cover' });
  return upright.resize(width ?? null, height ?? null, { fit: 'inside', withoutEnlargement: true });
}

function encode(image: Sharp, { format, quality }: ImageRecipe, pixels: number): Sharp {
  const hurried = pixels > hurryPixels;
  if (format === 'webp') return image.webp({ quality });
  // Trellis coding takes 1.5 s instead of 0.2 for 12 megapixels and saves a sixth of the bytes.
  if (format === 'jpeg') return image.flatten({ background: '#ffffff' }).jpeg({ quality, mozjpeg: true });
  // Lossless: a palette took 26 s for 12 megapixels, and loses colours that nobody offered to lose.
  if (format === 'png') return image.png({ compressionLevel: hurried ? 6 : 9 });
  // 12 megapixels take 1 s at effort 1, 4 s at 3 and 30 s at sharp's default of 4.
  return image.avif({ quality, effort: hurried ? 1 : 3, chromaSubsampling: '4:2:0' });
}

/** Messages of decoders and encoders that concern this machine, not the image. */
const shortOfMemory = /memory|alloc|unable to encode|encoder plugin/i;
/** A decoder's own bounds, some of which it reports as a shortage of memory. */
const overLimit = /security limit/i;
const badFiles = /system error|unable to open|write error|file is missing/i;

/** A shortage of memory is a fault, which may pass; any other message of a decoder concerns the image. */
function explain(error: unknown): Omit<ImageReplyFailed, 'touched'> {
  const detail = error instanceof Error ? error.message : String(error);
  if (error instanceof Refusal) return { kind: 'refused', message: detail, detail };
  if (shortOfMemory.test(detail) && !overLimit.test(detail)) {
    return { kind: 'fault', message: 'The image needs more memory than it may have', detail };
  }
  if (badFiles.test(detail) || (error instanceof Error && 'code' in error)) {
    return { kind: 'fault', message: 'The image could not be read or written', detail };
  }
  if (/pixel limit/.test(detail))
    return { kind: 'refused', message: 'The image has too many pixels', detail };
  return { kind: 'refused', message: damaged, detail };
}
