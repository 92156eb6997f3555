// The guarantees of every object store. A store that passes can replace any other.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PakhusError } from '../../src/kernel/error.ts';
import { sharedBuffer } from '../../src/platform/heap.ts';
import type { ObjectMeta, ObjectStore, Zone } from '../../src/platform/objects/object-store.ts';
import {
  bytesOf,
  digestOf,
  failingStream,
  readAll,
  sha256,
  stallingStream,
  streamOf,
} from '../support/bytes.ts';
import { nobodyWrites } from '../support/s3-server.ts';

export const leftKey = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff/7c9e6679-7425-40de-944b-e07fc1f90ae7';

export interface StoreUnderTest {
  readonly store: ObjectStore;
  /** Streamed bodies of at least this size are stored in several parts. */
  readonly partBytes: number;
  /** Counts temporary files or multipart uploads without using the store. */
  unfinished(): Promise<number>;
  /** Leaves a temporary file or a multipart upload of `leftKey`, as a crash would. */
  leaveUnfinished(): Promise<void>;
  /** Fetches a signed URL without credentials. */
  follow(url: string): Promise<Download>;
  /** Shifts the store's clock for signing. */
  shiftClock(ms: number): void;
  remove(): Promise<void>;
}

export interface Download {
  readonly status: number;
  readonly body: Buffer;
  readonly contentType: string | null;
  readonly contentDisposition: string | null;
}

const meta: ObjectMeta = { contentType: 'text/plain', contentDisposition: 'attachment; filename="a.txt"' };
const unicodeMeta: ObjectMeta = {
  contentType: 'text/plain; charset=utf-8',
  contentDisposition: `attachment; filename="bl_b_r.txt"; filename*=UTF-8''bl%C3%A5b%C3%A6r%20%E2%82%AC.txt`,
};
const zones: readonly Zone[] = ['private', 'public'];
const newKey = () => `${randomUUID()}/${randomUUID()}`;

export function objectStoreContract(name: string, makeStore: () => Promise<StoreUnderTest>): void {
  describe(`object store on ${name}`, () => {
    let under: StoreUnderTest;
    let store: ObjectStore;

    beforeAll(async () => {
      under = await makeStore();
      store = under.store;
      await store.check();
    });
    afterAll(() => under.remove());

    const keysUnder = async (zone: Zone, prefix: string) => {
      const keys: string[] = [];
      for await (const key of store.list(zone, prefix)) keys.push(key);
      return keys.sort();
    };

    const expectNothing = async (zone: Zone, key: string) => {
      expect(await store.head(zone, key)).toBeNull();
      await expect(store.get(zone, key)).rejects.toMatchObject({ code: 'NOT_FOUND' });
      expect(await under.unfinished()).toBe(0);
    };

    const sizes = [
      { size: '0 B', bytes: () => 0 },
      { size: '1 B', bytes: () => 1 },
      { size: '10 KiB', bytes: () => 10 << 10 },
      { size: '64 KiB', bytes: () => 64 << 10 },
      { size: 'a part less 1', bytes: () => under.partBytes - 1 },
      { size: 'a part', bytes: () => under.partBytes },
      { size: 'a part and 1', bytes: () => under.partBytes + 1 },
      { size: '20 MiB and 1', bytes: () => (20 << 20) + 1 },
    ];

    it.each(sizes)('returns $size byte for byte, streamed or whole', async ({ bytes }) => {
      const data = bytesOf(bytes());
      for (const [zone, body, bytesMax] of [
        ['private', streamOf(data), undefined],
        ['public', streamOf(data, 100_003), data.length],
        ['private', streamOf(data), data.length + 300],
        ['private', data, undefined],
      ] as const) {
        const key = newKey();
        await store.put(zone, key, body, meta, { bytesMax });
        const info = await store.head(zone, key);
        expect(info?.bytes).toBe(data.length);
        expect(info?.etag).toMatch(/^"[^"]+"$/);
        expect(await digestOf(await store.get(zone, key))).toBe(sha256(data));
      }
      expect(await under.unfinished()).toBe(0);
    });

    it('put replaces an existing object and changes its etag', async () => {
      const key = newKey();
      await store.put('private', key, bytesOf(5000, 1), meta);
      const first = await store.head('private', key);
      await store.put('private', key, streamOf(bytesOf(300_000, 2)), meta);
      const second = await store.head('private', key);
      expect(second?.etag).not.toBe(first?.etag);
      expect(sha256(await readAll(await store.get('private', key)))).toBe(sha256(bytesOf(300_000, 2)));
    });

    it.each([
      { start: 0, end: 0 },
      { start: 10, end: 19 },
      { start: 99_999, end: 99_999 },
      { start: 0, end: 99_999 },
      { start: 99_990, end: 200_000 },
      { start: 100_000, end: 100_001 },
    ])('reads the range $start to $end, as much of it as exists', async (range) => {
      const key = newKey();
      const data = bytesOf(100_000);
      await store.put('private', key, data, meta);
      const read = await readAll(await store.get('private', key, range));
      expect(read.equals(data.subarray(range.start, range.end + 1))).toBe(true);
    });

    it.each([0, 1, 100_000])(
      'fills memory with an object of %i bytes, and only if it has that length',
      async (length) => {
        const key = newKey();
        const data = bytesOf(length);
        await store.put('private', key, data, meta);
        const into = sharedBuffer(length);
        await store.read('private', key, into);
        expect(into.equals(data)).toBe(true);
        const wrong = [sharedBuffer(length + 1), ...(length > 0 ? [sharedBuffer(length - 1)] : [])];
        for (const memory of wrong)
          await expect(store.read('private', key, memory)).rejects.toMatchObject({ code: 'NOT_FOUND' });
        await expect(store.read('public', key, into)).rejects.toMatchObject({ code: 'NOT_FOUND' });
      },
    );

    it('reports a missing object as NOT_FOUND or null, and deleting it succeeds', async () => {
      const key = newKey();
      for (const zone of zones) {
        await expectNothing(zone, key);
        await expect(store.get(zone, key, { start: 0, end: 1 })).rejects.toMatchObject({
          code: 'NOT_FOUND',
        });
        await store.delete(zone, key);
      }
      await expect(store.copy('private', 'public', key)).rejects.toMatchObject({ code: 'NOT_FOUND' });
      expect(await under.unfinished()).toBe(0);
    });

    it('a deleted object is gone', async () => {
      const key = newKey();
      await store.put('public', key, bytesOf(10), meta);
      await store.delete('public', key);
      await expectNothing('public', key);
    });

    it('keeps the zones separate', async () => {
      const key = newKey();
      await store.put('private', key, bytesOf(10), meta);
      await expectNothing('public', key);
    });

    it.each([
      { when: 'in the first part', bytes: () => 200_000 },
      { when: 'after the first part', bytes: () => under.partBytes * 2 + 100_000 },
    ])('a put aborted $when leaves nothing behind and rethrows the abort', async ({ bytes }) => {
      const key = newKey();
      const abort = new AbortController();
      const reason = new Error('the client left');
      const body = stallingStream(bytesOf(bytes()), () => abort.abort(reason));
      await expect(store.put('private', key, body, meta, { signal: abort.signal })).rejects.toBe(reason);
      expect(body.destroyed).toBe(true);
      await expectNothing('private', key);
    });

    it('does nothing if the signal is already aborted', async () => {
      const key = newKey();
      const reason = new Error('too late');
      const signal = AbortSignal.abort(reason);
      await expect(store.put('private', key, bytesOf(10), meta, { signal })).rejects.toBe(reason);
      const body = streamOf(bytesOf(10));
      await expect(store.put('private', key, body, meta, { signal })).rejects.toBe(reason);
      expect(body.destroyed).toBe(true);
      await expectNothing('private', key);
    });

    it.each([
      { when: 'at once', bytes: () => 0 },
      { when: 'in the first part', bytes: () => 200_000 },
      { when: 'after the first part', bytes: () => under.partBytes * 2 + 100_000 },
    ])('a body that fails $when leaves nothing behind, and its error is rethrown', async ({ bytes }) => {
      const key = newKey();
      const error = Object.assign(new Error('the line broke'), { code: 'ECONNRESET' });
      const put = store.put('private', key, failingStream(bytesOf(bytes()), error), meta);
      await expect(put).rejects.toBe(error);
      await expectNothing('private', key);
    });

    it('keeps the old object if a put over it fails', async () => {
      const key = newKey();
      await store.put('private', key, bytesOf(1000), meta);
      const error = new PakhusError('FILE_TOO_LARGE', 'too large');
      const body = failingStream(bytesOf(under.partBytes + 1, 2), error);
      await expect(store.put('private', key, body, meta)).rejects.toBe(error);
      expect(sha256(await readAll(await store.get('private', key)))).toBe(sha256(bytesOf(1000)));
    });

    it('concurrent puts to one key all succeed and leave one complete object', async () => {
      const key = newKey();
      const bodies = [1, 2, 3, 4].map((seed) => bytesOf(under.partBytes + seed * 1000, seed));
      await Promise.all(bodies.map((body) => store.put('private', key, streamOf(body), meta)));
      const found = await digestOf(await store.get('private', key));
      expect(bodies.map(sha256)).toContain(found);
      expect(await under.unfinished()).toBe(0);
    });

    it('lists and deletes more than a thousand keys, existing or not, and no others', async () => {
      const prefix = randomUUID();
      const keys = Array.from({ length: 1010 }, (_, i) => `${prefix}/${i}`);
      const left = [...keys];
      const work = async () => {
        for (let key = left.pop(); key; key = left.pop()) await store.put('private', key, bytesOf(5), meta);
      };
      await Promise.all(Array.from({ length: 16 }, work));
      expect(await keysUnder('private', prefix)).toEqual(keys.toSorted());
      const gone = [...keys.slice(0, 1005), newKey(), newKey()];
      expect(await store.deleteMany('private', gone)).toEqual([]);
      expect(await keysUnder('private', prefix)).toEqual(keys.slice(1005).toSorted());
      expect(await store.deleteMany('private', [])).toEqual([]);
    });

    it.each([
      { size: 'small', bytes: () => 1000 },
      { size: 'empty', bytes: () => 0 },
      { size: 'of several parts', bytes: () => under.partBytes * 2 + 7 },
    ])('copies an object $size to the other zone and keeps the source', async ({ bytes }) => {
      const key = newKey();
      const data = bytesOf(bytes());
      await store.put('private', key, streamOf(data), unicodeMeta);
      const { contentType, contentDisposition } = (await store.head('private', key)) ?? {};
      await store.copy('private', 'public', key);
      expect(await store.head('public', key)).toMatchObject({ contentType, contentDisposition });
      // Copied again over itself: a move interrupted by a crash is repeated.
      await store.copy('private', 'public', key);
      await store.delete('private', key);
      expect(await digestOf(await store.get('public', key))).toBe(sha256(data));
      await store.copy('public', 'private', key);
      expect(await digestOf(await store.get('private', key))).toBe(sha256(data));
      expect(await digestOf(await store.get('public', key))).toBe(sha256(data));
      expect(await under.unfinished()).toBe(0);
    });

    it('copies an object to another key, with a name and type of its own', async () => {
      const [key, copied] = [newKey(), newKey()];
      const data = bytesOf(1000);
      await store.put('private', key, data, meta);
      for (const zone of zones) {
        await store.copy('private', zone, key, { key: copied, meta: unicodeMeta });
        expect(await digestOf(await store.get(zone, copied))).toBe(sha256(data));
      }
      const { contentType, contentDisposition } = (await store.head('private', copied)) ?? {};
      expect(await store.head('public', copied)).toMatchObject({ contentType, contentDisposition });
      await store.delete('private', key);
      expect(await digestOf(await store.get('private', copied))).toBe(sha256(data));
      await expect(store.copy('private', 'private', key, { key: newKey(), meta })).rejects.toMatchObject({
        code: 'NOT_FOUND',
      });
    });

    it('overwriting the source does not change its copy', async () => {
      const key = newKey();
      await store.put('private', key, bytesOf(100, 1), meta);
      await store.copy('private', 'public', key);
      await store.put('private', key, bytesOf(100, 2), meta);
      expect(sha256(await readAll(await store.get('public', key)))).toBe(sha256(bytesOf(100, 1)));
    });

    it('lists the keys of one zone by prefix, at any depth', async () => {
      const prefix = randomUUID();
      const keys = [`${prefix}/a`, `${prefix}/b.c_d-e`, `${prefix}/x/y/z`].sort();
      for (const zone of zones) {
        for (const key of keys) await store.put(zone, key, bytesOf(1), meta);
        expect(await keysUnder(zone, prefix)).toEqual(keys);
        expect(await keysUnder(zone, `${prefix}/x/`)).toEqual([`${prefix}/x/y/z`]);
      }
    });

    it('sweeps unfinished writes of a crash once they are old enough, and nothing that is finished', async () => {
      const key = newKey();
      await store.put('private', key, streamOf(bytesOf(under.partBytes + 1)), meta);
      await under.leaveUnfinished();
      expect(await store.sweepUnfinished(new Date(Date.now() - 3_600_000), nobodyWrites)).toBe(0);
      expect(await under.unfinished()).toBe(1);
      const isLeft = async (asked: string) => asked === leftKey;
      expect(await store.sweepUnfinished(new Date(Date.now() + 3_600_000), isLeft)).toBe(0);
      expect(await under.unfinished(), 'what is still being written').toBe(1);
      expect(await store.sweepUnfinished(new Date(Date.now() + 3_600_000), nobodyWrites)).toBe(1);
      expect(await under.unfinished()).toBe(0);
      expect(await store.head('private', key)).not.toBeNull();
    });

    it('reads an object only if it has the requested etag', async () => {
      const key = newKey();
      await store.put('private', key, bytesOf(100), meta);
      const { etag = '' } = (await store.head('private', key)) ?? {};
      const range = { start: 0, end: 99, etag };
      expect(await readAll(await store.get('private', key, range))).toHaveLength(100);
      await store.put('private', key, bytesOf(200), meta);
      await expect(store.get('private', key, range)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    });

    it('a signed URL works without credentials, with the type and the signed disposition', async () => {
      const key = newKey();
      await store.put('private', key, bytesOf(5000), { ...meta, contentType: unicodeMeta.contentType });
      const url = store.downloadUrl('private', key, {
        ...unicodeMeta,
        expiresInSeconds: 60,
        origin: 'http://pakhus.test',
      });
      const download = await under.follow(url);
      expect(download).toMatchObject({ status: 200, ...unicodeMeta });
      expect(download.body.equals(bytesOf(5000))).toBe(true);
    });

    it('a signed URL that leads to the store tells caches what they may keep', async () => {
      const key = newKey();
      await store.put('private', key, bytesOf(10), { ...meta, contentType: 'text/html' });
      const cacheControl = 'private, max-age=3600, immutable';
      const options = {
        ...unicodeMeta,
        contentType: 'text/html',
        expiresInSeconds: 60,
        origin: 'http://pakhus.test',
      };
      const url = store.downloadUrl('private', key, { ...options, cacheControl });
      expect(await under.follow(url)).toMatchObject({ status: 200 });
      if (store.kind === 's3') expect((await fetch(url)).headers.get('cache-control')).toBe(cacheControl);
    });

    it('a signed URL is fully escaped', () => {
      const url = store.downloadUrl('private', newKey(), {
        contentType: 'text/"odd\\\n',
        contentDisposition: `attachment; filename="a\\b'c\u0001é😀.txt"`,
        expiresInSeconds: 60,
        origin: 'http://pakhus.test',
      });
      expect(url).toMatch(/^[!#-[\]-~]+$/);
      expect(URL.canParse(url)).toBe(true);
    });

    it('a signed URL is refused after it expires, for another key and with another disposition', async () => {
      const [key, other] = [newKey(), newKey()];
      await store.put('private', key, bytesOf(10), meta);
      await store.put('private', other, bytesOf(10), meta);
      const options = { ...meta, expiresInSeconds: 60, origin: 'http://pakhus.test' };
      const url = store.downloadUrl('private', key, options);
      under.shiftClock(-120_000);
      const expired = store.downloadUrl('private', key, options);
      under.shiftClock(0);
      const forged = [expired, url.replace(key, other), url.replace('attachment', 'inline')];
      for (const bad of forged) {
        expect(bad).not.toBe(url);
        expect((await under.follow(bad)).status).toBe(403);
      }
    });

    it.each([
      '',
      '/a',
      'a/',
      'a//b',
      '..',
      '../a',
      'a/../b',
      'a/./b',
      'a/..',
      'a\\b',
      'a\0b',
      'a b',
      'a+b',
      'a%2e',
      'blå',
      'a\n',
      'x'.repeat(221),
    ])('every call refuses the key %j as a bug, not as an outage', async (key) => {
      const options = { ...meta, expiresInSeconds: 60, origin: 'http://pakhus.test' };
      const calls = [
        async () => store.put('public', key, bytesOf(1), meta),
        async () => store.put('private', key, streamOf(bytesOf(1)), meta),
        async () => store.get('public', key),
        async () => store.head('public', key),
        async () => store.delete('public', key),
        async () => store.deleteMany('public', ['fine', key]),
        async () => store.copy('private', 'public', key),
        async () => store.downloadUrl('private', key, options),
      ];
      for (const call of calls) {
        const error = await call().then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        expect(error).toBeInstanceOf(Error);
        expect(error).not.toBeInstanceOf(PakhusError);
      }
    });
  });
}
