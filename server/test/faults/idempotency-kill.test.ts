// A request with an Idempotency-Key whose service is killed before or after the commit.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Api, apiOf } from '../support/api.ts';
import { freshDatabase, inTransaction, isSomebodyWaiting, rowsOf } from '../support/database.ts';
import { testSecrets } from '../support/pakhus.ts';
import { type PakhusProcess, startProcess } from '../support/process.ts';
import { until } from '../support/processes.ts';
import { adminSession, createTenant, createUser, unique } from '../support/tenants.ts';
import { contentTypeOf, formOf, partsOf } from '../support/uploads.ts';

let database: Awaited<ReturnType<typeof freshDatabase>>;
let dataDir: string;
let service: PakhusProcess;

const start = async (): Promise<Api> => {
  service = await startProcess({ ...testSecrets, DATABASE_URL: database.url, DATA_DIR: dataDir });
  return apiOf(service.baseUrl);
};

beforeAll(async () => {
  database = await freshDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'pakhus-'));
});
afterAll(async () => {
  await service.stop();
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

const requests = (userId: string) => ({
  user: {
    path: '/project/users',
    content: JSON.stringify({ externalId: unique('once') }),
    type: 'application/json',
  },
  file: {
    path: `/project/users/${userId}/files`,
    content: formOf(partsOf(Buffer.alloc(5_000, 'file'))),
    type: contentTypeOf(),
  },
});

const keptRows = 'select from idempotency_keys';

for (const what of ['user', 'file'] as const) {
  test(`idempotency: kill -9 before or after the commit of a ${what} leaves both the change and its answer, or neither`, async () => {
    let api = await start();
    const tenant = await createTenant(api, await adminSession(api));
    const { id: userId } = await createUser(api, tenant.key);
    const { path, content, type } = requests(userId)[what];
    const key = unique('key');
    const send = () =>
      api.call('POST', path, {
        as: tenant.key,
        raw: content,
        headers: { 'content-type': type, 'idempotency-key': key },
      });
    const counted = `select (select count(*) from users) + (select count(*) from files) as things`;
    const before = await rowsOf<{ things: string }>(database.url, counted);

    await inTransaction(database.url, async (query) => {
      await query('lock table idempotency_keys in exclusive mode');
      const cut = send().catch(() => null);
      await until('the change is made, and its answer about to be kept', () =>
        isSomebodyWaiting(database.url),
      );
      await service.kill();
      expect(await cut).toBeNull();
    });
    await until('the database has undone it', async () => !(await isSomebodyWaiting(database.url)));
    expect(await rowsOf(database.url, counted)).toEqual(before);
    const kept = (await rowsOf(database.url, keptRows)).length;

    api = await start();
    const unheard = send().catch(() => null);
    await until('it is committed', async () => (await rowsOf(database.url, keptRows)).length > kept);
    await service.kill();
    const first = await unheard;
    api = await start();
    const again = await send();
    expect(again.status, again.text).toBe(201);
    expect(again.headers['idempotency-replayed']).toBe('true');
    if (first) expect(again.text).toBe(first.text);
    const [after] = await rowsOf<{ things: string }>(database.url, counted);
    expect(Number(after?.things)).toBe(Number(before[0]?.things) + 1);
    await service.stop();
  });
}
