import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FolderInUse, type FolderLock, lockFolder } from './embedded-lock.ts';

let folder: string;
let path: string;
let held: FolderLock[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pakhus-lock-'));
  path = join(folder, 'lock');
  held = [];
});
afterEach(async () => {
  for (const lock of held) await lock.release();
  await rm(folder, { recursive: true });
});

const lock = async () => {
  held.push(await lockFolder(path));
};

test('a folder has one owner at a time; a second one is told the pid and what to do', async () => {
  await lock();
  const refused = lockFolder(path);
  await expect(refused).rejects.toThrow(FolderInUse);
  await expect(refused).rejects.toThrow(`${folder} is in use by the process with pid ${process.pid}.`);
  await expect(refused).rejects.toThrow(/DATA_DIR/);
});

test('a released folder can be locked again, and names its new owner', async () => {
  await (await lockFolder(path)).release();
  await lock();
  expect(await readFile(path, 'utf8')).toBe(`${process.pid} ${hostname()}\n`);
});

test.each([
  ['4711 another-host', 'the process with pid 4711 on another-host'],
  [`4711 ${hostname()}`, 'the process with pid 4711.'],
  ['', 'another process'],
])('the owner is described as far as it is known: %j', async (text, described) => {
  await lock();
  await writeFile(path, text);
  await expect(lockFolder(path)).rejects.toThrow(described);
});

test('a lock that cannot be made is not taken for a folder in use', async () => {
  await expect(lockFolder(join(folder, 'missing', 'lock'))).rejects.not.toThrow(FolderInUse);
});
