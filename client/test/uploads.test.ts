// Uploads of everything that can be uploaded, over connections that fail, on the disk and on S3.
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startOn, storesFor } from '../../server/test/support/stores.ts';
import { startTcpProxy, type TcpProxy } from '../../server/test/support/tcp-proxy.ts';
import {
  type Client,
  createClient,
  folderStore,
  fromPath,
  type Progress,
  type UploadInput,
} from '../src/node.ts';
import { serve } from './support/served.ts';

const mib = 1 << 20;
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

describe.each(storesFor('uploads by the client'))('on $name', (store) => {
  const served = serve(() => startOn(store));
  const content = randomBytes(6 * mib + 321);
  const digest = sha256(content);
  let folder: string;
  let proxy: TcpProxy;
  let client: Client;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pakhus-client-'));
    proxy = await startTcpProxy({ host: '127.0.0.1', port: Number(new URL(served.baseUrl).port) });
    client = createClient({ baseUrl: `http://127.0.0.1:${proxy.port}`, key: served.key, retries: 20 });
  });
  afterEach(async () => {
    const { storageReserved } = await client.user('anna').storage();
    expect(storageReserved).toBe(0);
  });
  afterAll(async () => {
    await proxy?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += 300_000) yield bytes.subarray(at, at + 300_000);
  }
  const streamOf = (bytes: Uint8Array) =>
    Readable.toWeb(Readable.from(pieces(bytes))) as ReadableStream<Uint8Array>;

  const inputs: Record<string, (bytes: Buffer<ArrayBuffer>) => UploadInput | Promise<UploadInput>> = {
    Blob: (bytes) => new Blob([bytes]),
    File: (bytes) => new File([bytes], 'a.bin'),
    ArrayBuffer: (bytes) => new Uint8Array(bytes).buffer,
    Buffer: (bytes) => bytes,
    'async iterable': (bytes) => pieces(bytes),
    ReadableStream: (bytes) => streamOf(bytes),
    path: async (bytes) => {
      const path = join(folder, 'a.bin');
      await writeFile(path, bytes);
      return fromPath(path);
    },
  };

  test.each(Object.entries(inputs))(
    '%s: empty, small and large ones arrive as they are',
    async (_, toInput) => {
      const { files } = client.user('anna');
      for (const bytes of [Buffer.alloc(0), Buffer.from('small'), content]) {
        const file = await files.upload(await toInput(bytes), {
          name: 'ä.bin',
          tags: ['ü,'],
          metadata: { n: 1 },
        });
        expect(file).toMatchObject({
          name: 'ä.bin',
          size: bytes.length,
          sha256: sha256(bytes),
          tags: ['ü,'],
        });
        expect(file.metadata).toEqual({ n: 1 });
      }
    },
  );

  test('resumable: an empty file and a stream that ends with a whole chunk arrive', async () => {
    const { files } = client.user('anna');
    const whole = content.subarray(0, 6 * mib);
    const options = { name: '5%22 "a" \\.bin', chunkSize: 3 * mib };
    for (const [input, bytes] of [
      ['', Buffer.alloc(0)],
      ['small', Buffer.from('small')],
      [pieces(whole), whole],
    ] as const)
      expect(await files.upload(input, options)).toMatchObject({ name: options.name, sha256: sha256(bytes) });
  });

  test('any name is kept', async () => {
    for (const name of ['5%22 "b".txt', 'a\\b.txt', "it's (1)*.txt", 'grüße 🚢.txt']) {
      const file = await client.user('anna').files.upload('x', { name });
      expect(file.name).toBe(name);
    }
  });

  test('a string is its text', async () => {
    const file = await client.user('anna').files.upload('grüß dich');
    expect(await (await client.user('anna').files.download(file.id)).text()).toBe('grüß dich');
  });

  test.each(['form', 'resumable', 'direct'] as const)('%s: survives cut connections', async (mode) => {
    const left = proxy.cutAfter(mib, 3 * mib, 7 * mib);
    const loaded: number[] = [];
    const file = await client.user('anna').files.upload(new Blob([content]), {
      mode,
      chunkSize: 2 * mib,
      onProgress: (progress: Progress) => loaded.push(progress.loaded),
    });
    expect(file.size).toBe(content.length);
    expect(loaded.at(-1)).toBe(content.length);
    // Direct parts go to S3 past the proxy.
    if (mode !== 'direct') expect(left()).toBeLessThan(3);
    proxy.cutAfter();
    const bytes = await (await client.user('anna').files.download(file.id)).arrayBuffer();
    expect(sha256(new Uint8Array(bytes))).toBe(digest);
    const { files } = await client.user('anna').files.list({ limit: 100 }).page();
    expect(files.filter(({ id }) => id === file.id)).toHaveLength(1);
  });

  test('a stream of unknown length survives cut connections', async () => {
    proxy.cutAfter(mib, 2 * mib, 5 * mib);
    const file = await client.user('anna').files.upload(pieces(content), { chunkSize: mib });
    proxy.cutAfter();
    expect(file.sha256).toBe(digest);
  });

  test.each(['resumable', 'direct'] as const)('%s: pauses, and goes on after a restart', async (mode) => {
    const path = join(folder, `${mode}.bin`);
    const bytes = randomBytes(18 * mib);
    await writeFile(path, bytes);
    const unfinished = join(folder, 'unfinished');
    const options = { mode, chunkSize: 2 * mib, resumeStore: folderStore(unfinished), sha256: true } as const;
    const { files } = client.user('anna');
    const first = files.upload(await fromPath(path), {
      ...options,
      onProgress: ({ loaded }) => loaded >= 8 * mib && first.pause(),
    });
    // Never resumed: as if the program had ended.
    await expect.poll(() => first.isPaused).toBe(true);
    await expect.poll(() => readdir(unfinished)).toHaveLength(1);
    const [name = ''] = await readdir(unfinished);
    expect((await stat(join(unfinished, name))).mode & 0o077).toBe(0);
    const loaded: number[] = [];
    const file = await files.upload(await fromPath(path), {
      ...options,
      onProgress: (progress) => loaded.push(progress.loaded),
    });
    expect(loaded[0]).toBeGreaterThanOrEqual(8 * mib);
    expect(file.sha256).toBe(sha256(bytes));
    expect(await readdir(unfinished)).toEqual([]);
  });

  test('goes on where it was paused', async () => {
    const task = client.user('anna').files.upload(new Blob([content]), {
      chunkSize: mib,
      onProgress: ({ loaded }) => {
        if (loaded < 2 * mib || loaded >= 4 * mib) return;
        task.pause();
        setTimeout(() => task.resume(), 1);
      },
    });
    expect((await task).sha256).toBe(digest);
  });

  test('large files go straight to S3, and in chunks to a service that stores by itself', async () => {
    const fresh = createClient({ baseUrl: served.baseUrl, key: served.key });
    const { files, uploads } = fresh.user('anna');
    const large = new Blob([new Uint8Array(65 * mib)]);
    for (const name of ['one', 'two']) await files.upload(large, { name });
    const modes = new Map<string, string>();
    for await (const { name, mode } of uploads.list()) modes.set(name, mode);
    expect([modes.get('one'), modes.get('two')]).toEqual(
      // The first one shows where parts go.
      store.name === 's3' ? ['direct', 'direct'] : ['direct', 'resumable'],
    );
  });

  test('wrong sizes and digests are refused, and nothing stays', async () => {
    const { files } = client.user('anna');
    const wrong = { name: 'wrong.bin' };
    await expect(files.upload(pieces(content), { ...wrong, size: content.length + 1 })).rejects.toMatchObject(
      {
        code: 'INVALID_ARGUMENT',
      },
    );
    await expect(files.upload(pieces(content), { ...wrong, size: content.length - 1 })).rejects.toMatchObject(
      {
        code: 'INVALID_ARGUMENT',
      },
    );
    await expect(files.upload(content, { ...wrong, sha256: '0'.repeat(64) })).rejects.toMatchObject({
      status: 422,
    });
    const names = [];
    for await (const { name } of files.list()) names.push(name);
    expect(names).not.toContain('wrong.bin');
  });
});

const s3 = storesFor('uploads past an S3 that clients cannot reach').find(({ name }) => name === 's3');

describe.skipIf(!s3)('on an S3 that clients cannot reach', () => {
  const served = serve(() =>
    startOn(s3 as NonNullable<typeof s3>, { S3_PUBLIC_ENDPOINT: 'http://127.0.0.1:9' }),
  );

  test('large files go through the service', async () => {
    const { files, uploads, storage } = createClient({
      baseUrl: served.baseUrl,
      key: served.key,
      retries: 0,
    }).user('anna');
    const file = await files.upload(new Blob([new Uint8Array(65 * mib)]), { name: 'large' });
    expect(file.size).toBe(65 * mib);
    const found: string[] = [];
    for await (const { mode, status } of uploads.list()) found.push(`${mode} ${status}`);
    expect(found.sort()).toEqual(['direct cancelled', 'resumable completed']);
    expect((await storage()).storageReserved).toBe(0);
  });
});
