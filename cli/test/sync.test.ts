// sync against the real service: what it ends in, also when it was killed in between.
import { mkdir, readdir, readFile, rm, stat, symlink, unlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { outcomeOf, startCommand } from './support/command.ts';
import { useService } from './support/service.ts';

const service = useService();
let user: string;
let folder: string;
let counter = 0;

beforeEach(async () => {
  user = await service.user();
  counter += 1;
  folder = join(service.folder, `test-${counter}`);
  await mkdir(folder);
});

const run = (words: string) => service.run(words, { cwd: folder });
const files = () => service.client.user(user).files;

async function write(path: string, content: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), content);
}

/** `folder/name size` of everything, sorted. */
async function remote(): Promise<string[]> {
  const found: string[] = [];
  for await (const { folder: at, name, size } of files().list({ limit: 100 }))
    found.push(`${at}/${name} ${size}`);
  return found.sort();
}

async function local(path: string): Promise<string[]> {
  const entries = await readdir(join(folder, path), { recursive: true, withFileTypes: true });
  const found = entries
    .filter((entry) => entry.isFile())
    .map(async ({ parentPath, name }) => {
      const full = join(parentPath, name);
      return `${full.slice(join(folder, path).length + 1)} ${await readFile(full, 'utf8')}`;
    });
  return (await Promise.all(found)).sort();
}

test('goes up and down again; a second run has nothing to do', async () => {
  await write('site/index.html', 'home');
  await write('site/img/a.txt', 'aaa');
  await write('site/img/deep/b.txt', 'bb');
  expect((await run(`sync site ${user}:www`)).err).toContain('3 files uploaded');
  expect(await remote()).toEqual(['www/img/a.txt 3', 'www/img/deep/b.txt 2', 'www/index.html 4']);
  expect((await run(`sync site ${user}:www`)).err).toContain('3 files already there');
  expect((await run(`sync ${user}:www copy`)).err).toContain('3 files downloaded');
  expect(await local('copy')).toEqual(await local('site'));
  expect((await run(`sync ${user}:www copy`)).err).toContain('3 files already there');
  expect((await run(`sync copy ${user}:www --checksum`)).err).toContain('3 files already there');
});

test('replaces what changed, deletes only with --delete, and a dry run does nothing', async () => {
  await write('site/a.txt', 'old');
  await write('site/gone/b.txt', 'gone');
  await run(`sync site ${user}:www --tag kept`);
  await write('site/a.txt', 'new content');
  await write('site/c.txt', 'added');
  await rm(join(folder, 'site/gone'), { recursive: true });
  const dry = await run(`sync --delete --dry-run site ${user}:www`);
  expect(dry.out.trim().split('\n')).toEqual([
    `upload ${user}:www/a.txt`,
    `upload ${user}:www/c.txt`,
    `delete ${user}:www/gone/b.txt`,
  ]);
  expect(await remote()).toEqual(['www/a.txt 3', 'www/gone/b.txt 4']);
  await run(`sync site ${user}:www`);
  expect(await remote()).toEqual(['www/a.txt 11', 'www/c.txt 5', 'www/gone/b.txt 4']);
  const [a] = (
    await files()
      .list({ tags: ['kept'], folder: 'www' })
      .page()
  ).files;
  expect(a).toMatchObject({ name: 'a.txt', size: 11 });
  await run(`sync --delete site ${user}:www`);
  expect(await remote()).toEqual(['www/a.txt 11', 'www/c.txt 5']);
});

test('downwards too, with the folders that become empty', async () => {
  await write('site/a.txt', 'a');
  await run(`sync site ${user}:www`);
  await write('copy/a.txt', 'b');
  await write('copy/old/deep/x.txt', 'x');
  await run(`sync ${user}:www copy`);
  expect(await local('copy')).toEqual(['a.txt a', 'old/deep/x.txt x']);
  await run(`sync --delete ${user}:www copy`);
  expect(await readdir(join(folder, 'copy'))).toEqual(['a.txt']);
});

test('same size and other content is found by time, same content by digest', async () => {
  await write('site/a.txt', 'aaa');
  await run(`sync site ${user}:www`);
  await write('site/a.txt', 'bbb');
  await utimes(join(folder, 'site/a.txt'), new Date(), new Date('2020-01-01'));
  await run(`sync site ${user}:www`);
  await run(`sync ${user}:www copy`);
  expect(await local('copy')).toEqual(['a.txt bbb']);
  // Only the time differs: no bytes are sent, and the time is corrected.
  await utimes(join(folder, 'site/a.txt'), new Date(), new Date('2021-01-01'));
  expect((await run(`sync site ${user}:www`)).err).toContain('1 file given the right time');
  expect((await run(`sync site ${user}:www`)).err).toContain('1 file already there');
  await run(`sync ${user}:www copy`);
  expect((await stat(join(folder, 'copy/a.txt'))).mtime.toISOString()).toBe('2021-01-01T00:00:00.000Z');
  // Neither size nor time tells.
  await write('copy/a.txt', 'ccc');
  await utimes(join(folder, 'copy/a.txt'), new Date(), new Date('2021-01-01'));
  expect((await run(`sync ${user}:www copy`)).err).toContain('1 file already there');
  await run(`sync --checksum ${user}:www copy`);
  expect(await local('copy')).toEqual(['a.txt bbb']);
});

test('an old version that a crash left beside its replacement is deleted, other namesakes only with --delete', async () => {
  await write('site/a.txt', 'new');
  const upload = (content: string, metadata: Record<string, unknown> = {}) =>
    files().upload(content, { folder: 'www', name: 'a.txt', metadata });
  await upload('a namesake');
  const { id } = await upload('old version');
  await upload('new', { replaces: id });
  await run(`sync site ${user}:www`);
  expect(await remote()).toEqual(['www/a.txt 10', 'www/a.txt 3']);
  await run(`sync --delete site ${user}:www`);
  expect(await remote()).toEqual(['www/a.txt 3']);
});

test('an empty source deletes nothing unless told so, and failures keep everything', async () => {
  await files().upload('x', { folder: 'www', name: 'a.txt' });
  await mkdir(join(folder, 'empty'));
  const refused = await run(`sync --delete empty ${user}:www`);
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('add --yes')]);
  await write('bad/blank ', 'cannot be stored');
  const failed = await run(`sync --delete bad ${user}:www`);
  expect([failed.code, failed.err]).toEqual([1, expect.stringContaining('Nothing was deleted')]);
  expect(await remote()).toEqual(['www/a.txt 1']);
  expect((await run(`sync nowhere ${user}:www`)).code).toBe(3);
  expect((await run('sync a b')).code).toBe(2);
  await run(`sync --delete --yes empty ${user}:www`);
  expect(await remote()).toEqual([]);
});

test('links are skipped, and are never written through', async () => {
  await write('site/a.txt', 'a');
  await write('outside.txt', 'untouched');
  await symlink('../outside.txt', join(folder, 'site/b.txt'));
  await run(`sync site ${user}:www`);
  expect(await remote()).toEqual(['www/a.txt 1']);
  await mkdir(join(folder, 'copy'));
  await symlink('../outside.txt', join(folder, 'copy/a.txt'));
  expect((await run(`sync ${user}:www copy`)).code).toBe(1);
  expect(await readFile(join(folder, 'outside.txt'), 'utf8')).toBe('untouched');
  await unlink(join(folder, 'copy/a.txt'));
  expect((await run(`sync ${user}:www copy`)).code).toBe(0);
});

test('killed at any moment and repeated, it ends in the same state, and loses nothing on the way', async () => {
  const count = 150;
  for (let i = 0; i < count; i += 1) await write(`site/d${i % 7}/f${i}`, `first ${i}`);
  await run(`sync site ${user}:www`);
  for (let i = 0; i < count; i += 1) {
    if (i % 3 === 0) await write(`site/d${i % 7}/f${i}`, `second version ${i}`);
    if (i % 10 === 1) await unlink(join(folder, `site/d${i % 7}/f${i}`));
  }
  // Each kill comes later in the run than the one before.
  for (const stored of [1, 15, 30, 49]) {
    const child = startCommand(`sync --delete --jobs 4 --json site ${user}:www`, {
      env: service.env,
      cwd: folder,
    });
    const ended = outcomeOf(child);
    let lines = 0;
    child.stdout?.on('data', (chunk: Buffer) => {
      lines += chunk.toString().split('\n').length - 1;
      if (lines >= stored) child.kill('SIGKILL');
    });
    await ended;
    const names = new Set((await remote()).map((line) => line.split(' ')[0]));
    // At no moment is a file without any version.
    for (let i = 0; i < count; i += 1) if (i % 10 !== 1) expect(names).toContain(`www/d${i % 7}/f${i}`);
  }
  expect((await run(`sync --delete site ${user}:www`)).code).toBe(0);
  const expected = (await local('site')).map((line) => {
    const [path = '', ...content] = line.split(' ');
    return `www/${path} ${content.join(' ').length}`;
  });
  expect(await remote()).toEqual(expected.sort());
  expect((await run(`sync --delete site ${user}:www`)).err).toContain('135 files already there');
});
