// The hash threads by themselves: right digests, nothing kept, and a clean failure when a thread dies or hangs.
import { createHash, randomInt } from 'node:crypto';
import { mkdtemp, open as openFile, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BufferedHash, hashStream } from '../../src/platform/hashing/buffered-hash.ts';
import { createHashPool, type HashPool, type HashPoolOptions } from '../../src/platform/hashing/hash-pool.ts';
import { inlineHashing } from '../../src/platform/hashing/stream-hash.ts';
import { sharedBuffer } from '../../src/platform/heap.ts';
import { createDiskStore } from '../../src/platform/objects/disk/disk-store.ts';
import { PushedBody } from '../../src/platform/objects/pushed-body.ts';
import { bytesOf, streamOf } from '../support/bytes.ts';
import { dist } from '../support/dist.ts';
import { until } from '../support/processes.ts';

const unavailable = { code: 'STORAGE_UNAVAILABLE', details: { part: 'capacity' } };
const atRest = { openHashes: 0, unanswered: 0 };

describe('hash pool', () => {
  let folder: string;
  let warnings: string[];
  let pool: HashPool;
  /** The threads that the test has started. */
  let workers: Worker[];
  const onWorker = (worker: Worker) => workers.push(worker);

  const open = (options: Partial<HashPoolOptions> = {}) => {
    pool = createHashPool({
      log: { warn: (_fields, message) => warnings.push(message) },
      workerPath: join(dist, 'platform/hashing/hash-worker.js'),
      threadsMax: 2,
      ...options,
    });
    return pool;
  };
  /** A thread that runs this instead. */
  const openFaulty = async (program: string, options: Partial<HashPoolOptions> = {}) => {
    const workerPath = join(folder, 'faulty.mjs');
    await writeFile(workerPath, `import { parentPort } from 'node:worker_threads';\n${program}`);
    return open({ workerPath, ...options });
  };
  const shared = (bytes: Buffer) => {
    const copy = sharedBuffer(bytes.length);
    bytes.copy(copy);
    return copy;
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pakhus-hash-'));
    warnings = [];
    workers = [];
    process.on('worker', onWorker);
  });
  afterEach(async () => {
    process.off('worker', onWorker);
    await pool.close();
    await rm(folder, { recursive: true });
  });

  it('hashes a hundred bodies at once, by every algorithm, in chunks of any size, on no more threads than allowed', async () => {
    open();
    const bodies = Array.from({ length: 100 }, (_, nth) => bytesOf(randomInt(600_000), nth + 1));
    const algorithms = ['sha256', 'sha1', 'md5'] as const;
    const algorithmOf = (nth: number) => algorithms[nth % algorithms.length] as (typeof algorithms)[number];
    const digests = await Promise.all(
      bodies.map((body, nth) => hashStream(pool, algorithmOf(nth), streamOf(body, randomInt(1, 200_000)))),
    );
    const expected = bodies.map((body, nth) => createHash(algorithmOf(nth)).update(body).digest());
    expect(digests).toEqual(expected);
    expect(workers).toHaveLength(2);
    expect(pool.load).toEqual({ threads: 2, ...atRest });
  });

  it('gives the same digests as hashing on this thread, for an empty body as well', async () => {
    open();
    for (const length of [0, 1, 131_072, 131_073]) {
      const [there, here] = await Promise.all(
        [pool, inlineHashing].map((hashing) => hashStream(hashing, 'sha256', streamOf(bytesOf(length)))),
      );
      expect(there).toEqual(here);
    }
  });

  it('keeps nothing of a hash that is closed early', async () => {
    open();
    const hashes = Array.from({ length: 20 }, () => pool.open('sha256'));
    const updates = hashes.map((hash) => hash.update(shared(bytesOf(1000))));
    for (const hash of hashes) hash.close();
    expect(pool.load.openHashes).toBe(0);
    await Promise.all(updates);
    expect(pool.load).toEqual({ threads: 2, ...atRest });
  });

  it('writes what it hashes to its place in a file, as hashing on this thread does', async () => {
    open();
    const pieces = [bytesOf(1_000_000, 1), bytesOf(1, 2), bytesOf(300_000, 3)];
    const whole = Buffer.concat(pieces);
    for (const hashing of [pool, inlineHashing]) {
      const path = join(folder, 'written');
      const file = await openFile(path, 'w');
      const hash = hashing.open('sha256');
      let at = 7;
      const updates = pieces.map((piece) => {
        const place = { fd: file.fd, at };
        at += piece.length;
        return hash.update(shared(piece), place);
      });
      await Promise.all(updates);
      await file.close();
      expect(await hash.digest()).toEqual(createHash('sha256').update(whole).digest());
      expect((await readFile(path)).equals(Buffer.concat([Buffer.alloc(7), whole]))).toBe(true);
      await rm(path);
    }
  });

  it('tells the error of the system if it cannot write, and goes on with other hashes', async () => {
    open({ threadsMax: 1 });
    const path = join(folder, 'read-only');
    await writeFile(path, '');
    const file = await openFile(path, 'r');
    const [broken, other] = [pool.open('sha256'), pool.open('sha256')];
    const body = bytesOf(1000);
    const failed = expect(broken.update(shared(body), { fd: file.fd, at: 0 })).rejects.toMatchObject({
      code: 'EBADF',
    });
    await other.update(shared(body));
    await failed;
    broken.close();
    expect(await other.digest()).toEqual(createHash('sha256').update(body).digest());
    expect(pool.load).toEqual({ threads: 1, ...atRest });
    expect(warnings).toEqual([]);
    await file.close();
  });

  it('fails a hash only when its thread can write no more, since its files are closed then', async () => {
    await openFaulty("parentPort.on('message', () => { for (;;); });", { silenceMaxMs: 30 });
    const update = pool.open('sha256').update(shared(Buffer.alloc(5)));
    const order: string[] = [];
    const noted = update.catch(() => order.push('failed'));
    await until('the thread has started', async () => workers[0]);
    workers[0]?.on('exit', () => order.push('thread ended'));
    await noted;
    expect(order).toEqual(['thread ended', 'failed']);
  });

  it('fails the hashes of a thread that dies, never gives them a digest, and replaces the thread', async () => {
    open({ threadsMax: 1 });
    const hash = pool.open('sha256');
    await hash.update(shared(bytesOf(1000)));
    const waiting = [hash.update(shared(bytesOf(50 << 20))), pool.open('md5').digest()];
    const failed = waiting.map((one) => expect(one).rejects.toMatchObject(unavailable));
    await workers[0]?.terminate();
    await Promise.all(failed);
    await expect(hash.digest()).rejects.toMatchObject(unavailable);
    hash.close();
    expect(warnings).toHaveLength(1);
    const body = bytesOf(300_000);
    const digest = await hashStream(pool, 'sha256', streamOf(body));
    expect(digest).toEqual(createHash('sha256').update(body).digest());
    expect(pool.load).toEqual({ threads: 1, ...atRest });
  });

  it('fails the hash of a thread that throws, answers nonsense or cannot start', async () => {
    const programs = [
      "parentPort.on('message', () => { throw new Error('broken'); });",
      "parentPort.on('message', ({ id }) => parentPort.postMessage({ id, total: 1, digest: null }));",
      "parentPort.on('message', () => parentPort.postMessage({ id: 7, total: 5, digest: null }));",
      'process.exit(3);',
      'this is no program',
    ];
    for (const program of programs) {
      await openFaulty(program);
      const hash = pool.open('sha256');
      await expect(hash.update(shared(Buffer.alloc(5))), program).rejects.toMatchObject(unavailable);
      await expect(hash.digest()).rejects.toMatchObject(unavailable);
      hash.close();
      expect(pool.load).toEqual({ threads: 0, ...atRest });
      await pool.close();
    }
    open({ workerPath: join(folder, 'absent.js') });
    await expect(hashStream(pool, 'sha256', streamOf(bytesOf(10)))).rejects.toMatchObject(unavailable);
  });

  it('gives up a thread that stops answering', async () => {
    await openFaulty("parentPort.on('message', () => { for (;;); });", { silenceMaxMs: 30 });
    const hash = pool.open('sha256');
    await expect(hash.update(shared(Buffer.alloc(5)))).rejects.toMatchObject(unavailable);
    expect(pool.load.threads).toBe(0);
  });

  it('fails what is under way when it is closed', async () => {
    await openFaulty("parentPort.on('message', () => undefined);");
    const failed = expect(pool.open('sha256').digest()).rejects.toMatchObject(unavailable);
    await pool.close();
    await failed;
    expect(warnings).toEqual([]);
  });

  describe('while the threads do not answer', () => {
    beforeEach(() => openFaulty("parentPort.on('message', () => undefined);"));

    it('a writer is told to wait after three slabs', async () => {
      const hash = new BufferedHash(pool.open('sha256'));
      let taken = 0;
      for (const chunk = Buffer.alloc(64 << 10); hash.write(chunk); ) taken += chunk.length;
      expect(taken).toBeLessThanOrEqual(3 * (128 << 10));
      const drained = hash.drained();
      await pool.close();
      await drained;
      await expect(hash.digest(), 'the failure comes with the digest').rejects.toMatchObject(unavailable);
    });

    it('the disk store takes two slabs of a body and no more', async () => {
      const options = { root: folder, signingSecret: 's', urlPath: '/o', clock: Date.now };
      const body = new PushedBody(() => undefined);
      const hash = pool.open('sha256');
      const meta = { contentType: 'text/plain', contentDisposition: 'inline' };
      const put = createDiskStore(options).put('private', 'p/f', body, meta, { hash });
      const failed = expect(put).rejects.toMatchObject(unavailable);
      let taken = 0;
      const chunk = Buffer.alloc(64 << 10);
      await until('it is full', async () => {
        if (!body.push(chunk)) return true;
        taken += chunk.length;
        return undefined;
      });
      expect(taken).toBeLessThanOrEqual((2 << 20) + (256 << 10));
      await pool.close();
      body.end();
      await failed;
      hash.close();
    });
  });
});
