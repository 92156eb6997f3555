// Uploads that are not committed yet: how much of the store and of the shared disk they may use.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bytesOf } from '../support/bytes.ts';
import { expectBalanced, reapUntilDone, setReserved } from '../support/ledger.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { until } from '../support/processes.ts';
import { openRawPost } from '../support/raw-client.ts';
import { createLiveSpace } from '../support/spaces.ts';
import { adminSession, createPlan, createTenant, createUser } from '../support/tenants.ts';
import { contentTypeOf, formOf, partsOf, type UploadOptions, upload } from '../support/uploads.ts';

const mebibyte = 1 << 20;

/** The size of the store's temporary folder, in bytes. */
async function unfinishedBytes({ dataDir }: TestPakhus): Promise<number> {
  const folder = join(dataDir, 'objects', 'tmp');
  const sizes = (await readdir(folder)).map((name) =>
    stat(join(folder, name)).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

async function targetOn(service: TestPakhus, plan: object) {
  const tenant = await createTenant(service.api, await adminSession(service.api));
  await createPlan(service.api, tenant.key, { maxFileSize: 1 << 30, ...plan });
  const user = await createUser(service.api, tenant.key);
  return { ...tenant, userId: user.id, path: `/project/users/${user.id}` };
}

const begin = (service: TestPakhus, at: { key: string; path: string }, length: number | 'chunked') =>
  openRawPost(service.baseUrl, {
    path: `${at.path}/files`,
    as: at.key,
    headers: [
      `Content-Type: ${contentTypeOf()}`,
      length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`,
    ],
  });

describe('the remaining quota', () => {
  let service: TestPakhus;

  beforeAll(async () => {
    service = await startTestPakhus();
  });
  afterAll(() => service.stop());

  /** The highest number of unfinished bytes seen while `work` ran. */
  const mostUnfinished = async (work: Promise<unknown>): Promise<number> => {
    let most = 0;
    let over = false;
    void work.finally(() => {
      over = true;
    });
    while (!over) most = Math.max(most, await unfinishedBytes(service));
    await work;
    return most;
  };

  const race = async (
    at: { key: string; path: string },
    count: number,
    bytes: number,
    options: UploadOptions = {},
  ) => {
    const replies = Promise.all(
      Array.from({ length: count }, () => upload(service.api, at.key, at.path, bytesOf(bytes), options)),
    );
    const most = await mostUnfinished(replies);
    const codes = (await replies).map(({ status, body }) => (status === 201 ? 'stored' : body.error.code));
    return { most, codes: codes.sort() };
  };

  test('files.upload: 15 uploads of 6 MiB with 7 MiB of quota left never hold more than that in the store, and one is stored', async () => {
    const at = await targetOn(service, { storageLimit: 7 * mebibyte });
    const { most, codes } = await race(at, 15, 6 * mebibyte);
    expect(most).toBeLessThanOrEqual(7 * mebibyte);
    expect(codes).toEqual([...Array(14).fill('STORAGE_LIMIT_EXCEEDED'), 'stored']);
    await reapUntilDone(service);
    await expectBalanced(service, at.id);
  });

  test('files.upload: of 12 large uploads racing for room for 5, exactly 5 are stored', async () => {
    const at = await targetOn(service, { storageLimit: 5 * mebibyte });
    const { most, codes } = await race(at, 12, mebibyte);
    expect(most).toBeLessThanOrEqual(5 * mebibyte);
    expect(codes.filter((code) => code === 'stored')).toHaveLength(5);
    expect(new Set(codes)).toEqual(new Set(['STORAGE_LIMIT_EXCEEDED', 'stored']));
    await reapUntilDone(service);
    await expectBalanced(service, at.id);
  });

  test('files.upload: the limit of a space bounds the bytes in flight from its own token and from its owner', async () => {
    const at = await targetOn(service, { storageLimit: 100 * mebibyte });
    const scopes = ['files:write'] as const;
    const space = await createLiveSpace(service, at.id, at.userId, [...scopes]);
    await service.api.put(`${at.path}/spaces/${space.id}`, at.key, { limit_bytes: 4 * mebibyte });
    const meta = { space_id: space.id };
    const both = Promise.all([
      race({ ...at, key: space.token }, 4, 3 * mebibyte),
      race(at, 4, 3 * mebibyte, { meta }),
    ]);
    const most = await mostUnfinished(both);
    expect(most).toBeLessThanOrEqual(4 * mebibyte);
    const codes = (await both).flatMap(({ codes }) => codes);
    expect(codes.sort()).toEqual([...Array(7).fill('STORAGE_LIMIT_EXCEEDED'), 'stored']);
    await reapUntilDone(service);
    await expectBalanced(service, at.id);
  });

  test.each(['users', 'spaces'] as const)(
    'files.upload: bytes reserved by %s are not available to uploads in flight',
    async (table) => {
      const limit = 20 * mebibyte;
      const at = await targetOn(service, { storageLimit: table === 'users' ? limit : 5 * limit });
      const space = await createLiveSpace(service, at.id, at.userId, ['files:write']);
      if (table === 'spaces')
        await service.api.put(`${at.path}/spaces/${space.id}`, at.key, { limit_bytes: limit });
      await setReserved(service, table, table === 'users' ? at.userId : space.id, 13 * mebibyte);
      const { most, codes } = await race({ ...at, key: space.token }, 6, 6 * mebibyte);
      expect(most).toBeLessThanOrEqual(7 * mebibyte);
      expect(codes).toEqual([...Array(5).fill('STORAGE_LIMIT_EXCEEDED'), 'stored']);
      await reapUntilDone(service);
      await expectBalanced(service, at.id);
    },
  );

  test('files.upload: an upload is not refused because of the bytes of another upload that fails', async () => {
    const at = await targetOn(service, { storageLimit: 5 * mebibyte });
    const form = formOf(partsOf(bytesOf(4 * mebibyte)));
    const holder = await begin(service, at, form.length);
    await holder.write(form.subarray(0, 3 * mebibyte));
    await until('the first is in flight', async () => service.pakhus.deps.inFlight.bytesOf(at.userId) > 0);
    let answered = false;
    const second = upload(service.api, at.key, at.path, bytesOf(4 * mebibyte)).finally(() => {
      answered = true;
    });
    const small = await upload(service.api, at.key, at.path, bytesOf(1000));
    expect(small.status, 'a small one waits for nobody').toBe(201);
    expect(answered).toBe(false);
    holder.hangUp();
    expect((await second).status).toBe(201);
    await reapUntilDone(service);
    await expectBalanced(service, at.id);
    expect(service.pakhus.deps.inFlight.bytesOf(at.userId)).toBe(0);
  });

  test('files.upload: a file whose Content-Length already exceeds the quota is refused before a byte is stored', async () => {
    const at = await targetOn(service, { storageLimit: 30 * mebibyte });
    expect((await upload(service.api, at.key, at.path, bytesOf(8 * mebibyte))).status).toBe(201);
    const form = formOf(partsOf(bytesOf(64)));
    const client = await begin(service, at, 40 * mebibyte);
    await client.write(form.subarray(0, form.length - 40));
    for (let sent = 0; sent < 30 && !client.answered; sent += 1) await client.write(bytesOf(mebibyte));
    const { status, text } = await client.reply();
    expect(status).toBe(422);
    expect(text).toContain('STORAGE_LIMIT_EXCEEDED');
    expect(await unfinishedBytes(service)).toBe(0);
    client.end();
    await expectBalanced(service, at.id);
  });

  test('files.upload: an upload without Content-Length also waits for the others, and its real size decides', async () => {
    const at = await targetOn(service, { storageLimit: 5 * mebibyte });
    const sendChunked = async (bytes: number) => {
      const client = await begin(service, at, 'chunked');
      const form = formOf(partsOf(bytesOf(bytes)));
      void client.write(`${form.length.toString(16)}\r\n`);
      void client.write(form);
      void client.write('\r\n0\r\n\r\n');
      const { status } = await client.reply();
      client.end();
      return status;
    };
    const statuses = await Promise.all([1, 2, 3, 1, 2, 3].map((size) => sendChunked(size * mebibyte)));
    const stored = statuses.filter((status) => status === 201).length;
    expect(new Set(statuses)).toEqual(new Set([201, 422]));
    expect(stored).toBeGreaterThanOrEqual(2);
    await reapUntilDone(service);
    await expectBalanced(service, at.id);
  });
});

describe('DISK_FREE_BYTES_MIN', () => {
  test('files.upload: below the limit every upload is 503 with Retry-After and leaves nothing; reads and deletes still work', async () => {
    const service = await startTestPakhus({ DISK_FREE_BYTES_MIN: '0' });
    const at = await targetOn(service, {});
    const { file } = (await upload(service.api, at.key, at.path, 'stored before')).body;
    const full = await service.another({ DISK_FREE_BYTES_MIN: String(Number.MAX_SAFE_INTEGER) });
    try {
      for (const bytes of [0, 1000, 3 * mebibyte]) {
        const reply = await upload(full.api, at.key, at.path, bytesOf(bytes));
        expect(reply.status, reply.text).toBe(503);
        expect(reply.body.error).toMatchObject({ code: 'STORAGE_UNAVAILABLE', details: { part: 'storage' } });
        expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
      }
      expect(await unfinishedBytes(full)).toBe(0);
      expect((await full.api.get(`${at.path}/files/${file.id}`, at.key)).status).toBe(200);
      expect((await full.api.delete(`${at.path}/files/${file.id}`, at.key)).status).toBe(204);
    } finally {
      await full.stop();
    }
    await reapUntilDone(service);
    await expectBalanced(service, at.id);
    await service.stop();
  });
});
