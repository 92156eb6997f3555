// How long files are kept: --expires and --retain of put, cp and sync, against the real service.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { useService } from './support/service.ts';

const service = useService();
const soon = '2098-01-01T00:00:00.000Z';
const late = '2099-01-01T00:00:00.000Z';
let user: string;
let folder: string;
let counter = 0;

beforeEach(async () => {
  user = await service.user();
  counter += 1;
  folder = join(service.folder, `keeping-${counter}`);
  await mkdir(join(folder, 'site'), { recursive: true });
  await writeFile(join(folder, 'a.txt'), 'one');
  await writeFile(join(folder, 'site', 'b.txt'), 'two');
});

const run = (words: string, input = '') => service.run(words, { cwd: folder, input });
const files = () => service.client.user(user).files;

async function keepings(): Promise<Record<string, (string | undefined)[]>> {
  const found: Record<string, (string | undefined)[]> = {};
  for await (const { name, folder: at, expires_at, retain_until } of files().list({ limit: 100 }))
    found[`${at}/${name}`] = [expires_at, retain_until];
  return found;
}

test('put gives files an end and a hold: those that it sends, from stdin too, and those that are there', async () => {
  const how = `--expires ${soon} --retain ${soon.slice(0, 10)}`;
  expect((await run(`put a.txt ${user}: ${how}`)).code).toBe(0);
  expect((await run(`put - ${user}:b.txt ${how}`, 'piped')).code).toBe(0);
  expect(await keepings()).toEqual({ '/a.txt': [soon, soon], '/b.txt': [soon, soon] });
  // The same content again: nothing is sent, and the hold becomes longer, never shorter.
  expect((await run(`put a.txt ${user}: --retain ${late}`)).code).toBe(0);
  expect((await run(`put a.txt ${user}: --retain 1d --expires ${late}`)).code).toBe(0);
  expect(await keepings()).toMatchObject({ '/a.txt': [late, late] });
  expect((await run(`put a.txt ${user}: --expires 2020-01-01`)).code).toBe(2);
});

test('a version that replaces another one goes when that would have gone', async () => {
  await run(`put a.txt ${user}: --expires ${soon}`);
  await writeFile(join(folder, 'a.txt'), 'changed');
  expect((await run(`put a.txt ${user}: --replace`)).code).toBe(0);
  expect(await keepings()).toEqual({ '/a.txt': [soon, undefined] });
});

test('cp gives copies an end and a hold, within the service and through this machine; sync an end', async () => {
  await run(`put a.txt ${user}: --expires ${soon}`);
  expect((await run(`cp ${user}:a.txt ${user}:plain.txt`)).code).toBe(0);
  expect((await run(`cp ${user}:a.txt ${user}:inside.txt --expires ${late} --retain ${late}`)).code).toBe(0);
  expect((await run(`cp ${user}:a.txt ${user}:through.txt --tag t --retain ${late}`)).code).toBe(0);
  expect((await run(`sync site ${user}:www --expires ${late}`)).code).toBe(0);
  expect(await keepings()).toEqual({
    '/a.txt': [soon, undefined],
    '/plain.txt': [undefined, undefined],
    '/inside.txt': [late, late],
    '/through.txt': [undefined, late],
    'www/b.txt': [late, undefined],
  });
  expect((await run(`sync site ${user}:www --retain 1d`)).code).toBe(2);
});

test('a hold from anybody but the owner is refused in words that help, and leaves no file', async () => {
  const { token } = await service.client.user(user).tokens.mint({ scopes: ['files:read', 'files:write'] });
  const env = { PAKHUS_KEY: token };
  const as = (words: string) => service.run(words, { cwd: folder, env });
  await run(`put a.txt ${user}:mine.txt`);
  const refusal = { code: 4, err: expect.stringMatching(/^Only the owner .* leave --retain out\n$/) };
  expect(await as('put a.txt : --retain 7d')).toMatchObject(refusal);
  expect(await as('cp :mine.txt :inside.txt --retain 7d')).toMatchObject(refusal);
  expect(await as('put a.txt :mine.txt --retain 7d')).toMatchObject(refusal);
  expect(await keepings()).toEqual({ '/mine.txt': [undefined, undefined] });
});
