// The S3 store against a real server behind a proxy that fails on purpose: each call either succeeds with the right
// bytes, or fails with STORAGE_UNAVAILABLE within its limits; leftovers can be swept.
import { randomUUID } from 'node:crypto';
import type http from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ObjectMeta, ObjectStore } from '../../src/platform/objects/object-store.ts';
import { createS3Store, type S3StoreOptions } from '../../src/platform/objects/s3/s3-store.ts';
import { waitMsMax } from '../support/bounds.ts';
import { bytesOf, digestOf, readAll, sha256, stallingStream, streamOf } from '../support/bytes.ts';
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import {
  makeBuckets,
  nobodyWrites,
  type S3Buckets,
  type S3Server,
  testS3Server,
} from '../support/s3-server.ts';

const meta: ObjectMeta = { contentType: 'text/plain', contentDisposition: 'attachment' };
const partBytes = 5 << 20;
const small = bytesOf(10_000, 3);
const large = bytesOf(partBytes * 2 + 12_345, 4);
const unavailable = { code: 'STORAGE_UNAVAILABLE', details: { part: 'storage' } };
const idleTimeoutMs = 400;
/** A safety limit for hanging tests, not a measurement. */
const limitMs = waitMsMax;

const server = testS3Server();
if (server) describe('s3 object store behind faults', () => suite(server));
else {
  console.log('SKIPPED s3 object store faults: TEST_S3_ENDPOINT is not set');
  it.skip('s3 object store behind faults', () => undefined);
}

function suite(at: S3Server): void {
  let buckets: S3Buckets;
  let proxy: FaultProxy;
  let store: ObjectStore;
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);

  const makeStore = (over: Partial<S3StoreOptions> = {}) =>
    createS3Store({
      ...buckets.options,
      endpoint: proxy.url,
      partBytes,
      copyPartBytes: partBytes,
      connectTimeoutMs: 500,
      idleTimeoutMs,
      thinkTimeoutMs: idleTimeoutMs,
      abortTimeoutMs: 500,
      checkTimeoutMs: idleTimeoutMs,
      backoffBaseMs: 5,
      backoffMaxMs: 20,
      ...over,
    });

  beforeAll(async () => {
    process.on('unhandledRejection', note);
    buckets = await makeBuckets(at);
    proxy = await startFaultProxy(at.endpoint);
    store = makeStore();
  });
  afterEach(async () => {
    proxy.set();
    await store.sweepUnfinished(new Date(Date.now() + 3_600_000), nobodyWrites);
    expect(await buckets.unfinishedUploads()).toBe(0);
    expect(unhandled).toEqual([]);
  });
  afterAll(async () => {
    await store.close();
    await proxy.close();
    await buckets.remove();
    process.off('unhandledRejection', note);
  });

  const newKey = () => `${randomUUID()}/${randomUUID()}`;

  async function within<T>(ms: number, run: () => Promise<T>): Promise<T> {
    const from = performance.now();
    try {
      return await run();
    } finally {
      expect(performance.now() - from).toBeLessThan(ms);
    }
  }

  const expectStored = async (key: string, data: Buffer) =>
    expect(sha256(await buckets.read(buckets.bucket, key))).toBe(sha256(data));

  const passing: { name: string; fault: Fault }[] = [
    { name: 'a reset before the server sees it', fault: { kind: 'reset' } },
    { name: 'silence', fault: { kind: 'hang' } },
    { name: 'silence after the server did it', fault: { kind: 'storedThenHang' } },
    { name: 'a reply that is lost', fault: { kind: 'storedThenLost' } },
    { name: 'a reply cut at its head', fault: { kind: 'cutReply', bytes: 0 } },
    { name: 'a 500', fault: { kind: 'status', status: 500 } },
    { name: 'a 503 SlowDown', fault: { kind: 'status', status: 503, code: 'SlowDown' } },
    { name: 'a 429', fault: { kind: 'status', status: 429, code: 'TooManyRequests' } },
    { name: 'a 500 after the server did it', fault: { kind: 'storedThenStatus', status: 500 } },
    { name: 'a slow reply', fault: { kind: 'latency', ms: 150 } },
    { name: 'a maintenance page', fault: { kind: 'page' } },
    { name: 'a 404 that is a page', fault: { kind: 'page', status: 404 } },
  ];

  it.each(passing)('put of a small body survives $name and writes once', async ({ fault }) => {
    const key = newKey();
    proxy.set({ fault, count: 1 });
    await within(limitMs, () => store.put('private', key, small, meta));
    await expectStored(key, small);
  });

  // Each step of a multipart upload, recognized by its query.
  const steps: { step: string; when: (request: http.IncomingMessage) => boolean }[] = [
    { step: 'beginning', when: (r) => r.method === 'POST' && r.url?.includes('uploads=') === true },
    { step: 'a part', when: (r) => r.url?.includes('partNumber=2') === true },
    { step: 'completing', when: (r) => r.method === 'POST' && r.url?.includes('uploadId=') === true },
    { step: 'looking after it', when: (r) => r.method === 'HEAD' },
  ];
  const stepFaults = steps.flatMap((step) => passing.map((fault) => ({ ...step, ...fault })));

  it.each(stepFaults)(
    'put of several parts survives $name at $step and writes once',
    async ({ fault, when }) => {
      const key = newKey();
      proxy.set({ fault, when, count: 1 });
      await within(limitMs, () => store.put('private', key, streamOf(large), meta));
      await expectStored(key, large);
    },
  );

  it('resends a part that was cut half way, and only that part', async () => {
    const key = newKey();
    const when = (r: http.IncomingMessage) => r.url?.includes('partNumber=1') === true;
    proxy.set({ fault: { kind: 'cutRequest', bytes: 1 << 20 }, when, count: 2 });
    await store.put('private', key, streamOf(large), meta);
    expect(proxy.seen.filter((line) => line.includes('partNumber=1')).length).toBe(3);
    expect(proxy.seen.filter((line) => line.includes('partNumber=2')).length).toBe(1);
    await expectStored(key, large);
  });

  it('treats a 200 that contains an <Error> as a failure, when completing and when copying', async () => {
    const key = newKey();
    const fault: Fault = { kind: 'status', status: 200, code: 'InternalError' };
    proxy.set({ fault, count: 2, when: (r) => r.method === 'POST' && r.url?.includes('uploadId=') === true });
    await store.put('private', key, streamOf(large), meta);
    await expectStored(key, large);
    await store.put('private', key, small, meta);
    proxy.set({ fault, count: 2, when: (r) => r.headers['x-amz-copy-source'] !== undefined });
    await store.copy('private', 'public', key);
    expect(sha256(await buckets.read(buckets.publicBucket, key))).toBe(sha256(small));
  });

  it('does not mistake an older object of the same size for one whose completion was refused', async () => {
    const key = newKey();
    const older = bytesOf(large.length, 9);
    await store.put('private', key, streamOf(older), meta);
    const when = (r: http.IncomingMessage) => r.method === 'POST' && r.url?.includes('uploadId=') === true;
    proxy.set({ fault: { kind: 'status', status: 404, code: 'NoSuchUpload' }, when });
    await expect(store.put('private', key, streamOf(large), meta)).rejects.toMatchObject(unavailable);
    await expectStored(key, older);
  });

  it('recognizes its own object when the reply to the completion was lost and the upload no longer exists', async () => {
    const key = newKey();
    const when = (r: http.IncomingMessage) => r.method === 'POST' && r.url?.includes('uploadId=') === true;
    proxy.set(
      { fault: { kind: 'storedThenLost' }, when, count: 1 },
      // Ceph accepts a second completion; most others answer like this.
      { fault: { kind: 'status', status: 404, code: 'NoSuchUpload' }, when },
    );
    await store.put('private', key, streamOf(large), meta);
    expect(proxy.seen.filter((line) => line.startsWith('POST') && line.includes('uploadId=')).length).toBe(2);
    await expectStored(key, large);
  });

  const lasting = [
    { name: 'resets', fault: { kind: 'reset' } },
    { name: 'silence', fault: { kind: 'hang' } },
    { name: '503', fault: { kind: 'status', status: 503, code: 'SlowDown' } },
    { name: 'lost replies', fault: { kind: 'storedThenLost' } },
    { name: 'maintenance pages', fault: { kind: 'page' } },
    { name: 'pages that say 404', fault: { kind: 'page', status: 404 } },
  ] as const;

  it.each(lasting)(
    'every call fails with STORAGE_UNAVAILABLE within its limits under lasting $name',
    async ({ fault }) => {
      const key = newKey();
      await store.put('private', key, small, meta);
      const listAll = async () => {
        for await (const _ of store.list('private'));
      };
      proxy.set({ fault });
      const calls: (() => Promise<unknown>)[] = [
        () => store.put('private', newKey(), small, meta),
        () => store.put('private', newKey(), streamOf(small), meta),
        () => store.put('private', newKey(), streamOf(large), meta),
        () => store.get('private', key),
        () => store.head('private', key),
        () => store.copy('private', 'public', key),
        () => store.sweepUnfinished(new Date(), nobodyWrites),
        () => store.deleteMany('private', [newKey()]),
        () => store.delete('private', newKey()),
        () => store.check(),
        listAll,
      ];
      await within(limitMs, () =>
        Promise.all(calls.map((call) => expect(call()).rejects.toMatchObject(unavailable))),
      );
      expect(proxy.seen.length).toBeLessThanOrEqual(calls.length * 4);
    },
  );

  const isCompletion = (r: http.IncomingMessage) =>
    r.method === 'POST' && r.url?.includes('uploadId=') === true;

  it('waits for a slow completion as long as the server answers other requests', async () => {
    const patient = makeStore({ thinkTimeoutMs: 60_000 });
    const key = newKey();
    proxy.set({ fault: { kind: 'latency', ms: idleTimeoutMs * 4 }, when: isCompletion, count: 1 });
    await patient.put('private', key, streamOf(large), meta);
    await expectStored(key, large);
    expect(proxy.seen.filter(isProbe).length).toBeGreaterThan(0);
    await patient.close();
  });

  it('does not wait for a completion or a copy when the server answers nothing', async () => {
    const patient = makeStore({ thinkTimeoutMs: 60_000 });
    const key = newKey();
    const hang: Fault = { kind: 'hang' };
    const isBucket = (r: http.IncomingMessage) => isProbe(`${r.method} ${r.url}`);
    await patient.put('private', key, small, meta);
    proxy.set(
      { fault: hang, when: isCompletion },
      { fault: hang, when: isBucket },
      { fault: hang, when: (r) => r.headers['x-amz-copy-source'] !== undefined },
    );
    await within(limitMs, () =>
      expect(patient.put('private', newKey(), streamOf(large), meta)).rejects.toMatchObject(unavailable),
    );
    await within(limitMs, () =>
      expect(patient.copy('private', 'public', key)).rejects.toMatchObject(unavailable),
    );
    await patient.close();
  });

  const isProbe = (line: string) => /^HEAD \/[^/]+$/.test(line);

  it('fails with STORAGE_UNAVAILABLE while the server refuses connections, and works again afterwards', async () => {
    const key = newKey();
    await proxy.refuse();
    await within(limitMs, () =>
      expect(store.put('private', key, streamOf(large), meta)).rejects.toMatchObject(unavailable),
    );
    await expect(store.check()).rejects.toThrow(/S3_BUCKET .* not reachable/);
    await proxy.accept();
    await store.put('private', key, streamOf(large), meta);
    await expectStored(key, large);
  });

  it('aborts the multipart upload when a part fails for good', async () => {
    const key = newKey();
    const when = (r: http.IncomingMessage) => r.url?.includes('partNumber=2') === true;
    proxy.set({ fault: { kind: 'status', status: 500 }, when });
    const body = streamOf(large);
    await expect(store.put('private', key, body, meta)).rejects.toMatchObject(unavailable);
    expect(body.destroyed).toBe(true);
    expect(await buckets.unfinishedUploads()).toBe(0);
    expect(await store.head('private', key)).toBeNull();
  });

  it('gives up the abort of a multipart upload within its limit, and leaves it to the sweep', async () => {
    const key = newKey();
    proxy.set(
      { fault: { kind: 'status', status: 500 }, when: (r) => r.url?.includes('partNumber=2') === true },
      { fault: { kind: 'hang' }, when: (r) => r.method === 'DELETE' },
    );
    await within(limitMs, () =>
      expect(store.put('private', key, streamOf(large), meta)).rejects.toMatchObject(unavailable),
    );
    expect(await buckets.unfinishedUploads()).toBe(1);
    proxy.set();
    expect(await store.sweepUnfinished(new Date(Date.now() + 3_600_000), nobodyWrites)).toBe(1);
  });

  it('rethrows an abort at once while the server is silent, and during the back-off between attempts', async () => {
    for (const fault of [{ kind: 'hang' }, { kind: 'reset' }] as const) {
      const patient = makeStore({ idleTimeoutMs: 60_000, backoffBaseMs: 60_000, backoffMaxMs: 60_000 });
      const abort = new AbortController();
      const reason = new Error('the client left');
      proxy.set({ fault });
      const put = patient.put('private', newKey(), small, meta, { signal: abort.signal });
      await expect.poll(() => proxy.seen.length).toBeGreaterThan(0);
      abort.abort(reason);
      await within(limitMs, () => expect(put).rejects.toBe(reason));
      await patient.close();
    }
  });

  it.each([{ kind: 'cutReply', bytes: 100_000 } as const, { kind: 'stallReply', bytes: 100_000 } as const])(
    'a read that breaks half way ($kind) ends with an outage, never as a short body',
    async (fault) => {
      const key = newKey();
      await store.put('private', key, streamOf(large), meta);
      proxy.set({ fault, count: 1 });
      const body = await store.get('private', key);
      await within(limitMs, () => expect(readAll(body)).rejects.toMatchObject(unavailable));
      expect(await digestOf(await store.get('private', key))).toBe(sha256(large));
    },
  );

  it.each(passing)('a read survives $name before its body, once', async ({ name, fault }) => {
    const key = newKey();
    await store.put('private', key, small, meta);
    proxy.set({ fault, count: 1 });
    const read = within(limitMs, async () => readAll(await store.get('private', key)));
    // Once the headers have arrived the read has begun, and a break must be reported.
    if (name.includes('cut at its head')) await expect(read).rejects.toMatchObject(unavailable);
    else expect(sha256(await read)).toBe(sha256(small));
  });

  it('frees the socket of a read that is abandoned half way', async () => {
    const key = newKey();
    await store.put('private', key, streamOf(large), meta);
    const lone = makeStore({ connectionsMax: 1 });
    for (let i = 0; i < 3; i += 1) {
      const body = await lone.get('private', key);
      body.destroy();
    }
    expect(await digestOf(await lone.get('private', key))).toBe(sha256(large));
    await lone.close();
  });

  it('holds no more sockets after many failures than its calls need', async () => {
    const fresh = makeStore({ connectionsMax: 4 });
    proxy.set({ fault: { kind: 'status', status: 500 } });
    const calls = Array.from({ length: 40 }, () => fresh.head('private', newKey()).catch(() => null));
    await Promise.all(calls);
    proxy.set();
    const key = newKey();
    await fresh.put('private', key, small, meta);
    await store.close();
    store = makeStore();
    await expect.poll(() => proxy.openConnections()).toBeLessThanOrEqual(4);
    await fresh.close();
    await expect.poll(() => proxy.openConnections()).toBe(0);
  });

  it('works with a clock that is an hour off, for requests and for signed URLs', async () => {
    for (const offMs of [3_600_000, -3_600_000]) {
      const skewed = makeStore({ clock: () => Date.now() + offMs });
      const key = newKey();
      await skewed.put('private', key, small, meta);
      await expectStored(key, small);
      const url = skewed.downloadUrl('private', key, { ...meta, expiresInSeconds: 60, origin: '' });
      expect((await fetch(url)).status).toBe(200);
      await skewed.close();
    }
  });

  it('borrows memory for one part at a time: a client that pauses between parts blocks nobody', async () => {
    const tight = makeStore({ memoryBytesMax: partBytes, memoryWaitMaxMs: 10_000 });
    const [pausing, other] = [newKey(), newKey()];
    const body = stallingStream(large.subarray(0, partBytes), () => undefined);
    const paused = tight.put('private', pausing, body, meta);
    await tight.put('private', other, streamOf(large), meta);
    await expectStored(other, large);
    body.push(large.subarray(partBytes));
    body.push(null);
    await paused;
    await expectStored(pausing, large);
    await tight.close();
  });

  it('fails with a capacity outage, and never hangs, when all memory for parts is taken', async () => {
    const tight = makeStore({ memoryBytesMax: partBytes, memoryWaitMaxMs: 50 });
    const abort = new AbortController();
    const stalled = new Promise<void>((resolve) => {
      const body = stallingStream(small.subarray(0, 1), resolve);
      body.unshift(bytesOf(100_000));
      tight.put('private', newKey(), body, meta, { signal: abort.signal }).catch(() => undefined);
    });
    await stalled;
    await expect(tight.put('private', newKey(), streamOf(large), meta)).rejects.toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
      details: { part: 'capacity' },
    });
    // A small body needs no part memory.
    const key = newKey();
    await tight.put('private', key, streamOf(small), meta);
    abort.abort();
    await tight.put('private', key, streamOf(large), meta);
    await expectStored(key, large);
    await tight.close();
  });

  it('distinguishes a missing bucket, refused credentials and a missing public bucket', async () => {
    const check = async (over: Partial<S3StoreOptions>) => {
      const odd = makeStore(over);
      await odd.check().finally(() => odd.close());
    };
    await expect(check({ bucket: 'no-such-bucket' })).rejects.toThrow(
      'S3_BUCKET "no-such-bucket" does not exist',
    );
    await expect(check({ publicBucket: 'none-either' })).rejects.toThrow(
      'S3_PUBLIC_BUCKET "none-either" does not exist',
    );
    await expect(check({ secretAccessKey: 'wrong' })).rejects.toThrow(
      /^S3_BUCKET .* refused to these credentials/,
    );
    await expect(check({})).resolves.toBeUndefined();
  });

  it('treats a missing bucket as an outage, not as a missing object', async () => {
    const odd = makeStore({ bucket: 'no-such-bucket' });
    await expect(odd.get('private', newKey())).rejects.toMatchObject(unavailable);
    await expect(odd.delete('private', newKey())).rejects.toMatchObject(unavailable);
    await expect(odd.put('private', newKey(), small, meta)).rejects.toMatchObject(unavailable);
    await odd.close();
  });
}
