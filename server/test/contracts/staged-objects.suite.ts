// The guarantees of every store for objects that arrive in several requests, at several processes.
import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PakhusError } from '../../src/kernel/error.ts';
import { inlineHashing } from '../../src/platform/hashing/stream-hash.ts';
import type { Body, ObjectMeta, ObjectStore, Zone } from '../../src/platform/objects/object-store.ts';
import { PushedBody } from '../../src/platform/objects/pushed-body.ts';
import type {
  AppendOptions,
  StagedObject,
  StagedPart,
  StagedProgress,
  StagedState,
} from '../../src/platform/objects/staged-objects.ts';
import { bytesOf, digestOf, failingStream, sha256, stallingStream, streamOf } from '../support/bytes.ts';
import { nobodyWrites } from '../support/s3-server.ts';

export interface StagedStoresUnderTest {
  readonly store: ObjectStore;
  /** Another process on the same objects. */
  readonly other: ObjectStore;
  /** Counts temporary files or multipart uploads without using the stores. */
  unfinished(): Promise<number>;
  /** Sends a body to the URL of a part, without credentials. */
  sendPart(url: string, body: Buffer): Promise<{ readonly status: number; readonly etag: string }>;
  /** Shifts the stores' clock for signing. */
  shiftClock(ms: number): void;
  remove(): Promise<void>;
}

const meta: ObjectMeta = { contentType: 'text/plain', contentDisposition: 'attachment; filename="a.txt"' };
const origin = 'http://pakhus.test';
const inAnHour = () => new Date(Date.now() + 3_600_000);

/** What a caller keeps in its database, and therefore what survives a crash. */
class Upload {
  readonly zone: Zone;
  readonly key = `${randomUUID()}/${randomUUID()}`;
  state: StagedState = null;
  bytes = 0;
  parts: StagedPart[] = [];

  constructor(zone: Zone = 'private') {
    this.zone = zone;
  }

  get object(): StagedObject {
    return { zone: this.zone, key: this.key, meta, state: this.state };
  }

  readonly record = async ({ state, bytes, parts }: StagedProgress): Promise<void> => {
    this.state = JSON.parse(JSON.stringify(state));
    this.bytes = bytes;
    this.parts.push(...JSON.parse(JSON.stringify(parts)));
  };

  /** Without recording what it resolves to. */
  start(
    { staged }: ObjectStore,
    body: Body,
    options: Partial<AppendOptions> = {},
    total = Number.POSITIVE_INFINITY,
  ) {
    return staged.append(this.object, this.bytes, body, {
      tailKey: `${randomUUID()}/${randomUUID()}`,
      bytesMax: 64 << 20,
      isWhole: (bytes) => bytes >= total,
      onDurable: this.record,
      ...options,
    });
  }

  async append(store: ObjectStore, body: Body, options: Partial<AppendOptions> = {}, total?: number) {
    await this.record(await this.start(store, body, options, total));
  }

  complete({ staged }: ObjectStore): Promise<void> {
    return staged.complete(this.object, { bytes: this.bytes, parts: this.parts });
  }
}

/** A PushedBody that holds `data` but has not ended. */
function openBody(data: Buffer): PushedBody {
  const body = new PushedBody(() => undefined);
  body.push(data);
  return body;
}

function pushed(data: Buffer): PushedBody {
  const body = openBody(data);
  body.end();
  return body;
}

export function stagedObjectsContract(name: string, makeStores: () => Promise<StagedStoresUnderTest>): void {
  describe(`staged objects on ${name}`, () => {
    let under: StagedStoresUnderTest;
    let store: ObjectStore;
    let other: ObjectStore;

    beforeAll(async () => {
      under = await makeStores();
      ({ store, other } = under);
      await store.check();
      await other.check();
    });
    afterAll(() => under.remove());

    const expectObject = async ({ zone, key }: Upload, data: Buffer) => {
      expect((await store.head(zone, key))?.bytes).toBe(data.length);
      expect(await digestOf(await store.get(zone, key))).toBe(sha256(data));
      expect(await under.unfinished()).toBe(0);
    };

    const expectNothing = async ({ zone, key }: Upload) => {
      expect(await store.head(zone, key)).toBeNull();
      expect(await under.unfinished()).toBe(0);
    };

    describe('appended by the service', () => appended());
    describe('sent in parts by clients', () => direct());

    function appended(): void {
      it.each([
        { of: 'single bytes', sizes: [1, 1, 1, 1, 1] },
        { of: 'odd sizes', sizes: [1, 99_991, 3, 1_048_577, 65_536, 7] },
        { of: 'more than is reported at once', sizes: [(17 << 20) + 5, 1, (20 << 20) + 1] },
      ])('puts pieces of $of together, whatever kind of body they come in', async ({ sizes }) => {
        const data = bytesOf(sizes.reduce((sum, size) => sum + size));
        const upload = new Upload('public');
        const hash = createHash('sha256');
        const bodies = [(piece: Buffer) => piece, (piece: Buffer) => streamOf(piece, 100_003), pushed];
        for (const [at, size] of sizes.entries()) {
          const piece = data.subarray(upload.bytes, upload.bytes + size);
          const pieceHash = inlineHashing.open('sha256');
          const body = (bodies[at % bodies.length] as (piece: Buffer) => Body)(piece);
          await upload.append(store, body, { hash: pieceHash, bytesMax: size }, data.length);
          expect((await pieceHash.digest()).toString('hex')).toBe(sha256(piece));
          hash.update(piece);
          expect(await store.head('public', upload.key), 'readable before it is complete').toBeNull();
        }
        expect(upload.bytes).toBe(data.length);
        expect(hash.digest('hex')).toBe(sha256(data));
        await upload.complete(store);
        await expectObject(upload, data);
      });

      it('reports what is durable while a long body still arrives', async () => {
        const data = bytesOf(40 << 20);
        const upload = new Upload();
        const reports: number[] = [];
        const onDurable = async (progress: StagedProgress) => {
          reports.push(progress.bytes);
          await upload.record(progress);
        };
        await upload.append(store, streamOf(data), { onDurable }, data.length);
        expect(reports.length).toBeGreaterThanOrEqual(2);
        expect(reports).toEqual(reports.toSorted((a, b) => a - b));
        await upload.complete(store);
        await expectObject(upload, data);
      });

      it('goes on at another process, and back, as often as it happens', async () => {
        const data = bytesOf(6_000_000);
        const upload = new Upload();
        for (let turn = 0; upload.bytes < data.length; turn += 1) {
          const piece = data.subarray(upload.bytes, upload.bytes + 1_234_567 + turn);
          await upload.append(turn % 2 ? other : store, streamOf(piece), {}, data.length);
        }
        await upload.complete(other);
        await expectObject(upload, data);
      });

      it('takes single bytes in turns from two processes', async () => {
        const data = bytesOf(150);
        const upload = new Upload();
        for (const [at, byte] of data.entries())
          await upload.append(at % 2 ? other : store, Buffer.from([byte]), {}, data.length);
        await upload.complete(store);
        await expectObject(upload, data);
      });

      it.each([
        { by: 'the same process', at: () => store },
        { by: 'another process', at: () => other },
      ])('ignores bytes that were never recorded, when $by goes on', async ({ at }) => {
        const data = bytesOf(300_000);
        const upload = new Upload();
        await upload.append(store, data.subarray(0, 100_000));
        await upload.start(store, bytesOf(150_000, 2));
        await upload.append(at(), data.subarray(100_000), {}, data.length);
        await upload.complete(at());
        expect(await digestOf(await store.get(upload.zone, upload.key))).toBe(sha256(data));
        await store.sweepUnfinished(inAnHour(), nobodyWrites);
        await expectObject(upload, data);
      });

      it.each([
        { by: 'the same process', at: () => store },
        { by: 'another process', at: () => other },
      ])('a writer that lost the upload to $by and writes late changes nothing', async ({ at }) => {
        const data = bytesOf(20 << 20);
        const bad = bytesOf(3 << 20, 2);
        const upload = new Upload();
        await upload.append(store, data.subarray(0, 1_000_000));
        const late = openBody(bad);
        const lateEnd = upload.start(store, late, { onDurable: async () => undefined });
        await upload.append(at(), data.subarray(1_000_000, 9_000_001));
        await upload.append(at(), data.subarray(9_000_001), {}, data.length);
        late.push(bad);
        await upload.complete(at());
        late.push(bad);
        late.end();
        await lateEnd.catch(() => undefined);
        expect(await digestOf(await store.get(upload.zone, upload.key))).toBe(sha256(data));
        await store.sweepUnfinished(inAnHour(), nobodyWrites);
        await expectObject(upload, data);
      });

      it('a call that starts late from an outdated state changes nothing that was recorded since', async () => {
        const data = bytesOf(300_000);
        const upload = new Upload();
        await upload.append(store, data.subarray(0, 100_000));
        const { object, bytes } = upload;
        await upload.append(store, data.subarray(100_000, 200_000));
        const stale = Object.assign(new Upload(), { key: object.key, state: object.state, bytes });
        await stale.start(store, bytesOf(150_000, 2)).catch(() => undefined);
        await upload.append(store, data.subarray(200_000), {}, data.length);
        await upload.complete(store);
        expect(await digestOf(await store.get(upload.zone, upload.key))).toBe(sha256(data));
        await store.sweepUnfinished(inAnHour(), nobodyWrites);
        await expectObject(upload, data);
      });

      it('a body that fails loses at most what was not reported, and its error is rethrown', async () => {
        const data = bytesOf(40 << 20);
        const upload = new Upload();
        const error = Object.assign(new Error('the line broke'), { code: 'ECONNRESET' });
        const body = failingStream(data.subarray(0, 30 << 20), error);
        await expect(upload.start(store, body)).rejects.toBe(error);
        expect(upload.bytes).toBeGreaterThan(0);
        await upload.append(store, streamOf(data.subarray(upload.bytes)), {}, data.length);
        await upload.complete(store);
        await expectObject(upload, data);
      });

      it('an error of the report ends the call and is rethrown unchanged', async () => {
        const upload = new Upload();
        const error = Object.assign(new Error('fenced off'), { code: '40001' });
        const onDurable = () => Promise.reject(error);
        await expect(upload.start(store, streamOf(bytesOf(40 << 20)), { onDurable })).rejects.toBe(error);
        await store.sweepUnfinished(inAnHour(), nobodyWrites);
        await expectNothing(upload);
      });

      it('rethrows an abort, also of a client that is silent, and can be continued', async () => {
        const data = bytesOf(500_000);
        const upload = new Upload();
        await upload.append(store, data.subarray(0, 1000));
        const abort = new AbortController();
        const reason = new Error('too slow');
        const body = stallingStream(data.subarray(1000, 200_000), () => abort.abort(reason));
        await expect(upload.start(store, body, { signal: abort.signal })).rejects.toBe(reason);
        expect(body.destroyed).toBe(true);
        await upload.append(store, data.subarray(1000), {}, data.length);
        await upload.complete(store);
        await expectObject(upload, data);
      });

      it('a call without a byte changes nothing', async () => {
        const upload = new Upload();
        await upload.append(store, pushed(Buffer.alloc(0)));
        expect(upload).toMatchObject({ bytes: 0, parts: [] });
        await upload.append(other, bytesOf(10));
        await upload.append(store, streamOf(Buffer.alloc(0)), {}, 10);
        expect(upload.bytes).toBe(10);
        await upload.complete(store);
        await expectObject(upload, bytesOf(10));
      });

      it('a body that holds more than was announced is a bug, and adds nothing', async () => {
        const upload = new Upload();
        await upload.append(store, bytesOf(1000));
        for (const body of [bytesOf(1001), streamOf(bytesOf(3 << 20))]) {
          const error = await upload.start(store, body, { bytesMax: 1000 }).catch((thrown) => thrown);
          expect(error).toBeInstanceOf(Error);
          expect(error).not.toBeInstanceOf(PakhusError);
        }
        expect(upload.bytes).toBe(1000);
        await upload.append(store, bytesOf(0), {}, 1000);
        await upload.complete(store);
        await expectObject(upload, bytesOf(1000));
      });

      it('an offset that is not that of the state is a bug', async () => {
        const upload = new Upload();
        await upload.append(store, bytesOf(1000));
        const wrong = Object.assign(new Upload(), { key: upload.key, state: upload.state, bytes: 999 });
        const error = await wrong.start(store, bytesOf(10)).catch((thrown) => thrown);
        expect(error).toBeInstanceOf(Error);
        expect(error).not.toBeInstanceOf(PakhusError);
        await store.staged.discard(upload.object);
        await expectNothing(upload);
      });

      it.each(['private', 'public'] as const)('completes an empty %s object', async (zone) => {
        const upload = new Upload(zone);
        await upload.complete(store);
        await upload.complete(other);
        await expectObject(upload, Buffer.alloc(0));
      });

      it('completing may be repeated, by any process, also at the same time', async () => {
        for (const writers of [[store], [store, other]]) {
          const data = bytesOf(2_000_000);
          const upload = new Upload();
          for (const at of writers)
            await upload.append(
              at,
              data.subarray(upload.bytes, upload.bytes + 2e6 / writers.length),
              {},
              2e6,
            );
          await Promise.all([upload.complete(store), upload.complete(other), upload.complete(store)]);
          await upload.complete(other);
          await upload.complete(store);
          await expectObject(upload, data);
        }
      });

      it('discarding leaves nothing, may be repeated, and what was discarded cannot be completed', async () => {
        const upload = new Upload();
        await store.staged.discard(upload.object);
        await upload.append(store, bytesOf(200_000));
        await upload.append(other, bytesOf(6 << 20));
        await other.staged.discard(upload.object);
        await store.staged.discard(upload.object);
        await expectNothing(upload);
        await expect(upload.complete(store)).rejects.toBeInstanceOf(Error);
        await expectNothing(upload);
      });

      it('the sweep finds by its key what a crash left, and leaves what is under way', async () => {
        const upload = new Upload();
        await upload.append(store, bytesOf(6 << 20));
        await upload.append(other, bytesOf(6 << 20));
        const isUnderWay = async (key: string) => key === upload.key;
        expect(await store.sweepUnfinished(inAnHour(), isUnderWay)).toBe(0);
        expect(await store.sweepUnfinished(new Date(Date.now() - 3_600_000), nobodyWrites)).toBe(0);
        expect(await under.unfinished()).toBeGreaterThan(0);
        expect(await store.sweepUnfinished(inAnHour(), nobodyWrites)).toBeGreaterThan(0);
        await expectNothing(upload);
      });
    }

    function direct(): void {
      const partBytes = () => store.staged.partBytesFor(20 << 20);
      const urlFor = ({ object }: Upload, number: number, bytes: number) =>
        store.staged.partUrl(object, { number, bytes, expiresInSeconds: 60, origin });

      const begin = async () => {
        const upload = new Upload();
        upload.state = JSON.parse(JSON.stringify(await store.staged.beginDirect(upload.object)));
        return upload;
      };

      const send = async (upload: Upload, number: number, body: Buffer) => {
        const { status, etag } = await under.sendPart(urlFor(upload, number, body.length), body);
        expect(status).toBe(200);
        return { number, etag };
      };

      const piecesOf = (data: Buffer) =>
        Array.from({ length: Math.ceil(data.length / partBytes()) }, (_, at) =>
          data.subarray(at * partBytes(), (at + 1) * partBytes()),
        );

      const completeWith = (upload: Upload, bytes: number, parts: readonly StagedPart[], at = store) =>
        at.staged.complete(upload.object, { bytes, parts });

      /** Sends all parts of 20 MiB, the last one first. */
      const sendAll = async (upload: Upload, data: Buffer) => {
        const parts: StagedPart[] = [];
        for (const [at, piece] of [...piecesOf(data).entries()].reverse())
          parts.unshift(await send(upload, at + 1, piece));
        return parts;
      };

      const expectRefusal = async (completing: Promise<void>, number: number) => {
        const error = await completing.then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        expect(error).toMatchObject({ code: 'VALIDATION_ERROR', status: 422 });
        const { issues } = (error as PakhusError).details as { issues: { path: string; message: string }[] };
        expect(issues).toContainEqual(
          expect.objectContaining({ path: 'parts', message: expect.stringContaining(`part ${number} `) }),
        );
      };

      const data = bytesOf((20 << 20) + 1);

      it('puts parts together that came in any order, and completing may be repeated', async () => {
        const upload = await begin();
        const parts = await sendAll(upload, data);
        expect(parts.map(({ etag }) => etag.replaceAll('"', ''))).toEqual(
          piecesOf(data).map((piece) => createHash('md5').update(piece).digest('hex')),
        );
        expect(await store.head(upload.zone, upload.key)).toBeNull();
        await completeWith(upload, data.length, parts, other);
        await completeWith(upload, data.length, parts);
        await completeWith(upload, data.length, parts, other);
        await expectObject(upload, data);
      });

      it('takes etags without quotes', async () => {
        const upload = await begin();
        const parts = await sendAll(upload, data);
        const bare = parts.map(({ number, etag }) => ({ number, etag: etag.replaceAll('"', '') }));
        await completeWith(upload, data.length, bare);
        await expectObject(upload, data);
      });

      it('the last of two parts with the same number counts, and the etag of the first is refused', async () => {
        const upload = await begin();
        const first = await send(upload, 2, bytesOf(partBytes(), 9));
        const parts = await sendAll(upload, data);
        await expectRefusal(completeWith(upload, data.length, parts.with(1, first)), 2);
        await completeWith(upload, data.length, parts);
        await expectObject(upload, data);
      });

      it('refuses a wrong etag and a missing part by number, and can be completed afterwards', async () => {
        const upload = await begin();
        const [one, two, three] = piecesOf(data) as [Buffer, Buffer, Buffer];
        const parts = [await send(upload, 1, one), await send(upload, 2, two)];
        const md5 = createHash('md5').update(three).digest('hex');
        await expectRefusal(completeWith(upload, data.length, parts), 3);
        await expectRefusal(completeWith(upload, data.length, [...parts, { number: 3, etag: md5 }]), 3);
        parts.push(await send(upload, 3, three));
        await expectRefusal(completeWith(upload, data.length, parts.with(0, { number: 1, etag: md5 })), 1);
        expect(await store.head(upload.zone, upload.key)).toBeNull();
        await completeWith(upload, data.length, parts);
        await expectObject(upload, data);
      });

      it('refuses bodies of another length than signed, and URLs that expired or were changed', async () => {
        const upload = await begin();
        const url = urlFor(upload, 1, 1000);
        under.shiftClock(-120_000);
        const expired = urlFor(upload, 1, 1000);
        under.shiftClock(0);
        for (const [address, bytes] of [
          [url, 999],
          [url, 1001],
          [url, 0],
          [expired, 1000],
          [url.replace(upload.key, new Upload().key), 1000],
          [url.replaceAll('1000', '1001'), 1001],
        ] as const) {
          const { status } = await under.sendPart(address, bytesOf(bytes));
          expect(status).toBeGreaterThanOrEqual(400);
          expect(status).toBeLessThan(500);
        }
        const part = await send(upload, 1, bytesOf(1000));
        await completeWith(upload, 1000, [part]);
        await expectObject(upload, bytesOf(1000));
      });

      it('a part that comes after completion changes nothing, and the sweep removes it', async () => {
        const upload = await begin();
        const parts = await sendAll(upload, data);
        await completeWith(upload, data.length, parts);
        await under.sendPart(urlFor(upload, 1, 1000), bytesOf(1000, 2));
        await completeWith(upload, data.length, parts);
        await under.sendPart(urlFor(upload, 1, 1000), bytesOf(1000, 2));
        await store.sweepUnfinished(inAnHour(), nobodyWrites);
        await expectObject(upload, data);
      });

      it('discarding leaves nothing, and the sweep finds unfinished parts by their key', async () => {
        const [discarded, left] = [await begin(), await begin()];
        await send(discarded, 1, bytesOf(1000));
        await send(left, 1, bytesOf(1000));
        await other.staged.discard(discarded.object);
        await store.staged.discard(discarded.object);
        const isUnderWay = async (key: string) => key === left.key;
        await store.sweepUnfinished(inAnHour(), isUnderWay);
        expect(await under.unfinished()).toBe(1);
        expect(await store.sweepUnfinished(inAnHour(), nobodyWrites)).toBe(1);
        await expectNothing(left);
      });

      it('needs at most 10,000 parts of whole MiB', () => {
        for (const bytes of [0, 1, 8 << 20, 20 << 20, 100e9, 5e12 - 1]) {
          const size = store.staged.partBytesFor(bytes);
          expect(size % (1 << 20)).toBe(0);
          expect(Math.ceil(bytes / size)).toBeLessThanOrEqual(10_000);
        }
      });
    }
  });
}
