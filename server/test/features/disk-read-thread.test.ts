// The thread that reads small files: right bytes for many at once, and a clean failure when a file or the thread is broken.
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { sharedBuffer } from '../../src/platform/heap.ts';
import { DiskReadThread } from '../../src/platform/objects/disk/disk-read-thread.ts';
import { bytesOf, sha256 } from '../support/bytes.ts';
import { dist } from '../support/dist.ts';

const broken = { code: 'STORAGE_UNAVAILABLE', details: { part: 'storage' } };
const absent = { code: 'NOT_FOUND' };

let folder: string;
let thread: DiskReadThread;
let started: Worker[];
const onWorker = (worker: Worker) => started.push(worker);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pakhus-read-'));
  thread = new DiskReadThread(join(dist, 'platform/objects/disk/disk-read-worker.js'));
  started = [];
  process.on('worker', onWorker);
});
afterEach(async () => {
  process.off('worker', onWorker);
  await thread.close();
  await rm(folder, { recursive: true });
});

const store = async (name: string, bytes: Buffer): Promise<string> => {
  const path = join(folder, name);
  await writeFile(path, bytes);
  return path;
};

async function read(path: string, length: number): Promise<Buffer> {
  const into = sharedBuffer(length);
  await thread.read(path, into);
  return into;
}

it('reads two hundred files at once, empty ones as well, with one thread', async () => {
  const bodies = Array.from({ length: 200 }, (_, nth) => bytesOf(nth * 1_300, nth + 1));
  const paths = await Promise.all(bodies.map((body, nth) => store(`file-${nth}`, body)));
  const found = await Promise.all(paths.map((path, nth) => read(path, bodies[nth]?.length ?? 0)));
  expect(found.map(sha256)).toEqual(bodies.map(sha256));
  expect(started).toHaveLength(1);
});

it('fills only its part of a larger block', async () => {
  const block = sharedBuffer(30).fill('.');
  await thread.read(await store('ten', Buffer.from('0123456789')), block.subarray(10, 20));
  expect(block.toString()).toBe('..........0123456789..........');
});

it('tells absent files from a broken disk, each for itself', async () => {
  const whole = await store('whole', Buffer.from('whole'));
  await mkdir(join(folder, 'folder'));
  await symlink('loop', join(folder, 'loop'));
  const outcomes = await Promise.allSettled([
    read(join(folder, 'nothing'), 5),
    read(join(whole, 'below'), 5),
    read(join(folder, 'folder'), 5),
    read(whole, 4),
    read(whole, 6),
    read(join(folder, 'loop'), 5),
    read(whole, 5),
  ]);
  expect(outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason : 'read'))).toMatchObject([
    ...Array.from({ length: 5 }, () => absent),
    broken,
    'read',
  ]);
});

it('refuses memory that the thread could not reach', async () => {
  const path = await store('file', Buffer.from('file'));
  await expect(thread.read(path, Buffer.alloc(4))).rejects.toThrow(TypeError);
});

it('fails what the thread was asked when it dies, and starts another', async () => {
  const whole = await store('whole', Buffer.from('whole'));
  await read(whole, 5);
  const cut = [read(whole, 5), read(whole, 5)];
  const ended = started[0]?.terminate();
  expect(await Promise.allSettled(cut)).toMatchObject(
    cut.map(() => ({ status: 'rejected', reason: broken })),
  );
  await ended;
  expect((await read(whole, 5)).toString()).toBe('whole');
  expect(started).toHaveLength(2);
});

it('fails what a thread that throws was asked', async () => {
  const program = join(folder, 'faulty.mjs');
  await writeFile(
    program,
    `import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => { throw new Error('broken'); });`,
  );
  thread = new DiskReadThread(program);
  await expect(read('anything', 1)).rejects.toMatchObject(broken);
});
