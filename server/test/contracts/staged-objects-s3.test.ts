// Objects that arrive in several requests, on a real S3 server behind a proxy that can fail on purpose.
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { ListMultipartUploadsCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { StreamHash } from '../../src/platform/hashing/stream-hash.ts';
import type { Body, ObjectMeta, Zone } from '../../src/platform/objects/object-store.ts';
import { PushedBody } from '../../src/platform/objects/pushed-body.ts';
import { createS3Store, type S3StoreOptions } from '../../src/platform/objects/s3/s3-store.ts';
import type {
  AppendOptions,
  StagedPart,
  StagedProgress,
  StagedState,
} from '../../src/platform/objects/staged-objects.ts';
import { bytesOf, failingStream, sha256, stallingStream, streamOf } from '../support/bytes.ts';
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import {
  makeBuckets,
  nobodyWrites,
  type S3Buckets,
  type S3Server,
  testS3Server,
} from '../support/s3-server.ts';

type Store = ReturnType<typeof createS3Store>;

const partBytes = 5 << 20;
const meta: ObjectMeta = { contentType: 'text/plain', contentDisposition: 'attachment; filename="a.txt"' };
const unavailable = { code: 'STORAGE_UNAVAILABLE', details: { part: 'storage' } };
const newKey = () => `${randomUUID()}/${randomUUID()}`;

/** What a caller keeps durably about one object. */
class Row {
  readonly zone: Zone;
  readonly key = newKey();
  state: StagedState = null;
  bytes = 0;
  parts: StagedPart[] = [];

  constructor(zone: Zone = 'private') {
    this.zone = zone;
  }

  get object() {
    return { zone: this.zone, key: this.key, meta, state: this.state };
  }

  record({ state, bytes, parts }: StagedProgress): void {
    this.state = JSON.parse(JSON.stringify(state));
    this.bytes = bytes;
    this.parts.push(...JSON.parse(JSON.stringify(parts)));
  }
}

const tailIn = ({ state }: Row) => state && (state.tail as { key: string } | null);
const uploadIn = ({ state }: Row) => (state?.upload ?? { id: '' }) as { id: string };

const server = testS3Server();
if (server) describe('staged objects on s3', () => suite(server));
else {
  console.log('SKIPPED staged objects on s3: TEST_S3_ENDPOINT is not set');
  it.skip('staged objects on s3', () => undefined);
}

function suite(at: S3Server): void {
  let buckets: S3Buckets;
  let proxy: FaultProxy;
  let store: Store;
  let other: Store;
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);

  const makeStore = (over: Partial<S3StoreOptions> = {}) =>
    createS3Store({
      ...buckets.options,
      endpoint: proxy.url,
      stagedPartBytes: partBytes,
      // One part: an operation that kept any of it would fail the next one.
      memoryBytesMax: partBytes,
      memoryWaitMaxMs: 5_000,
      abortTimeoutMs: 2_000,
      backoffBaseMs: 5,
      backoffMaxMs: 20,
      ...over,
    });

  beforeAll(async () => {
    process.on('unhandledRejection', note);
    buckets = await makeBuckets(at);
    proxy = await startFaultProxy(at.endpoint);
    store = makeStore();
    // Its URLs go past the proxy, as those of clients do.
    other = makeStore({ publicEndpoint: at.endpoint });
  });
  afterEach(async () => {
    proxy.set();
    for (const one of [store, other]) await append(one, new Row(), bytesOf(partBytes), partBytes);
    await store.sweepUnfinished(new Date(Date.now() + 3_600_000), nobodyWrites);
    expect(unhandled).toEqual([]);
  });
  afterAll(async () => {
    await store.close();
    await other.close();
    await proxy.close();
    await buckets.remove();
    process.off('unhandledRejection', note);
  });

  /** Appends and records; `size` is that of the whole object. */
  async function append(
    one: Store,
    row: Row,
    body: Body,
    size: number,
    over: Partial<AppendOptions> = {},
  ): Promise<void> {
    const options: AppendOptions = {
      tailKey: newKey(),
      bytesMax: size - row.bytes,
      isWhole: (bytes) => bytes === size,
      onDurable: async (progress) => row.record(progress),
      ...over,
    };
    row.record(await one.staged.append(row.object, row.bytes, body, options));
  }

  const complete = (one: Store, row: Row) =>
    one.staged.complete(row.object, { bytes: row.bytes, parts: row.parts });

  const bucketOf = ({ zone }: Row) => (zone === 'private' ? buckets.bucket : buckets.publicBucket);

  async function expectObject(row: Row, data: Buffer): Promise<void> {
    expect(sha256(await buckets.read(bucketOf(row), row.key))).toBe(sha256(data));
    expect(await store.head(row.zone, row.key)).toMatchObject({ bytes: data.length, ...meta });
  }

  async function uploadsOf(row: Row): Promise<number> {
    const reply = await buckets.sdk.send(new ListMultipartUploadsCommand({ Bucket: bucketOf(row) }));
    return (reply.Uploads ?? []).filter(({ Key }) => Key === row.key).length;
  }

  const isCompletion = (r: http.IncomingMessage) =>
    r.method === 'POST' && r.url?.includes('uploadId=') === true;
  const isCopy = (r: http.IncomingMessage) => r.headers['x-amz-copy-source'] !== undefined;
  const isPart = (number: number) => (r: http.IncomingMessage) =>
    r.url?.includes(`partNumber=${number}&`) === true;

  it.each([
    { size: 'nothing', bytes: 0 },
    { size: '1 B', bytes: 1 },
    { size: 'less than 64 KiB', bytes: 60_000 },
    { size: 'a part less 1', bytes: partBytes - 1 },
    { size: 'a part', bytes: partBytes },
    { size: 'a part and 1', bytes: partBytes + 1 },
    { size: 'two parts', bytes: 2 * partBytes },
    { size: 'three parts and a bit', bytes: 3 * partBytes + 70_001 },
  ])('stores $size that arrives at once, in either zone and from any kind of body', async ({ bytes }) => {
    const data = bytesOf(bytes);
    const pushed = new PushedBody(() => undefined);
    pushed.push(data);
    pushed.end();
    for (const [zone, body] of [
      ['private', data],
      ['public', streamOf(data, 100_003)],
      ['public', pushed],
    ] as const) {
      const row = new Row(zone);
      await append(store, row, body, bytes);
      expect(row.bytes).toBe(bytes);
      expect(await store.head(zone, row.key)).toBeNull();
      await complete(store, row);
      await expectObject(row, data);
      expect(await uploadsOf(row)).toBe(0);
    }
  });

  it('puts odd pieces together that two stores receive in turn, and hashes exactly the new bytes', async () => {
    const data = bytesOf(3 * partBytes + 1_234_567, 7);
    const row = new Row('public');
    const hash = createHash('sha256');
    const sha: StreamHash = {
      update: async (bytes) => void hash.update(bytes),
      digest: async () => hash.digest(),
      close: () => undefined,
    };
    const pieces = [
      1,
      65_536,
      70_000,
      partBytes - 10,
      20,
      0,
      1_048_576,
      partBytes + 77,
      3_000_001,
      data.length,
    ];
    for (const [turn, piece] of pieces.entries()) {
      const from = row.bytes;
      const body = streamOf(data.subarray(from, from + piece), 99_991);
      await append(turn % 2 ? other : store, row, body, data.length, { hash: sha });
      expect(row.bytes).toBe(Math.min(from + piece, data.length));
    }
    expect(row.parts.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
    expect(hash.digest('hex')).toBe(sha256(data));
    await complete(other, row);
    await expectObject(row, data);
  });

  it('reports every full part while the body still arrives', async () => {
    const row = new Row();
    const reports: number[] = [];
    const onDurable = async (progress: StagedProgress) => {
      reports.push(progress.bytes);
      row.record(progress);
    };
    await append(store, row, streamOf(bytesOf(3 * partBytes + 5)), 4 * partBytes, { onDurable });
    expect(reports).toEqual([partBytes, 2 * partBytes, 3 * partBytes]);
    expect(row.bytes).toBe(3 * partBytes + 5);
  });

  it('keeps what has arrived when the body ends early, and goes on from there', async () => {
    const data = bytesOf(2 * partBytes + 9, 3);
    const row = new Row();
    await append(store, row, data.subarray(0, partBytes + 1_000), data.length);
    const { state } = row;
    await append(other, row, Buffer.alloc(0), data.length);
    expect(row.state).toEqual(state);
    await append(other, row, data.subarray(row.bytes), data.length);
    await complete(other, row);
    await expectObject(row, data);
  });

  it('completes an object whose length turned out only after its tail was stored', async () => {
    const data = bytesOf(partBytes + 123_456, 4);
    const row = new Row('public');
    await append(store, row, data, 1 << 30, { isWhole: () => false });
    await complete(other, row);
    await expectObject(row, data);
    await complete(store, row);
    await expectObject(row, data);
  });

  it('refuses to append anywhere but at the recorded end, and more than was announced', async () => {
    const row = new Row();
    const options: AppendOptions = {
      tailKey: newKey(),
      bytesMax: 100_000,
      isWhole: () => false,
      onDurable: async () => undefined,
    };
    await expect(store.staged.append(row.object, 1, bytesOf(10), options)).rejects.toThrow(/append at 1/);
    for (const bytes of [100_001, 200_000, partBytes + 1])
      for (const body of [bytesOf(bytes), streamOf(bytesOf(bytes))])
        await expect(store.staged.append(row.object, 0, body, options)).rejects.toThrow(/longer than/);
    const tight = { ...options, bytesMax: 10 };
    await expect(store.staged.append(row.object, 0, bytesOf(11), tight)).rejects.toThrow(/longer than/);
    expect(await uploadsOf(row)).toBe(0);
  });

  it('refuses to complete anything but what is recorded', async () => {
    const row = new Row();
    await append(store, row, bytesOf(partBytes + 10), partBytes + 10);
    for (const wrong of [
      { bytes: 0, parts: [] },
      { bytes: partBytes, parts: row.parts },
      { bytes: row.bytes, parts: row.parts.slice(1) },
    ])
      await expect(store.staged.complete(row.object, wrong)).rejects.toThrow(/Cannot complete/);
    expect(await store.head(row.zone, row.key)).toBeNull();
  });

  it('ignores what a crashed append has stored but nobody has recorded', async () => {
    const data = bytesOf(2 * partBytes + 500, 5);
    const row = new Row();
    await append(store, row, data.subarray(0, partBytes + 7), data.length);
    const crashed = Object.assign(new Row(), { ...row, parts: [] });
    await append(store, crashed, bytesOf(partBytes + 100, 99), data.length);
    await append(other, row, data.subarray(row.bytes), data.length);
    await complete(other, row);
    await expectObject(row, data);
  });

  it('abandons a multipart upload that no report has named yet', async () => {
    const row = new Row();
    proxy.set({ fault: { kind: 'status', status: 500 }, when: isPart(1) });
    await expect(append(store, row, streamOf(bytesOf(partBytes)), partBytes)).rejects.toMatchObject(
      unavailable,
    );
    expect(await uploadsOf(row)).toBe(0);
  });

  it('goes on from the last report after the store has failed', async () => {
    const data = bytesOf(3 * partBytes + 42, 6);
    const row = new Row();
    proxy.set({ fault: { kind: 'status', status: 500 }, when: isPart(3) });
    await expect(append(store, row, streamOf(data), data.length)).rejects.toMatchObject(unavailable);
    expect(row.bytes).toBe(2 * partBytes);
    proxy.set();
    await append(other, row, streamOf(data.subarray(row.bytes)), data.length);
    await complete(other, row);
    await expectObject(row, data);
  });

  it('lets a fenced writer that finishes late change neither the recorded bytes nor the completed object', async () => {
    const data = bytesOf(2 * partBytes + 3_333, 8);
    const row = new Row();
    await append(store, row, data.subarray(0, 1_000), data.length);
    const late = Object.assign(new Row(), { ...row, parts: [] });
    const body = new PushedBody(() => undefined);
    body.push(data.subarray(1_000, partBytes));
    const fenced = append(store, late, body, data.length);
    await append(other, row, data.subarray(1_000, partBytes + 10), data.length);
    const recorded = row.state;
    body.push(data.subarray(partBytes));
    body.end();
    await fenced;
    expect(row.state).toEqual(recorded);
    await append(other, row, data.subarray(row.bytes), data.length);
    await complete(other, row);
    await expectObject(row, data);
    // Even later: the upload has ended, so nothing can be added to it.
    const stale = Object.assign(new Row(), {
      ...row,
      state: { ...row.state, parts: 1, lastPartBytes: null },
    });
    stale.bytes = partBytes;
    await expect(append(store, stale, bytesOf(partBytes, 77), data.length)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    await expectObject(row, data);
  });

  it('does not complete with a part that a fenced writer has replaced by other bytes', async () => {
    const data = bytesOf(2 * partBytes, 9);
    const row = new Row();
    await append(store, row, data.subarray(0, partBytes), data.length);
    const late = Object.assign(new Row(), { ...row, parts: [] });
    await append(other, row, data.subarray(partBytes), data.length);
    await append(store, late, bytesOf(partBytes, 66), data.length);
    await expect(complete(other, row)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await store.head(row.zone, row.key)).toBeNull();
  });

  it('says NOT_FOUND if the tail is gone or another object', async () => {
    const row = new Row();
    await append(store, row, bytesOf(1_000), 2_000);
    const { key } = tailIn(row) ?? { key: '' };
    await expect(append(store, row, bytesOf(5), 2_000, { tailKey: key })).rejects.toThrow(/tail key/);
    await buckets.sdk.send(
      new PutObjectCommand({ Bucket: buckets.bucket, Key: key, Body: bytesOf(1_000, 2) }),
    );
    await expect(append(store, row, bytesOf(5), 2_000)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(complete(store, row)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await store.delete('private', key);
    await expect(append(store, row, bytesOf(5), 2_000)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(complete(store, row)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('says NOT_FOUND for bytes that another kind of store holds', async () => {
    const row = new Row();
    row.state = { kind: 'disk' };
    await expect(append(store, row, bytesOf(5), 5)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(complete(store, row)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await store.staged.discard(row.object);
  });

  const shapes = [
    { shape: 'nothing', bytes: 0, isWhole: true },
    { shape: 'a tail', bytes: 100_000, isWhole: true },
    { shape: 'parts', bytes: partBytes + 100, isWhole: true },
    { shape: 'parts and a tail', bytes: partBytes + 100, isWhole: false },
  ];
  const losses: { loss: string; fault: Fault; when?: (r: http.IncomingMessage) => boolean }[] = [
    { loss: 'no loss', fault: { kind: 'latency', ms: 1 } },
    { loss: 'a lost answer', fault: { kind: 'storedThenLost' }, when: (r) => isCompletion(r) || isCopy(r) },
    { loss: 'a 500 after it was done', fault: { kind: 'storedThenStatus', status: 500 } },
    { loss: 'a reset', fault: { kind: 'reset' } },
  ];
  it.each(shapes.flatMap((shape) => losses.map((loss) => ({ ...shape, ...loss }))))(
    'completing $shape works with $loss, and again by another store',
    async ({ bytes, isWhole, loss: _, ...rule }) => {
      const data = bytesOf(bytes, 11);
      const row = new Row('public');
      await append(store, row, data, 1 << 30, { isWhole: () => isWhole });
      proxy.set({ ...rule, count: 1 });
      await complete(store, row);
      proxy.set();
      await expectObject(row, data);
      await complete(other, row);
      await expectObject(row, data);
    },
  );

  it.each(shapes.slice(1))(
    'completing $shape again knows its own object where nothing else is left',
    async (shape) => {
      const data = bytesOf(shape.bytes, 12);
      const row = new Row();
      await append(store, row, data, 1 << 30, { isWhole: () => shape.isWhole });
      await complete(store, row);
      const tail = tailIn(row);
      if (tail) await store.delete('private', tail.key);
      // Ceph knows a completed upload for a while; other stores answer like this at once.
      proxy.set({ fault: { kind: 'status', status: 404, code: 'NoSuchUpload' }, when: isCompletion });
      await complete(other, row);
      await expectObject(row, data);
    },
  );

  it('says NOT_FOUND when the multipart upload was discarded, and leaves none behind', async () => {
    const data = bytesOf(partBytes + 5, 13);
    const row = new Row();
    await append(store, row, data, data.length);
    expect(await uploadsOf(row)).toBe(1);
    await other.staged.discard(row.object);
    await other.staged.discard(row.object);
    expect(await uploadsOf(row)).toBe(0);
    await expect(complete(store, row)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await store.staged.discard(new Row().object);
  });

  it('discarding leaves a completed object alone', async () => {
    const data = bytesOf(partBytes + 5, 14);
    const row = new Row();
    await append(store, row, data, data.length);
    await complete(store, row);
    await store.staged.discard(row.object);
    await expectObject(row, data);
  });

  it('the sweep finds an unfinished object by its key, and spares those that are under way', async () => {
    const [kept, left] = [new Row(), new Row('public')];
    for (const row of [kept, left]) await append(store, row, bytesOf(partBytes), 2 * partBytes);
    await store.sweepUnfinished(new Date(Date.now() + 3_600_000), async (key) => key === kept.key);
    expect([await uploadsOf(kept), await uploadsOf(left)]).toEqual([1, 0]);
  });

  it('rethrows errors of the body and the abort of the caller unchanged', async () => {
    const row = new Row();
    const broken = new Error('the body broke');
    await expect(append(store, row, failingStream(bytesOf(300_000), broken), partBytes)).rejects.toBe(broken);
    const abort = new AbortController();
    const gone = new Error('the client left');
    const body = stallingStream(bytesOf(300_000), () => abort.abort(gone));
    await expect(append(store, row, body, partBytes, { signal: abort.signal })).rejects.toBe(gone);
    // Errors of the database have a code, as those of the network do.
    const fenced = Object.assign(new Error('fenced off'), { code: '40001' });
    const onDurable = () => Promise.reject(fenced);
    await expect(
      append(store, row, streamOf(bytesOf(partBytes + 1)), 3 * partBytes, { onDurable }),
    ).rejects.toBe(fenced);
  });

  it('holds no memory while it waits for the first byte, also with a tail to read back', async () => {
    const data = bytesOf(partBytes - 1, 15);
    const [waiting, busy] = [new Row(), new Row()];
    await append(store, waiting, data.subarray(0, partBytes - 1_000), data.length);
    const body = new PushedBody(() => undefined);
    const waits = append(store, waiting, body, data.length);
    await append(store, busy, streamOf(data), data.length);
    body.push(data.subarray(partBytes - 1_000));
    body.end();
    await waits;
    await complete(store, waiting);
    await expectObject(waiting, data);
  });

  it('fails with an outage if the tail breaks off while it is read back', async () => {
    const row = new Row();
    await append(store, row, bytesOf(1 << 20), 1 << 21);
    proxy.set({ fault: { kind: 'cutReply', bytes: 100_000 }, when: (r) => r.method === 'GET', count: 1 });
    await expect(append(store, row, bytesOf(10), 1 << 21)).rejects.toMatchObject(unavailable);
    await append(store, row, bytesOf(10), 1 << 21);
    expect(row.bytes).toBe((1 << 20) + 10);
  });

  describe('direct', () => {
    const size = 2 * partBytes + 1_000;
    const data = bytesOf(size, 21);
    const pieces = [
      data.subarray(0, partBytes),
      data.subarray(partBytes, 2 * partBytes),
      data.subarray(-1_000),
    ];

    async function begin(zone: Zone = 'private'): Promise<Row> {
      const row = new Row(zone);
      row.state = JSON.parse(JSON.stringify(await store.staged.beginDirect(row.object)));
      return row;
    }

    const urlOf = (row: Row, number: number, bytes: number) =>
      other.staged.partUrl(row.object, { number, bytes, expiresInSeconds: 60, origin: 'http://unused' });

    const put = (url: string, body: Buffer) =>
      fetch(url, { method: 'PUT', body: new Uint8Array(body), headers: { 'content-type': 'image/png' } });

    /** On a connection that is not used again: Ceph may refuse a body before it has read it. */
    async function statusOf(url: string, body: Buffer, headers: http.OutgoingHttpHeaders = {}) {
      const request = http.request(url, { method: 'PUT', agent: false, headers });
      request.write(body);
      request.end();
      const [reply] = (await once(request, 'response')) as [http.IncomingMessage];
      reply.resume();
      return reply.statusCode;
    }

    const putStatus = (url: string, body: Buffer) => statusOf(url, body, { 'content-length': body.length });

    async function sendPart(row: Row, number: number, body = pieces[number - 1] ?? Buffer.alloc(0)) {
      const reply = await put(urlOf(row, number, body.length), body);
      expect(reply.status).toBe(200);
      return { number, etag: reply.headers.get('etag') ?? '' };
    }

    async function sendAll(row: Row): Promise<StagedPart[]> {
      const parts: StagedPart[] = [];
      for (const number of [3, 1, 2]) parts.push(await sendPart(row, number));
      return parts.sort((a, b) => a.number - b.number);
    }

    const finish = (row: Row, parts: StagedPart[], bytes = size) =>
      store.staged.complete(row.object, { bytes, parts });

    const refused = {
      code: 'VALIDATION_ERROR',
      status: 422,
      details: { issues: [expect.objectContaining({ path: 'parts' })] },
    };

    it.each(['private', 'public'] as const)(
      'clients send parts in any order to a %s object',
      async (zone) => {
        const row = await begin(zone);
        const parts = await sendAll(row);
        const unquoted = parts.map(({ number, etag }) => ({ number, etag: etag.replaceAll('"', '') }));
        await finish(row, unquoted);
        await expectObject(row, data);
        await finish(row, parts);
        await expectObject(row, data);
        expect(await uploadsOf(row)).toBe(0);
      },
    );

    it('completes although the answer was lost and the upload no longer exists', async () => {
      const row = await begin();
      const parts = await sendAll(row);
      proxy.set(
        { fault: { kind: 'storedThenLost' }, when: isCompletion, count: 1 },
        { fault: { kind: 'status', status: 404, code: 'NoSuchUpload' }, when: isCompletion },
      );
      await finish(row, parts);
      await expectObject(row, data);
    });

    it('a URL takes neither a longer nor a shorter body, and none without a length', async () => {
      const row = await begin();
      const url = urlOf(row, 1, 1_000);
      for (const bytes of [999, 1_001, 0, 50_000]) expect(await putStatus(url, bytesOf(bytes))).toBe(403);
      expect(await statusOf(url, bytesOf(1_000), { 'transfer-encoding': 'chunked' })).toBe(403);
      expect((await put(url, bytesOf(1_000))).status).toBe(200);
    });

    it('a URL is for one part of one upload only', async () => {
      const [row, foreign] = [await begin(), await begin()];
      const url = new URL(urlOf(row, 1, 1_000));
      const { id } = uploadIn(foreign);
      for (const [name, value] of [
        ['uploadId', id],
        ['partNumber', '2'],
        ['X-Amz-Expires', '600'],
      ] as const) {
        const changed = new URL(url);
        changed.searchParams.set(name, value);
        expect(await putStatus(changed.href, bytesOf(1_000))).toBe(403);
      }
      const elsewhere = new URL(url);
      elsewhere.pathname = elsewhere.pathname.replace(row.key, foreign.key);
      expect(await putStatus(elsewhere.href, bytesOf(1_000))).toBe(403);
      expect((await fetch(url)).status).toBe(403);
      const parts = await sendAll(row);
      await expect(finish(foreign, parts)).rejects.toMatchObject(refused);
    });

    it('a URL is dead after completion and after discarding', async () => {
      const [done, dropped] = [await begin(), await begin()];
      const parts = await sendAll(done);
      await finish(done, parts);
      await store.staged.discard(dropped.object);
      for (const row of [done, dropped])
        expect(await putStatus(urlOf(row, 1, 1_000), bytesOf(1_000, 5))).toBe(404);
      await expectObject(done, data);
      await expect(finish(dropped, parts)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    });

    it('refuses wrong etags, missing and wrong numbers and short parts, and completes once they are right', async () => {
      const row = await begin();
      const parts = await sendAll(row);
      const [first, second, third] = parts as [StagedPart, StagedPart, StagedPart];
      const wrong: StagedPart[][] = [
        [],
        [first, second],
        [first, third, second],
        [first, second, { ...third, number: 4 }],
        [first, second, third, { ...third, number: 4 }],
        [first, first, third],
        [first, { ...second, etag: first.etag }, third],
        [first, { ...second, etag: '' }, third],
        [first, { ...second, etag: '"' }, third],
        [first, { ...second, etag: 'a\u0000b</ETag>' }, third],
        [first, { ...second, etag: '<&>' }, third],
      ];
      for (const list of wrong) await expect(finish(row, list)).rejects.toMatchObject(refused);
      await finish(row, parts);
      await expectObject(row, data);
    });

    it('refuses a part that was never sent, one that was replaced, and one that is too small', async () => {
      const row = await begin();
      const [first, third] = [await sendPart(row, 1), await sendPart(row, 3)];
      const second = { number: 2, etag: first.etag };
      await expect(finish(row, [first, second, third])).rejects.toThrow(/^parts: part 2 is not stored/);
      await expect(finish(row, [first, third])).rejects.toThrow(/^parts: part 2 is missing/);
      const early = await sendPart(row, 2, bytesOf(partBytes, 55));
      const later = await sendPart(row, 2);
      await expect(finish(row, [first, early, third])).rejects.toMatchObject(refused);
      const small = await sendPart(row, 2, bytesOf(1_000, 5));
      await expect(finish(row, [first, small, third])).rejects.toMatchObject(refused);
      await sendPart(row, 2);
      await finish(row, [first, later, third]);
      await expectObject(row, data);
    });

    it('refuses an object of another length than announced, also when asked again', async () => {
      const row = await begin();
      const parts = await sendAll(row);
      for (let i = 0; i < 2; i += 1)
        await expect(finish(row, parts, size + 1)).rejects.toMatchObject(refused);
    });

    it('completes an empty object without any part', async () => {
      const row = await begin();
      await finish(row, [], 0);
      await expectObject(row, Buffer.alloc(0));
      expect(await uploadsOf(row)).toBe(0);
    });

    it('signs for the public address', async () => {
      const row = await begin();
      const publicStore = makeStore({ publicEndpoint: 'https://files.example' });
      const options = { number: 1, bytes: 10, expiresInSeconds: 60, origin: '' };
      expect(publicStore.staged.partUrl(row.object, options)).toMatch(/^https:\/\/files\.example\//);
      await publicStore.close();
    });
  });
}
