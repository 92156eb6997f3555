// What only the disk can get wrong about objects that arrive in several requests: its files, and what is left of them.
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rename, rm, stat, statfs, truncate, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inlineHashing } from '../../hashing/stream-hash.ts';
import type { Body, ObjectStore } from '../object-store.ts';
import { PushedBody } from '../pushed-body.ts';
import type { AppendOptions, StagedObject, StagedProgress } from '../staged-objects.ts';
import { writeAll } from './disk-files.ts';
import { DiskLayout } from './disk-layout.ts';
import { createFlags, DiskPlaces } from './disk-places.ts';
import { createDiskStore } from './disk-store.ts';

const key = 'project/object';
const meta = { contentType: 'text/plain', contentDisposition: 'attachment' };
const unavailable = { code: 'STORAGE_UNAVAILABLE', details: { part: 'storage' } };
const lost = { code: 'NOT_FOUND' };
const nothing: StagedProgress = { state: null, bytes: 0, parts: [] };
const hello = Buffer.from('hello');

const toObject = ({ state }: StagedProgress): StagedObject => ({ zone: 'public', key, meta, state });

const appendOptions: AppendOptions = {
  tailKey: 'unused',
  bytesMax: 1 << 30,
  isWhole: () => false,
  onDurable: async () => undefined,
};

function append(store: ObjectStore, at: StagedProgress, body: Body, options: Partial<AppendOptions> = {}) {
  return store.staged.append(toObject(at), at.bytes, body, { ...appendOptions, ...options });
}

const complete = (store: ObjectStore, at: StagedProgress) =>
  store.staged.complete(toObject(at), { bytes: at.bytes, parts: [] });

describe('disk staging', () => {
  let root: string;
  let store: ObjectStore;
  let other: ObjectStore;

  const options = { signingSecret: 'secret', urlPath: '/o', clock: () => 1_000_000 };
  const unfinished = () => readdir(path.join(root, 'tmp'));
  const onlySegment = async () => path.join(root, 'tmp', (await unfinished())[0] ?? '');
  const placed = () => path.join(root, 'public', key);

  beforeEach(async () => {
    root = path.join(await mkdtemp(path.join(tmpdir(), 'pakhus-staging-')), 'objects');
    store = createDiskStore({ ...options, root });
    other = createDiskStore({ ...options, root });
  });
  afterEach(() => rm(path.dirname(root), { recursive: true }));

  it('appends of one process share a file, which becomes the object without a copy', async () => {
    let at = nothing;
    for (let turn = 0; turn < 5; turn += 1) at = await append(store, at, hello);
    const { ino } = await stat(await onlySegment());
    await complete(store, at);
    expect(await stat(placed())).toMatchObject({ ino, size: 25 });
    expect(await unfinished()).toEqual([]);
  });

  it('the file of another process is copied, because that process may still write to it', async () => {
    const at = await append(store, nothing, hello);
    const { ino } = await stat(await onlySegment());
    await complete(other, at);
    expect(await stat(placed())).toMatchObject({ size: 5 });
    expect((await stat(placed())).ino).not.toBe(ino);
    expect(await unfinished()).toEqual([]);
  });

  it('a client that alternates between processes has a bounded number of files', async () => {
    let at = nothing;
    let filesMax = 0;
    for (let turn = 0; turn < 200; turn += 1) {
      at = await append(turn % 2 ? store : other, at, Buffer.from([turn]));
      filesMax = Math.max(filesMax, (await unfinished()).length);
    }
    // The merged ones go with the next call.
    expect(filesMax).toBeLessThanOrEqual(129);
    await complete(store, at);
    expect((await stat(placed())).size).toBe(200);
    expect(await unfinished()).toEqual([]);
  });

  it('a call that fails leaves no file if nothing was recorded, and otherwise only what was', async () => {
    const broken = () => Readable.from([Buffer.alloc(2 << 20), Promise.reject(new Error('the line broke'))]);
    await expect(append(store, nothing, broken())).rejects.toThrow('the line broke');
    expect(await unfinished()).toEqual([]);
    const at = await append(store, nothing, hello);
    await expect(append(store, at, broken())).rejects.toThrow('the line broke');
    expect((await stat(await onlySegment())).size).toBe(5);
  });

  it('says that bytes are lost if a file is missing or too short, and adds none', async () => {
    const at = await append(store, nothing, hello);
    await truncate(await onlySegment(), 4);
    for (const process of [store, other]) {
      await expect(append(process, at, hello)).rejects.toMatchObject(lost);
      await expect(complete(process, at)).rejects.toMatchObject(lost);
    }
    await unlink(await onlySegment());
    for (const process of [store, other]) {
      await expect(append(process, at, hello)).rejects.toMatchObject(lost);
      await expect(complete(process, at)).rejects.toMatchObject(lost);
    }
    expect(await unfinished()).toEqual([]);
  });

  it('takes a root that vanished for an outage, not for lost bytes', async () => {
    const at = await append(store, nothing, hello);
    await rename(root, `${root}.gone`);
    for (const call of [append, complete])
      await expect(call(store, at, hello)).rejects.toMatchObject(unavailable);
    await expect(append(store, nothing, hello)).rejects.toMatchObject(unavailable);
    await expect(store.staged.putPart?.(key, 1, 5, hello)).rejects.toMatchObject(unavailable);
    const object = toObject({ ...nothing, state: await store.staged.beginDirect(toObject(nothing)) });
    const joining = store.staged.complete(object, { bytes: 5, parts: [{ number: 1, etag: 'x' }] });
    await expect(joining).rejects.toMatchObject(unavailable);
    await rename(`${root}.gone`, root);
    await complete(store, await append(store, at, hello));
    expect((await stat(placed())).size).toBe(10);
  });

  it('refuses to write below the floor of free space, and keeps what was reported', async () => {
    const folder = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
    const home = await mkdtemp(path.join(folder, 'pakhus-staging-'));
    try {
      const { bavail, bsize } = await statfs(home);
      const small = createDiskStore({ ...options, root: home, freeBytesMin: bavail * bsize - (24 << 20) });
      const endless = new Readable({
        read() {
          this.push(Buffer.alloc(1 << 20));
        },
      });
      const reports: StagedProgress[] = [];
      const onDurable = async (progress: StagedProgress) => void reports.push(progress);
      await expect(append(small, nothing, endless, { onDurable })).rejects.toMatchObject(unavailable);
      expect(reports.map(({ bytes }) => bytes)).toEqual([16 << 20]);
      await complete(small, reports[0] as StagedProgress);
      expect(await small.head('public', key)).toMatchObject({ bytes: 16 << 20 });
      expect(await readdir(path.join(home, 'tmp'))).toEqual([]);
    } finally {
      await rm(home, { recursive: true });
    }
  });

  it('the hash has got exactly the bytes that are reported', async () => {
    let hashed = 0;
    const hash = {
      ...inlineHashing.open('sha256'),
      update: async (piece: Buffer) => {
        hashed += piece.length;
      },
    };
    const reports: [number, number][] = [];
    const onDurable = async ({ bytes }: StagedProgress) => {
      await new Promise(setImmediate);
      reports.push([bytes, hashed]);
    };
    const body = Readable.from(Array.from({ length: 50 }, () => Buffer.alloc(1_000_003)));
    const at = await append(store, nothing, body, { hash, onDurable });
    expect(reports.length).toBe(2);
    for (const [bytes, hashedThen] of reports) expect(hashedThen).toBe(bytes);
    expect(at.bytes).toBe(hashed);
  });

  it('whatever processes write, lose the upload, write late and restart, the object is what was recorded', async () => {
    const step = fc.record({
      process: fc.integer({ min: 0, max: 2 }),
      bytes: fc.oneof(fc.integer({ min: 1, max: 3000 }), fc.constant((1 << 20) + 1)),
      kind: fc.constantFrom('record', 'record', 'forget', 'stale', 'late', 'restart', 'fail'),
    });
    const run = async (steps: readonly { process: number; bytes: number; kind: string }[], id: number) => {
      const processes = Array.from({ length: 3 }, () => createDiskStore({ ...options, root }));
      const object = { zone: 'private' as const, key: `project/${id}`, meta };
      const start = (by: ObjectStore, at: StagedProgress, body: Body) =>
        by.staged.append({ ...object, state: at.state }, at.bytes, body, appendOptions);
      let at = nothing;
      const history = [at];
      const wanted: Buffer[] = [];
      const late: { body: PushedBody; ended: Promise<unknown> }[] = [];
      for (const [turn, { process, bytes, kind }] of steps.entries()) {
        const by = processes[process] as ObjectStore;
        const data = Buffer.alloc(bytes, turn + 1);
        if (kind === 'restart') processes[process] = createDiskStore({ ...options, root });
        else if (kind === 'late') {
          const body = new PushedBody(() => undefined);
          // More than is gathered before it is written.
          body.push(Buffer.alloc((1 << 20) + bytes, turn + 1));
          late.push({ body, ended: start(by, at, body).catch(() => undefined) });
        } else if (kind === 'fail') {
          const body = Readable.from([data, Promise.reject(new Error('cut'))]);
          await expect(start(by, at, body)).rejects.toThrow('cut');
        } else if (kind === 'record') {
          at = JSON.parse(JSON.stringify(await start(by, at, data)));
          history.push(at);
          wanted.push(data);
        } else {
          const from = kind === 'stale' ? history[turn % history.length] : at;
          await start(by, from as StagedProgress, data).catch(() => undefined);
        }
        late[turn % (late.length || 1)]?.body.push(Buffer.alloc(1 << 20, turn + 1));
      }
      for (const { body } of late.slice(0, 1)) body.end();
      const by = processes[steps.length % 3] as ObjectStore;
      await by.staged.complete({ ...object, state: at.state }, { bytes: at.bytes, parts: [] });
      for (const { body } of late) {
        body.push(Buffer.alloc(5000, 255));
        body.end();
      }
      await Promise.all(late.map(({ ended }) => ended));
      const found = Buffer.concat(await (await by.get('private', object.key)).toArray());
      expect(found.equals(Buffer.concat(wanted))).toBe(true);
    };
    let id = 0;
    const steps = fc.array(step, { minLength: 1, maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(steps, (given) => run(given, id++)),
      { numRuns: 25 },
    );
    await store.sweepUnfinished(new Date(Date.now() + 3_600_000), async () => false);
    expect(await unfinished()).toEqual([]);
  }, 60_000);

  it('keeps the object that was put together first, if clients replace parts meanwhile', async () => {
    const object = { ...toObject(nothing), state: await store.staged.beginDirect(toObject(nothing)) };
    const first = (await store.staged.putPart?.(key, 1, 5, hello)) ?? '';
    const completing = (at: ObjectStore, etag: string) =>
      at.staged.complete(object, { bytes: 5, parts: [{ number: 1, etag }] });
    await completing(store, first);
    const second = (await store.staged.putPart?.(key, 1, 5, Buffer.from('HELLO'))) ?? '';
    await completing(other, second);
    expect((await (await store.get('public', key)).toArray()).toString()).toBe('hello');
    expect(await unfinished()).toEqual([]);
  });

  it('moves a file only to where there is none, and leaves no temporary one', async () => {
    const layout = new DiskLayout(root);
    const places = new DiskPlaces(layout);
    for (const text of ['first', 'second']) {
      const fill = (fd: number) => writeAll(fd, Buffer.from(text));
      await places.create(placed(), key, createFlags, fill, undefined, places.moveIfAbsent);
      expect(await readFile(placed(), 'utf8')).toBe('first');
      expect(await unfinished()).toEqual([]);
    }
  });
});
