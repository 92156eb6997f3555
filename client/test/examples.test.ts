// The examples work: the pages in real browsers, the scripts in Node, against a real service.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildIfStale } from '../../scripts/build.mjs';
import { browsersFor, withPage } from '../../server/test/support/browser.ts';
import { freePort } from '../../server/test/support/ports.ts';
import { startTcpProxy, type TcpProxy } from '../../server/test/support/tcp-proxy.ts';
import { serve } from './support/served.ts';

const run = promisify(execFile);
const examples = fileURLToPath(new URL('../examples', import.meta.url));
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const served = serve();
let folder: string;

beforeAll(async () => {
  await buildIfStale('client');
  folder = await mkdtemp(join(tmpdir(), 'pakhus-examples-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Programs of the examples get their settings like this. */
const environment = (more: Record<string, string> = {}) => ({
  ...process.env,
  TMPDIR: folder,
  PAKHUS_URL: served.baseUrl,
  PAKHUS_KEY: served.key,
  ...more,
});

describe('mirror-folder.mjs', () => {
  const mirror = async (source: string) => {
    const args = [join(examples, 'mirror-folder.mjs'), source, 'mirrored', 'backup'];
    const { stdout } = await run(process.execPath, args, { env: environment() });
    return stdout.trim().split('\n').at(-1);
  };

  test('uploads what is new or changed, once, and skips the rest', async () => {
    const { files } = served.client.user('mirrored');
    const list = async () => {
      const found: Record<string, string | null> = {};
      for await (const file of files.list()) found[`${file.folder}/${file.name}`] = file.sha256;
      return found;
    };
    const source = join(folder, 'source');
    const contents: Record<string, Buffer> = {
      'a.txt': Buffer.from('first'),
      'empty "%".bin': Buffer.alloc(0),
      'deep/er/große.bin': randomBytes(5 << 20),
      'deep/5%22 "b" \\.txt': Buffer.from('b'),
    };
    const expected = () =>
      Object.fromEntries(Object.entries(contents).map(([path, bytes]) => [`backup/${path}`, sha256(bytes)]));
    await served.client.users.create({ externalId: 'mirrored' });
    await mkdir(join(source, 'deep', 'er'), { recursive: true });
    for (const [path, bytes] of Object.entries(contents)) await writeFile(join(source, path), bytes);

    expect(await mirror(source)).toBe('4 uploaded, 0 skipped');
    expect(await list()).toEqual(expected());
    // Of the same size.
    contents['a.txt'] = Buffer.from('other');
    await writeFile(join(source, 'a.txt'), contents['a.txt']);
    expect(await mirror(source)).toBe('1 uploaded, 3 skipped');
    expect(await list()).toEqual(expected());
  });
});

const browsers = browsersFor('the examples');
if (browsers.length === 0) test.skip('the pages need a browser', () => undefined);

describe.skipIf(browsers.length === 0)('the pages', () => {
  /** A name that a careless page would run as code. */
  const name = "<img src=x onerror=document.title='run'>.bin";
  const content = randomBytes((9 << 20) + 17);
  const fileBytesMax = 10 << 20;
  const pages: Record<string, string> = {};
  const backEnds: ChildProcess[] = [];
  let proxy: TcpProxy;

  beforeAll(async () => {
    proxy = await startTcpProxy({ host: '127.0.0.1', port: Number(new URL(served.baseUrl).port) });
    const { client } = served;
    const { id } = await client.project.plans.create({
      name: 'small',
      maxFileSize: fileBytesMax,
      storageLimit: 1e9,
    });
    await client.user('anna').assignPlan(id);
    await writeFile(join(folder, name), content);
    await writeFile(join(folder, 'large.bin'), Buffer.alloc(fileBytesMax + 1));
    await start('back-end');
    for (const example of ['react', 'uppy']) {
      const outDir = join(folder, example);
      await build({ root: join(examples, example), logLevel: 'error', build: { outDir } });
      await start(example, outDir);
    }
  });
  afterAll(async () => {
    for (const backEnd of backEnds) backEnd.kill();
    await proxy?.close();
  });

  async function start(example: string, ...page: string[]) {
    const port = String(await freePort());
    const origin = `http://127.0.0.1:${port}`;
    const setUp = join(examples, 'back-end', 'set-up.mjs');
    const { stdout } = await run(process.execPath, [setUp], { env: environment({ ORIGIN: origin }) });
    const PAKHUS_URL = `http://127.0.0.1:${proxy.port}`;
    const backEnd = spawn(process.execPath, [join(examples, 'back-end', 'server.mjs'), ...page], {
      env: environment({ PAKHUS_URL, PAKHUS_KEY: stdout.trim(), PORT: port }),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    backEnds.push(backEnd);
    await once(backEnd.stdout, 'data');
    pages[example] = origin;
  }

  test.each(browsers)('upload, pause, resume and show errors in $name', async (browser) => {
    await withPage(async (page) => {
      for (const [example, origin] of Object.entries(pages)) {
        const held = proxy.hold('PATCH /');
        await page.goto(origin);
        const uploads = page.getByRole('list', { name: 'Uploads' });
        const picker = page.getByLabel('Add files').and(page.locator(':enabled'));
        await picker.setInputFiles(join(folder, name));
        await expect.poll(held.held, { message: example }).toBeGreaterThan(0);
        await uploads.getByRole('button', { name: 'Pause' }).click();
        const resume = uploads.getByRole('button', { name: 'Resume' });
        await resume.waitFor();
        held.letGo();
        await resume.click();
        if (example === 'uppy') await uploads.getByText('Stored').waitFor();
        else {
          await uploads.getByText(name).waitFor({ state: 'detached' });
          await page.getByRole('cell', { name }).first().waitFor();
        }

        await picker.setInputFiles(join(folder, 'large.bin'));
        await uploads.getByText('A file may have at most').waitFor();
        expect(await page.title()).not.toBe('run');
      }
    }, browser);
    const { files } = await served.client.user('anna').files.list().page();
    expect(files.map((file) => [file.name, file.sha256])).toEqual(files.map(() => [name, sha256(content)]));
    expect(files.length % 3).toBe(0);
  });
});
