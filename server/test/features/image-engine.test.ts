// The image engine with real child processes: its output, hostile images, and the lifetime of the processes.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import sharp, { type Metadata, type Sharp } from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ImageRecipe, resolveRecipe } from '../../src/kernel/media/image-recipe.ts';
import {
  createImageEngine,
  type ImageEngine,
  ImageFault,
  ImageRefused,
  ImageStarved,
} from '../../src/platform/images/image-engine.ts';
import { ImageProcess } from '../../src/platform/images/image-process.ts';
import { spawnChild } from '../support/children.ts';
import { dist } from '../support/dist.ts';
import { type HostileImage, hostileImages, slowImage } from '../support/hostile-images.ts';
import { animation, picture } from '../support/image-files.ts';
import { childrenOf, cpuSeconds, isGone, niceOfThreads, until } from '../support/processes.ts';

const plain: ImageRecipe = { format: 'webp', quality: 80 };
/** Seconds of native work that cannot be interrupted from inside. */
const slowRecipe: ImageRecipe = { format: 'avif', quality: 100 };
const onLinux = process.platform === 'linux';

let folder: string;
let goodPath: string;
let slowPath: string;
let files = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pakhus-images-'));
  goodPath = await save(await picture(400, 300).jpeg().toBuffer());
  slowPath = await save(await slowImage());
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

function childPath(): string {
  return join(dist, 'platform/images/image-child.js');
}

function engine(
  options: { concurrency?: number; timeoutSeconds?: number; pixelsMax?: number } = {},
): ImageEngine {
  const log = { warn: () => {} };
  const defaults = { concurrency: 1, timeoutSeconds: 20, pixelsMax: 50_000_000 };
  return createImageEngine({ ...defaults, ...options, log, childPath: childPath() });
}

function freshPath(): string {
  files += 1;
  return join(folder, `${files}.png`);
}

async function save(bytes: Buffer): Promise<string> {
  const path = freshPath();
  await writeFile(path, bytes);
  return path;
}

async function ending(work: Promise<unknown>): Promise<HostileImage['ends'] | 'fault'> {
  try {
    await work;
    return 'done';
  } catch (error) {
    if (error instanceof ImageRefused) return 'refused';
    if (error instanceof ImageFault) return 'fault';
    throw error;
  }
}

describe('images: hostile and odd images', () => {
  let shared: ImageEngine;
  beforeAll(() => {
    shared = engine({ concurrency: 2 });
  });
  afterAll(() => shared.close());

  it('the corpus is large, and every entry has a unique name', () => {
    expect(hostileImages.length).toBeGreaterThan(100);
    expect(new Set(hostileImages.map(({ name }) => name)).size).toBe(hostileImages.length);
  });

  it.concurrent.each(hostileImages)('$ends: $name, and the next image succeeds', async (image) => {
    const inputPath = await save(await image.make());
    const outputPath = freshPath();
    expect(await ending(shared.compress(inputPath, outputPath, image.recipe ?? plain))).toBe(image.ends);
    expect(existsSync(outputPath)).toBe(image.ends === 'done');
    expect(await shared.compress(goodPath, outputPath, plain)).toMatchObject({ width: 400, height: 300 });
    await Promise.all([rm(inputPath), rm(outputPath)]);
  });

  it('the public error says why and contains no path', async () => {
    const inputPath = await save((await picture().jpeg().toBuffer()).subarray(0, 2000));
    const failure = await shared.compress(inputPath, freshPath(), plain).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ImageRefused);
    expect(failure).toMatchObject({ message: 'The image is damaged or cut short' });
    const missing = await shared
      .compress('/nowhere/in.png', freshPath(), plain)
      .catch((error: unknown) => error);
    expect(missing).toBeInstanceOf(ImageFault);
    expect(missing).toMatchObject({ message: 'The image could not be read or written' });
  });

  it('a folder that is not writable is reported as a fault of the service, not of the image', async () => {
    await expect(shared.compress(goodPath, join(folder, 'no/such/out'), plain)).rejects.toThrow(ImageFault);
  });
});

describe('images: output', () => {
  let shared: ImageEngine;
  beforeAll(() => {
    shared = engine({ concurrency: 2 });
  });
  afterAll(() => shared.close());

  async function compress(
    input: Buffer,
    recipe: ImageRecipe,
  ): Promise<{ bytes: Buffer; metadata: Metadata }> {
    const outputPath = freshPath();
    const result = await shared.compress(await save(input), outputPath, recipe);
    const bytes = await readFile(outputPath);
    const metadata = await sharp(bytes).metadata();
    const { width, height } = metadata;
    expect(result).toEqual({ bytes: bytes.length, format: recipe.format, width, height });
    return { bytes, metadata };
  }

  /** The mean colour of a small area, which lossy formats hardly change. */
  async function colourAt(bytes: Buffer, left: number, top: number): Promise<number[]> {
    const part = sharp(bytes).extract({ left, top, width: 8, height: 8 });
    const { data, info } = await part.raw().toBuffer({ resolveWithObject: true });
    const sums = Array.from({ length: info.channels }, () => 0);
    for (const [index, value] of data.entries())
      sums[index % info.channels] = (sums[index % info.channels] ?? 0) + value;
    return sums.map((sum) => Math.round(sum / 64));
  }

  function expectColour(actual: number[], expected: number[], tolerance = 6): void {
    for (const [channel, value] of expected.entries()) {
      const off = Math.abs((actual[channel] ?? Number.NaN) - value);
      expect(off, `${actual} against ${expected}`).toBeLessThanOrEqual(tolerance);
    }
  }

  function flat(background: string, width = 64, height = 64): Sharp {
    return sharp({ create: { width, height, channels: 3, background } });
  }

  it.each([
    ['thumbnail', 2400, 1600, 150, 100],
    ['thumbnail', 1600, 2400, 100, 150],
    ['thumbnail', 100, 50, 100, 50],
    ['medium', 2400, 1600, 800, 533],
    ['medium', 640, 480, 640, 480],
    ['large', 2400, 1600, 1920, 1280],
    ['large', 1000, 2000, 1000, 2000],
    ['original', 1300, 700, 1300, 700],
  ] as const)(
    'preset %s of %i x %i is %i x %i in webp',
    async (preset, width, height, outWidth, outHeight) => {
      const input = await flat('#336699', width, height).jpeg().toBuffer();
      const { metadata } = await compress(input, resolveRecipe({ preset }));
      expect(metadata).toMatchObject({ format: 'webp', width: outWidth, height: outHeight });
    },
  );

  it.each([
    [{ width: 200 }, 200, 100],
    [{ height: 50 }, 100, 50],
    [{ width: 200, height: 20 }, 40, 20],
    [{ width: 4000, height: 4000 }, 400, 200],
    [{ width: 1 }, 1, 1],
  ])('a box of %o holds 400 x 200 as %i x %i', async (box, outWidth, outHeight) => {
    const input = await flat('#336699', 400, 200).png().toBuffer();
    const { metadata } = await compress(input, { format: 'png', quality: 80, ...box });
    expect(metadata).toMatchObject({ format: 'png', width: outWidth, height: outHeight });
  });

  it.each([
    ['webp', 'webp'],
    ['jpeg', 'jpeg'],
    ['png', 'png'],
    ['avif', 'heif'],
  ] as const)('%s can be written from every format that is read', async (format, decoder) => {
    for (const source of ['jpeg', 'png', 'webp', 'gif', 'avif'] as const) {
      const input = await flat('#c04020').toFormat(source).toBuffer();
      const { bytes, metadata } = await compress(input, { format, quality: 80 });
      expect(metadata.format).toBe(decoder);
      expectColour(await colourAt(bytes, 20, 20), [0xc0, 0x40, 0x20]);
    }
  });

  it('a lower quality gives a smaller file', async () => {
    const input = await picture(300, 300).png().toBuffer();
    for (const format of ['webp', 'jpeg', 'avif'] as const) {
      const [low, high] = [
        await compress(input, { format, quality: 20 }),
        await compress(input, { format, quality: 95 }),
      ];
      expect(low.bytes.length).toBeLessThan(high.bytes.length / 2);
    }
  });

  it('png is lossless at any quality', async () => {
    const input = await picture(50, 40, 4).png().toBuffer();
    const { bytes } = await compress(input, { format: 'png', quality: 1 });
    expect(await sharp(bytes).raw().toBuffer()).toEqual(await sharp(input).raw().toBuffer());
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])('EXIF orientation %i is applied and removed', async (orientation) => {
    const corner = await flat('#ff0000', 32, 32).png().toBuffer();
    const stored = await flat('#0000ff', 96, 64)
      .composite([{ input: corner, left: 0, top: 0 }])
      .png()
      .toBuffer();
    const input = await sharp(stored).withMetadata({ orientation }).jpeg({ quality: 95 }).toBuffer();
    const { bytes, metadata } = await compress(input, plain);
    expect([metadata.width, metadata.height]).toEqual(orientation < 5 ? [96, 64] : [64, 96]);
    expect(metadata.orientation).toBeUndefined();
    const right = [2, 3, 6, 7].includes(orientation);
    const bottom = [3, 4, 7, 8].includes(orientation);
    const left = right ? metadata.width - 20 : 12;
    expectColour(await colourAt(bytes, left, bottom ? metadata.height - 20 : 12), [255, 0, 0], 12);
  });

  it('the bounding box applies to the upright image', async () => {
    const input = await flat('#336699', 400, 200).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    const { metadata } = await compress(input, { ...plain, width: 100 });
    expect([metadata.width, metadata.height]).toEqual([100, 200]);
  });

  it.each(['webp', 'jpeg', 'png', 'avif'] as const)(
    'nothing of the metadata is left in %s',
    async (format) => {
      const input = await flat('#336699')
        .jpeg()
        .withExif({ IFD0: { Copyright: 'SECRET-OWNER' }, IFD3: { GPSLatitude: '51/1 30/1 3230/100' } })
        .withXmp('<x:xmpmeta xmlns:x="adobe:ns:meta/">SECRET-XMP</x:xmpmeta>')
        .withIccProfile('p3')
        .toBuffer();
      expect(input.includes('SECRET-OWNER') && input.includes('SECRET-XMP')).toBe(true);
      const { bytes, metadata } = await compress(input, { format, quality: 80 });
      expect(bytes.includes('SECRET')).toBe(false);
      expect([metadata.exif, metadata.xmp, metadata.iptc, metadata.icc]).toEqual([
        undefined,
        undefined,
        undefined,
        undefined,
      ]);
    },
  );

  it('a wide-gamut colour profile is converted, not dropped', async () => {
    const input = await flat('#c04020').withIccProfile('p3').png().toBuffer();
    // The stored values must differ from sRGB, or this would prove nothing.
    expectColour(await rawColour(input), [178, 73, 45], 3);
    expectColour(await colourAt((await compress(input, plain)).bytes, 20, 20), [0xc0, 0x40, 0x20]);
  });

  async function rawColour(bytes: Buffer): Promise<number[]> {
    const raw = await sharp(bytes, { ignoreIcc: true }).raw().toBuffer();
    return [...raw.subarray(0, 3)];
  }

  it.each([true, false])('a CMYK jpeg keeps its colours (with a profile: %s)', async (hasProfile) => {
    const colours: [string, number[]][] = [
      ['#ffffff', [255, 255, 255]],
      ['#b08060', [0xb0, 0x80, 0x60]],
    ];
    for (const [background, expected] of colours) {
      const cmyk = flat(background).toColourspace('cmyk').jpeg({ quality: 95 });
      const input = await (hasProfile ? cmyk.withIccProfile('cmyk') : cmyk).toBuffer();
      expect(await sharp(input).metadata()).toMatchObject({ space: 'cmyk', hasProfile });
      const { bytes, metadata } = await compress(input, { format: 'png', quality: 80 });
      expect(metadata).toMatchObject({ space: 'srgb', channels: 3 });
      // The conversion to CMYK itself loses up to 15; inverted inks or a dropped profile are further off.
      expectColour(await colourAt(bytes, 20, 20), expected, 16);
    }
  });

  it('transparency is kept, except in jpeg, where it becomes white', async () => {
    const clear = { r: 0, g: 0, b: 0, alpha: 0 };
    const input = await sharp({ create: { width: 64, height: 64, channels: 4, background: clear } })
      .png()
      .toBuffer();
    for (const format of ['webp', 'png', 'avif'] as const) {
      const { metadata, bytes } = await compress(input, { format, quality: 80 });
      expect(metadata.hasAlpha).toBe(true);
      expect((await colourAt(bytes, 20, 20))[3]).toBe(0);
    }
    const { bytes } = await compress(input, { format: 'jpeg', quality: 80 });
    expectColour(await colourAt(bytes, 20, 20), [255, 255, 255], 1);
  });

  it.each(['gif', 'webp'] as const)(
    'an animated %s keeps its frames and their times in webp',
    async (source) => {
      const input = await animation(6, 60, 40, 70).toFormat(source).toBuffer();
      const { metadata } = await compress(input, { ...plain, width: 30 });
      expect(metadata).toMatchObject({ format: 'webp', pages: 6, width: 30, height: 20, loop: 0 });
      expect(metadata.delay).toEqual([70, 70, 70, 70, 70, 70]);
      const still = await compress(input, { format: 'png', quality: 80 });
      expect([still.metadata.width, still.metadata.height]).toEqual([60, 40]);
    },
  );

  it('an animation with too many frames or total pixels is reduced to its first frame', async () => {
    const kept = await compress(await animation(256, 4, 4).toBuffer(), plain);
    expect(kept.metadata.pages).toBe(256);
    const long = await compress(await animation(257, 4, 4).toBuffer(), plain);
    expect(long.metadata.pages ?? 1).toBe(1);
    const small = engine({ pixelsMax: 1000 });
    const outputPath = freshPath();
    await small.compress(await save(await animation(6, 20, 10).toBuffer()), outputPath, plain);
    expect((await sharp(outputPath).metadata()).pages ?? 1).toBe(1);
    await small.close();
  });
});

describe('images: limits, scheduling and shutdown', () => {
  it('an image over the pixel limit is refused with both numbers in the message', async () => {
    const own = engine({ pixelsMax: 100_000 });
    await expect(own.compress(goodPath, freshPath(), plain)).rejects.toThrow(
      new ImageRefused('The image has 400 x 300 pixels, more than the 100000 allowed'),
    );
    await own.close();
  });

  it('a job over the time limit is killed and leaves no output', async () => {
    const own = engine({ timeoutSeconds: 4 });
    const outputPath = freshPath();
    await expect(own.compress(slowPath, outputPath, slowRecipe)).rejects.toThrow(
      new ImageFault('The image took longer than 4 seconds'),
    );
    expect(existsSync(outputPath)).toBe(false);
    expect(await own.compress(goodPath, outputPath, plain)).toMatchObject({ width: 400 });
    await own.close();
  });

  it.runIf(onLinux)(
    'an image that gets no CPU for longer than its limit is finished once it does',
    async () => {
      const limitMs = 2_000;
      const own = engine({ timeoutSeconds: limitMs / 1000 });
      let over = false;
      const work = own.compress(goodPath, freshPath(), plain).finally(() => {
        over = true;
      });
      const pid = await onlyChild();
      process.kill(pid, 'SIGSTOP');
      const stoppedAt = Date.now();
      await until('the limit has passed', async () => Date.now() - stoppedAt > limitMs * 1.5);
      expect(over).toBe(false);
      process.kill(pid, 'SIGCONT');
      expect(await work).toMatchObject({ width: 400 });
      await own.close();
    },
  );

  it.runIf(onLinux)('an image that never gets any CPU is given up without blaming the image', async () => {
    const own = engine({ timeoutSeconds: 1 });
    const work = own.compress(goodPath, freshPath(), plain).catch((error: unknown) => error);
    process.kill(await onlyChild(), 'SIGSTOP');
    expect(await work).toBeInstanceOf(ImageStarved);
    await own.close();
  });

  it.runIf(onLinux)('an image that blocks for ever is given up and blamed', async () => {
    const own = engine({ timeoutSeconds: 1 });
    const pipe = freshPath();
    await promisify(execFile)('mkfifo', [pipe]);
    const error = await own.compress(pipe, freshPath(), plain).catch((reason: unknown) => reason);
    expect(error).toEqual(new ImageFault('The image took longer than 1 seconds'));
    expect(error).not.toBeInstanceOf(ImageStarved);
    await own.close();
  });

  const onlyChild = () =>
    until('the child', async () => (await childrenOf(process.pid, 'image-child.js')).at(-1));

  it('an exclusive image waits for the jobs before it, and later jobs wait for it', async () => {
    const own = engine({ concurrency: 3 });
    const order: string[] = [];
    const compress = (name: string, whenAlone?: () => Promise<void>) =>
      own.compress(goodPath, freshPath(), plain, undefined, whenAlone).then(() => order.push(name));
    const jobs = [compress('before'), compress('before')];
    let letGo: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    jobs.push(
      compress('alone', async () => {
        // Lets the jobs before this one report their end first.
        await setImmediate();
        order.push('begins alone');
        await held;
      }),
      compress('behind'),
    );
    await until('the lone one begins', async () => order.includes('begins alone'));
    expect(order).toEqual(['before', 'before', 'begins alone']);
    letGo();
    await Promise.all(jobs);
    expect(order.slice(3)).toEqual(['alone', 'behind']);
    await own.close();
  });

  it('an abort stops a running job and a waiting job with the given reason', async () => {
    const own = engine();
    const [first, second] = [new AbortController(), new AbortController()];
    const running = own.compress(slowPath, freshPath(), slowRecipe, first.signal);
    const waiting = own.compress(goodPath, freshPath(), plain, second.signal);
    second.abort(new Error('no longer wanted'));
    await expect(waiting).rejects.toThrow('no longer wanted');
    first.abort(new Error('given up'));
    await expect(running).rejects.toThrow('given up');
    await expect(own.compress(goodPath, freshPath(), plain, first.signal)).rejects.toThrow('given up');
    expect(await own.compress(goodPath, freshPath(), plain)).toMatchObject({ width: 400 });
    await own.close();
  });

  it('close fails waiting, running and later jobs', async () => {
    const own = engine();
    const work = [slowPath, goodPath].map((path) => own.compress(path, freshPath(), slowRecipe));
    const endings = Promise.allSettled(work);
    await own.close();
    for (const end of await endings) expect(end).toMatchObject({ reason: expect.any(ImageFault) });
    await expect(own.compress(goodPath, freshPath(), plain)).rejects.toThrow(ImageFault);
  });

  it('a missing program is reported as a fault', async () => {
    const log = { warn: () => {} };
    const options = { concurrency: 1, timeoutSeconds: 5, pixelsMax: 1_000_000, log };
    const own = createImageEngine({ ...options, childPath: join(folder, 'absent.js') });
    await expect(own.compress(goodPath, freshPath(), plain)).rejects.toThrow(/ended early \(exit code 1\)/);
    await own.close();
  });
});

describe.runIf(onLinux)('images: child processes', () => {
  function children(): Promise<number[]> {
    return childrenOf(process.pid, 'image-child.js');
  }

  /** After startup, in the middle of native work. */
  async function workingChild(parent = process.pid): Promise<number> {
    return until('a child that works', async () => {
      const [pid] = await childrenOf(parent, 'image-child.js');
      return pid !== undefined && (await cpuSeconds(pid)) > 0.6 && pid;
    });
  }

  it('start on demand, are reused, never exceed the limit, and are gone after close', async () => {
    const own = engine({ concurrency: 2 });
    expect(await children()).toEqual([]);
    await own.compress(goodPath, freshPath(), plain);
    const [first] = await children();
    await own.compress(goodPath, freshPath(), plain);
    expect(await children()).toEqual([first]);
    let most = 0;
    const jobs = Array.from({ length: 12 }, async () => {
      await own.compress(goodPath, freshPath(), plain);
      most = Math.max(most, (await children()).length);
    });
    await Promise.all(jobs);
    expect(most).toBe(2);
    await own.close();
    expect(await children()).toEqual([]);
  });

  it('carry no decoder state from a refused image to the next', async () => {
    const own = engine();
    await own.compress(goodPath, freshPath(), plain);
    const before = await children();
    const foreign = await save(Buffer.from('not an image, and no decoder was asked'));
    await expect(own.compress(foreign, freshPath(), plain)).rejects.toThrow(ImageRefused);
    expect(await children()).toEqual(before);
    const cut = await save((await picture().png().toBuffer()).subarray(0, 3000));
    await expect(own.compress(cut, freshPath(), plain)).rejects.toThrow(ImageRefused);
    await own.compress(goodPath, freshPath(), plain);
    expect(await children()).not.toEqual(before);
    await own.close();
  });

  it('fail only their own job when they are killed', async () => {
    const own = engine({ concurrency: 2 });
    const doomed = own.compress(slowPath, freshPath(), slowRecipe);
    const ended = expect(doomed).rejects.toThrow(/ended early \(SIGKILL\)/);
    process.kill(await workingChild(), 'SIGKILL');
    const other = own.compress(goodPath, freshPath(), plain);
    await ended;
    expect(await other).toMatchObject({ width: 400 });
    expect(await own.compress(goodPath, freshPath(), plain)).toMatchObject({ width: 400 });
    await own.close();
  });

  it('run at low priority, inherit no secret, and have a memory limit', async () => {
    process.env.IMAGE_TEST_SECRET = 'hunter2';
    const own = engine();
    await own.compress(goodPath, freshPath(), plain);
    const [pid = 0] = await children();
    expect(new Set(await niceOfThreads(pid))).toEqual(new Set([10]));
    expect(await readFile(`/proc/${pid}/environ`, 'latin1')).not.toContain('hunter2');
    const limits = await readFile(`/proc/${pid}/limits`, 'latin1');
    const bytesMax = Number(/Max address space\s+(\d+)/.exec(limits)?.[1]);
    expect(bytesMax).toBeGreaterThan(2 * 1024 ** 3);
    expect(bytesMax).toBeLessThan(3.5 * 1024 ** 3);
    expect(limits).toMatch(/Max core file size\s+0\s/);
    await own.close();
    delete process.env.IMAGE_TEST_SECRET;
  });

  it('report a fault when they run out of memory', async () => {
    // Enough memory for a tiny image, not for one of 49 million pixels.
    const small = new ImageProcess(childPath(), 0);
    const job = { inputPath: slowPath, outputPath: freshPath(), recipe: slowRecipe, pixelsMax: 50_000_000 };
    const message = 'The image needs more memory than it may have';
    expect(await small.run(job, 20)).toMatchObject({ kind: 'fault', message });
    small.kill();
    await small.ended;
  });

  it('ignore a signal to the whole process group: their parent decides', async () => {
    const own = engine();
    const work = own.compress(slowPath, freshPath(), { ...plain, width: 1600 });
    const pid = await workingChild();
    process.kill(pid, 'SIGTERM');
    process.kill(pid, 'SIGINT');
    expect(await work).toMatchObject({ width: 1600 });
    await own.close();
  });

  it('do not outlive a killed parent, even in the middle of native work', async () => {
    const script = `
      import { createImageEngine } from ${JSON.stringify(join(dist, 'platform/images/image-engine.js'))};
      const log = { warn() {} };
      const engine = createImageEngine({ concurrency: 1, timeoutSeconds: 60, pixelsMax: 5e7, log });
      await engine.compress(${JSON.stringify(slowPath)}, ${JSON.stringify(freshPath())}, ${JSON.stringify(slowRecipe)});
    `;
    const parent = spawnChild(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' });
    const pid = await workingChild(parent.pid);
    parent.kill('SIGKILL');
    await until('the child is gone', () => isGone(pid));
  });
});
