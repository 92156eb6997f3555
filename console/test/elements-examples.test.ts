// @pakhus/elements as it is published, and its examples in a real browser.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serve } from '../../client/test/support/served.ts';
import { browsersFor, withPage } from '../../server/test/support/browser.ts';
import { elementsDir, type PageServer, servePages } from './elements-support.ts';

const run = promisify(execFile);
const binDir = fileURLToPath(new URL('../../node_modules/.bin', import.meta.url));
const served = serve();
let project: string;
let tarball: string;

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'pakhus-elements-package-'));
  await run('npm', ['run', 'build'], { cwd: elementsDir });
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', project], {
    cwd: elementsDir,
  });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  tarball = join(project, filename);
  await writeFile(join(project, 'package.json'), '{ "type": "module", "private": true }');
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], { cwd: project });
});
afterAll(() => rm(project, { recursive: true, force: true }));

describe('the package', () => {
  test('publint and attw find nothing', async () => {
    await run(join(binDir, 'publint'), [tarball, '--strict'], { cwd: project });
    await run(join(binDir, 'attw'), [tarball, '--profile', 'esm-only', '--no-emoji'], { cwd: project });
  });

  test('it is two small modules that need no other package', async () => {
    const lock = JSON.parse(await readFile(join(project, 'package-lock.json'), 'utf8'));
    expect(Object.keys(lock.packages)).toEqual(['', 'node_modules/@pakhus/elements']);
    await run(process.execPath, ['scripts/size.mjs'], { cwd: elementsDir });
  });

  test('TypeScript knows the element, its properties and its events', async () => {
    const options = { target: 'ES2022', lib: ['ES2022', 'DOM'], strict: true, noEmit: true, types: [] };
    const config = { compilerOptions: { ...options, module: 'NodeNext' }, files: ['use.ts'] };
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify(config));
    const compile = async (body: string) => {
      const program = `import '@pakhus/elements'; const element = document.createElement('pakhus-files'); ${body}`;
      await writeFile(join(project, 'use.ts'), program);
      return run(join(binDir, 'tsc'), ['-p', project]);
    };
    await compile(`element.token = async () => 'x'; element.view = 'grid';
      element.addEventListener('uploaded', ({ detail }) => detail.file.name.length);`);
    await expect(compile(`element.view = 'tree';`)).rejects.toThrow();
    await expect(compile(`element.addEventListener('select', (e) => e.detail.name);`)).rejects.toThrow();
  });
});

const browsers = browsersFor('the examples of the elements').slice(0, 1);
if (browsers.length === 0) test.skip('the examples need a browser', () => undefined);

describe.skipIf(browsers.length === 0)('the examples', () => {
  const examples = ['plain', 'react', 'vue'] as const;
  let pages: PageServer;
  beforeAll(async () => {
    const alias = { '@pakhus/elements': join(elementsDir, 'dist', 'index.js') };
    for (const example of examples)
      await build({
        root: join(elementsDir, 'examples', example),
        base: `/${example}/`,
        logLevel: 'error',
        resolve: { alias },
        build: {
          outDir: join(project, 'pages', example),
          target: 'es2022',
          modulePreload: { polyfill: false },
        },
      });
    const key: { value?: string } = {};
    pages = await servePages({
      folders: [join(project, 'pages')],
      service: () => served.baseUrl,
      mint: async () => {
        const { createClient } = await import('../../client/src/index.ts');
        const client = createClient({ baseUrl: served.baseUrl, key: key.value ?? '' });
        return (await client.user('anna').tokens.mint({ scopes: ['files:read', 'files:write'] })).token;
      },
    });
    const { api_key } = await served.client.project.integrations.create({
      name: 'examples',
      scopes: ['users:read', 'files:read', 'files:write'],
      corsOrigins: [pages.origin],
    });
    key.value = api_key;
  });
  afterAll(() => pages?.close());

  test.each(browsers)(
    'each shows the files, tells about an upload and loads the dialogs, in $name',
    async (browser) => {
      await withPage(async (page) => {
        const complaints: string[] = [];
        page.on('pageerror', (error) => complaints.push(error.message));
        for (const example of examples) {
          await page.goto(`${pages.origin}/${example}/`);
          const name = `${example}.txt`;
          await page
            .locator('[data-chooser="files"]')
            .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(example) });
          await page.locator('[data-index]', { hasText: name }).waitFor();
          await page.locator('output', { hasText: name }).waitFor();
          // From the second file, which the bundler has split off.
          await page.getByRole('button', { name: 'Search' }).click();
          await page.getByLabel('Search by name').waitFor();
        }
        expect(complaints).toEqual([]);
      }, browser);
      const { files } = await served.client.user('anna').files.list().page();
      expect(files.map(({ name }) => name)).toEqual(['vue.txt', 'react.txt', 'plain.txt']);
    },
  );
});
