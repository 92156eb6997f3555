// What only the disk store can get wrong: its layout, its durability steps and a disk that fails.
import { existsSync } from 'node:fs';
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  statfs,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ObjectMeta, ObjectStore } from '../object-store.ts';
import { createDiskStore } from './disk-store.ts';

const meta: ObjectMeta = { contentType: 'text/plain', contentDisposition: 'attachment' };
const unavailable = { code: 'STORAGE_UNAVAILABLE', details: { part: 'storage' } };
const body = Buffer.from('hello');
const long = () => Readable.from([Buffer.alloc(2 << 20), Buffer.alloc(2 << 20)]);

const options = { signingSecret: 'secret', urlPath: '/o', clock: () => 1_000_000 };

describe('disk store', () => {
  let root: string;
  let store: ObjectStore;

  beforeEach(async () => {
    root = path.join(await mkdtemp(path.join(tmpdir(), 'pakhus-disk-')), 'objects');
    store = createDiskStore({ ...options, root });
  });
  afterEach(() => rm(path.dirname(root), { recursive: true }));

  it('makes its folders at the first use, the private ones closed to others', async () => {
    await store.put('private', 'p/f', body, meta);
    const modes = await Promise.all(
      ['private', 'public', 'tmp'].map(async (name) => (await stat(path.join(root, name))).mode & 0o777),
    );
    expect(modes).toEqual([0o700, 0o755, 0o700]);
  });

  it('lays public objects out exactly as their keys, readable to a web server, and no private one there', async () => {
    await store.put('public', 'project/deep/file.txt', body, meta);
    await store.put('private', 'project/secret', body, meta);
    const file = path.join(root, 'public/project/deep/file.txt');
    expect(await readFile(file, 'utf8')).toBe('hello');
    expect((await stat(file)).mode & 0o444).toBe(0o444);
    expect(await readdir(path.join(root, 'public/project'))).toEqual(['deep']);
  });

  it('refuses to write below the floor of free space, also in the middle of a stream, and leaves nothing', async () => {
    const folder = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
    const home = await mkdtemp(path.join(folder, 'pakhus-disk-'));
    try {
      const { bavail, bsize } = await statfs(home);
      const small = createDiskStore({ ...options, root: home, freeBytesMin: bavail * bsize - (8 << 20) });
      let read = 0;
      const endless = new Readable({
        read() {
          read += 1 << 20;
          this.push(Buffer.alloc(1 << 20));
        },
      });
      await expect(small.put('private', 'p/f', endless, meta)).rejects.toMatchObject(unavailable);
      expect(read).toBeLessThan(64 << 20);
      await expect(small.put('private', 'p/g', Buffer.alloc(9 << 20), meta)).rejects.toMatchObject({
        ...unavailable,
        headers: { 'retry-after': 30 },
      });
      expect(await readdir(path.join(home, 'tmp'))).toEqual([]);
      expect(await small.head('private', 'p/f')).toBeNull();
    } finally {
      await rm(home, { recursive: true });
    }
  });

  it.each([undefined, { start: 1, end: (4 << 20) - 2 }])(
    'says so when an object turns out shorter than it was, instead of ending as if it were whole',
    async (range) => {
      await store.put('public', 'p/f', long(), meta);
      const stream = await store.get('public', 'p/f', range);
      await truncate(path.join(root, 'public/p/f'), 3 << 20);
      await expect(stream.toArray()).rejects.toMatchObject(unavailable);
    },
  );

  it('reads less at a time the more readers there are, who may all have stopped reading', async () => {
    await store.put('public', 'p/f', long(), meta);
    const readers = await Promise.all(Array.from({ length: 600 }, () => store.get('public', 'p/f')));
    const held = readers.reduce((sum, { readableHighWaterMark }) => sum + readableHighWaterMark, 0);
    expect(held).toBeLessThan(100 << 20);
    const closed = readers.map((reader) => new Promise((resolve) => reader.on('close', resolve).destroy()));
    await Promise.all(closed);
    const alone = await store.get('public', 'p/f');
    expect(alone.readableHighWaterMark).toBe(256 << 10);
    expect(Buffer.concat(await alone.toArray())).toHaveLength(4 << 20);
  });

  it('signs URLs below its path that expire by its clock', () => {
    const url = store.downloadUrl('private', 'p/f', {
      ...meta,
      expiresInSeconds: 60,
      origin: 'https://a.test',
    });
    expect(url).toMatch(
      /^https:\/\/a\.test\/o\/p\/f\?expires=1060&type=text%2Fplain&disposition=attachment&signature=/,
    );
  });

  it('copies without taking room for the bytes twice', async () => {
    await store.put('private', 'p/f', body, meta);
    await store.copy('private', 'public', 'p/f');
    expect((await stat(path.join(root, 'public/p/f'))).nlink).toBe(2);
    expect(await readdir(path.join(root, 'tmp'))).toEqual([]);
  });

  it('finds its way when an operator removed emptied folders meanwhile', async () => {
    await store.put('public', 'p/f', body, meta);
    await store.delete('public', 'p/f');
    await rm(path.join(root, 'public/p'), { recursive: true });
    await store.put('public', 'p/f', body, meta);
    expect(await store.head('public', 'p/f')).toMatchObject({ bytes: 5 });
  });

  it('takes a root that vanished for an outage and does not begin an empty one in its place', async () => {
    await store.put('private', 'p/f', body, meta);
    await rename(root, `${root}.gone`);
    await expect(store.put('private', 'p/g', body, meta)).rejects.toMatchObject(unavailable);
    await expect(store.put('private', 'p/g', long(), meta)).rejects.toMatchObject(unavailable);
    await expect(store.check()).rejects.toThrow(root);
    await expect(stat(root)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('leaves no temporary file when the last step fails', async () => {
    await store.check();
    // A folder in the object's place: the rename cannot succeed.
    await mkdir(path.join(root, 'public/p/f/x'), { recursive: true });
    await expect(store.put('public', 'p/f', body, meta)).rejects.toMatchObject(unavailable);
    await expect(store.put('public', 'p/f', long(), meta)).rejects.toMatchObject(unavailable);
    expect(await readdir(path.join(root, 'tmp'))).toEqual([]);
  });

  it('says at the check that a root which is a file cannot be used', async () => {
    await writeFile(root, '');
    await expect(store.check()).rejects.toMatchObject(unavailable);
  });

  it('resolves to the keys that could not be deleted', async () => {
    await store.put('public', 'p/good', body, meta);
    await mkdir(path.join(root, 'public/p/bad'));
    expect(await store.deleteMany('public', ['p/good', 'p/bad', 'p/none'])).toEqual(['p/bad']);
  });

  it('takes a folder for no object', async () => {
    await store.put('public', 'p/f', body, meta);
    expect(await store.head('public', 'p')).toBeNull();
    await expect(store.get('public', 'p')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await store.head('public', 'p/f/below')).toBeNull();
  });
});
