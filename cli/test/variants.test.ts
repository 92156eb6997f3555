// Image variants: who defines them, and how their images are fetched, against the real service.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { drawImage } from '../src/demo/png.ts';
import { useService } from './support/service.ts';

const service = useService();
let folder: string;

beforeAll(async () => {
  folder = join(service.folder, 'variants');
  await mkdir(join(folder, 'out'), { recursive: true });
  await writeFile(join(folder, 'photo.png'), drawImage(40, 30, 1));
  await run('put photo.png anna:pictures/');
});

const run = (words: string, env = {}) => service.run(words, { cwd: folder, env });

test('set defines a variant and changes it, list shows it, rm deletes it', async () => {
  expect((await run('variants set tiny --width 32')).code).toBe(2);
  expect((await run('variants set tiny --format jpeg --width 32 --quality 60')).code).toBe(0);
  const changed = JSON.parse((await run('variants set tiny --width 0 --height 16 --json')).out);
  expect(changed).toMatchObject({ name: 'tiny', format: 'jpeg', width: null, height: 16, version: 2 });
  expect((await run('variants list')).out).toMatch(/^tiny +jpeg +any x 16 +inside +quality 60\n$/);
  expect((await run('variants rm tiny')).code).toBe(0);
  expect((await run('variants list')).out).toBe('');
  expect((await run('variants rm tiny')).code).toBe(3);
  expect((await run('variants set UP --format webp --width 1')).code).toBe(1);
});

test('get writes an image to a file, a folder or stdout, or prints a URL that delivers it', async () => {
  await run('variants set mini --format webp --width 8 --height 8 --fit cover');
  const url = (await run('variants get mini anna:pictures/photo.png')).out.trim();
  const image = Buffer.from(await (await fetch(url)).arrayBuffer());
  expect(image.subarray(8, 12).toString()).toBe('WEBP');
  expect((await run('variants get mini anna:pictures/photo.png -')).bytes.equals(image)).toBe(true);
  expect((await run('variants get mini anna:pictures/photo.png a.webp')).code).toBe(0);
  expect((await readFile(join(folder, 'a.webp'))).equals(image)).toBe(true);
  expect((await run('variants get mini anna:pictures/photo.png a.webp')).code).toBe(1);
  expect((await run('variants get mini anna:pictures/photo.png a.webp --force')).code).toBe(0);
  const saved = JSON.parse((await run('variants get mini anna:pictures/photo.png out --json')).out);
  expect(saved).toEqual({ path: join(folder, 'out', 'photo-mini.webp'), size: image.length });
  expect(await readdir(join(folder, 'out'))).toEqual(['photo-mini.webp']);
  const described = JSON.parse((await run('variants get mini anna:pictures/photo.png --json')).out);
  expect(described).toMatchObject({ width: 8, height: 8, size: image.length });
  expect((await run('variants get none anna:pictures/photo.png')).code).toBe(3);
  expect((await run('variants get mini anna:pictures')).code).toBe(2);
});

test('whoever may read files gets images, and only the owner defines variants', async () => {
  await run('variants set small --format png --width 4');
  const { token } = await service.client.user('anna').tokens.mint({ scopes: ['files:read'] });
  const env = { PAKHUS_KEY: token };
  expect((await run('variants get small :pictures/photo.png small.png', env)).code).toBe(0);
  expect((await run('variants list', env)).out).toContain('small');
  const refusal = { code: 4, err: expect.stringContaining('project key') };
  expect(await run('variants set small --width 5', env)).toMatchObject(refusal);
  expect(await run('variants rm small', env)).toMatchObject(refusal);
});
