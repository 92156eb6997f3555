// The package as it is published: packed, installed into an empty project, checked by publint and attw, and used there.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serve } from './support/served.ts';

const run = promisify(execFile);
const packageDir = fileURLToPath(new URL('..', import.meta.url));
const binDir = fileURLToPath(new URL('../../node_modules/.bin', import.meta.url));
const served = serve();
let project: string;
let tarball: string;

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'pakhus-package-'));
  await run('npm', ['run', 'build'], { cwd: packageDir });
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', project], { cwd: packageDir });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  tarball = join(project, filename);
  await writeFile(join(project, 'package.json'), '{ "type": "module", "private": true }');
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], { cwd: project });
});
afterAll(() => rm(project, { recursive: true, force: true }));

test('publint and attw find nothing', async () => {
  await run(join(binDir, 'publint'), [tarball, '--strict'], { cwd: project });
  await run(join(binDir, 'attw'), [tarball, '--profile', 'esm-only', '--no-emoji'], { cwd: project });
});

test('it needs no other package and stays small', async () => {
  const lock = JSON.parse(await readFile(join(project, 'package-lock.json'), 'utf8'));
  expect(Object.keys(lock.packages)).toEqual(['', 'node_modules/@pakhus/client']);
  await run(process.execPath, ['scripts/size.mjs'], { cwd: packageDir });
});

test('a program uses all three entries', async () => {
  const code = `
    import { createClient } from '@pakhus/client';
    import { fromPath } from '@pakhus/client/node';
    import { verifyWebhook } from '@pakhus/client/webhooks';
    const client = createClient({ baseUrl: process.env.PAKHUS_URL, key: process.env.PAKHUS_KEY });
    const file = await client.user('anna').files.upload(await fromPath('package.json'), { sha256: true });
    const refused = await verifyWebhook('{}', {}, 'whsec_c2VjcmV0').catch(({ code }) => code);
    console.log(JSON.stringify({ name: file.name, size: file.size, refused }));`;
  await writeFile(join(project, 'main.js'), code);
  const { stdout } = await run(process.execPath, ['main.js'], {
    cwd: project,
    env: { ...process.env, PAKHUS_URL: served.baseUrl, PAKHUS_KEY: served.key },
  });
  const { length } = await readFile(join(project, 'package.json'));
  expect(JSON.parse(stdout)).toEqual({ name: 'package.json', size: length, refused: 'INVALID_SIGNATURE' });
});

test('TypeScript takes its types, and refuses what the API does not know', async () => {
  const options = { target: 'ES2022', lib: ['ES2022', 'DOM'], strict: true, noEmit: true, types: [] };
  const compiler = join(binDir, 'tsc');
  await writeFile(
    join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...options, module: 'NodeNext' }, files: ['use.ts'] }),
  );
  const program = (body: string) => `import { createClient, PakhusError } from '@pakhus/client';
    const client = createClient({ baseUrl: 'http://127.0.0.1', key: 'k' });
    ${body}`;
  const right = `for await (const file of client.user('anna').files.list({ folder: 'a' })) { const n: number = file.size; void n; }
    try { await client.health(); } catch (error) {
      if (error instanceof PakhusError && error.code === 'STORAGE_LIMIT_EXCEEDED') throw error;
    }`;
  await writeFile(join(project, 'use.ts'), program(right));
  await run(compiler, ['-p', project]);
  for (const wrong of [
    `await client.user('anna').files.list({ foldr: 'a' }).page();`,
    `const error = new PakhusError('NOT_FOUND', ''); if (error.code === 'NOTHING') throw error;`,
    `(await client.user('anna').get()).name;`,
  ]) {
    await writeFile(join(project, 'use.ts'), program(wrong));
    await expect(run(compiler, ['-p', project])).rejects.toThrow();
  }
});
