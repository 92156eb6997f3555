// A database connection hangs, or breaks before the reply arrives. No other request waits for it, and the caller
// learns the real outcome, or that it is unknown.
import { afterEach, describe, expect, test } from 'vitest';
import { sql } from '../../src/platform/db/sql.ts';
import type { Api, Reply } from '../support/api.ts';
import { bytesOf } from '../support/bytes.ts';
import { rowsOf } from '../support/database.ts';
import { expectBalanced, reapUntilDone } from '../support/ledger.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { until } from '../support/processes.ts';
import { proxyDatabase, type TcpProxy } from '../support/tcp-proxy.ts';
import { adminSession, createTenant, createUser, mintToken, unique } from '../support/tenants.ts';
import { upload } from '../support/uploads.ts';

/** Like the defaults, but faster. */
const timing = { readMs: 3_000, writeMs: 3_000, inquiryMs: 1_500, slowMs: 200, checkMs: 50 };

const cleanUps: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** The instance under test reaches the database through the proxy; the other connects directly. */
async function behindProxy(): Promise<{ service: TestPakhus; watcher: TestPakhus; proxy: TcpProxy }> {
  const watcher = await startTestPakhus({ ROLE: 'api' }, undefined, { databaseTiming: timing });
  const { proxy, url } = await proxyDatabase(watcher.databaseUrl);
  const service = await watcher.another({ DATABASE_URL: url });
  cleanUps.push(
    () => watcher.stop(),
    () => proxy.close(),
    () => service.stop(),
  );
  return { service, watcher, proxy };
}

async function tenantIn(api: Api) {
  const tenant = await createTenant(api, await adminSession(api));
  const user = await createUser(api, tenant.key);
  return { ...tenant, user, path: `/project/users/${user.id}` };
}

/** Text that only the statement that stores files contains. */
const inStoreFiles = '"storage_key"';

const auditsOf = (service: TestPakhus, projectId: string, action: string) =>
  rowsOf<{ resource_id: string }>(
    service.databaseUrl,
    `select resource_id from audit_logs where project_id = '${projectId}' and action = '${action}'`,
  );

function expectUnknown(reply: Reply): void {
  expect([reply.status, reply.body.error?.code], reply.text).toEqual([503, 'STORAGE_UNAVAILABLE']);
  expect(reply.body.error.details).toMatchObject({ part: 'database', outcome: 'unknown' });
}

function expectNotDone(reply: Reply): void {
  expect([reply.status, reply.body.error?.code], reply.text).toEqual([503, 'STORAGE_UNAVAILABLE']);
  expect(reply.body.error.details).not.toHaveProperty('outcome');
}

describe('a reply lost after the commit', () => {
  test('uploads: each gets 201 and is stored once', async () => {
    const { service, watcher, proxy } = await behindProxy();
    const { id, key, path } = await tenantIn(service.api);
    const losing = proxy.loseAnswersTo(inStoreFiles);
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, nth) => upload(service.api, key, path, bytesOf(1_000, nth + 1))),
    );
    losing.stop();
    expect(losing.lost()).toBeGreaterThan(0);
    expect(replies.map(({ status }) => status)).toEqual(Array(12).fill(201));
    const told = replies.map(({ body }) => body.file.id).sort();
    const { files } = (await watcher.api.get(`${path}/files`, key)).body;
    expect(files.map((file: { id: string }) => file.id).sort()).toEqual(told);
    for (const { body } of replies) {
      const { created_at } = (await watcher.api.get(`${path}/files/${body.file.id}`, key)).body.file;
      expect(body.file.created_at).toBe(created_at);
    }
    expect((await auditsOf(watcher, id, 'file.upload')).map((row) => row.resource_id).sort()).toEqual(told);
    await reapUntilDone(watcher);
    await expectBalanced(watcher, id);
  });

  test('changes in transactions: each succeeds, is made once and audited once', async () => {
    const { service, watcher, proxy } = await behindProxy();
    const { id, key, path, user } = await tenantIn(service.api);
    const { token, jti } = await mintToken(service.api, key, user.id);
    const losing = proxy.loseAnswersTo('commit');
    const names = Array.from({ length: 6 }, () => unique('lost'));
    const created = await Promise.all(
      names.map((externalId) => service.api.post('/project/users', key, { externalId })),
    );
    const revoked = await service.api.post(`${path}/tokens/revoke`, key, { jti });
    losing.stop();
    expect(losing.lost()).toBeGreaterThanOrEqual(7);
    expect(created.map(({ status }) => status)).toEqual(Array(6).fill(201));
    expect(revoked.status, revoked.text).toBeLessThan(300);
    for (const { body } of created)
      expect((await watcher.api.get(`/project/users/${body.user.id}`, key)).body.user).toEqual(body.user);
    const audited = (await auditsOf(watcher, id, 'user.create')).map((row) => row.resource_id);
    expect(audited.sort()).toEqual([user.id, ...created.map(({ body }) => body.user.id)].sort());
    expect((await service.api.get(`${path}/files`, token)).status).toBe(401);
  });

  test('a delete: it gets 204 and one audit row; a file that never existed is 404', async () => {
    const { service, watcher, proxy } = await behindProxy();
    const { id, key, path } = await tenantIn(service.api);
    const { file } = (await upload(service.api, key, path, bytesOf(500))).body;
    const losing = proxy.loseAnswersTo(file.id, 1);
    const reply = await service.api.delete(`${path}/files/${file.id}`, key);
    expect([reply.status, losing.lost()]).toEqual([204, 1]);
    expect((await auditsOf(watcher, id, 'file.delete')).map((row) => row.resource_id)).toEqual([file.id]);
    const never = '00000000-0000-4000-8000-000000000000';
    const losingAgain = proxy.loseAnswersTo(never, 1);
    const missing = await service.api.delete(`${path}/files/${never}`, key);
    expect([missing.status, losingAgain.lost()]).toEqual([404, 1]);
    await reapUntilDone(watcher);
    await expectBalanced(watcher, id);
  });

  test('database down as well: the outcome is reported as unknown, and the reply names the file', async () => {
    const { service, watcher, proxy } = await behindProxy();
    const { id, key, path } = await tenantIn(service.api);
    proxy.goAwayWithAnswerTo(inStoreFiles);
    const reply = await upload(service.api, key, path, bytesOf(700));
    expectUnknown(reply);
    const { file_id } = reply.body.error.details;
    expect((await watcher.api.get(`${path}/files/${file_id}`, key)).body.file.size).toBe(700);
    await proxy.comeBack();
    await reapUntilDone(watcher);
    await expectBalanced(watcher, id);
  });
});

describe('a statement that hangs', () => {
  test('on its way to the server: the upload is refused as not stored, and never is', async () => {
    const { service, watcher, proxy } = await behindProxy();
    const one = await tenantIn(service.api);
    const another = await tenantIn(service.api);
    const stuck = proxy.hold(inStoreFiles);
    const uploading = upload(service.api, one.key, one.path, bytesOf(900));
    await until('the commit is stuck', async () => stuck.held() > 0);
    expectNotDone(await uploading);
    expect((await watcher.api.get(`${one.path}/files`, one.key)).body.files).toEqual([]);
    stuck.letGo();
    expect((await upload(service.api, another.key, another.path, bytesOf(900))).status).toBe(201);
    await until('the connection is free again', async () => {
      const { total, idle } = service.pakhus.deps.db.pool();
      return total === idle;
    });
    expect((await watcher.api.get(`${one.path}/files`, one.key)).body.files).toEqual([]);
    await reapUntilDone(watcher);
    await expectBalanced(watcher, one.id);
  });

  test('in the server: other uploads succeed; its own gets an unknown outcome, and the file appears when the server resumes', async () => {
    const service = await startTestPakhus({ ROLE: 'api' }, undefined, { databaseTiming: timing });
    cleanUps.push(() => service.stop());
    const one = await tenantIn(service.api);
    const another = await tenantIn(service.api);
    const { uploading, goOn } = await stopWithinStoring(service, 'stuck.bin', () =>
      upload(service.api, one.key, one.path, bytesOf(800), { name: 'stuck.bin' }),
    );
    for (let nth = 1; nth <= 5; nth += 1)
      expect((await upload(service.api, another.key, another.path, bytesOf(100, nth))).status).toBe(201);
    expect((await service.api.get('/health')).status).toBe(200);
    const reply = await uploading;
    expectUnknown(reply);
    goOn();
    const { file_id } = reply.body.error.details;
    await until(
      'the file is there',
      async () => (await service.api.get(`${one.path}/files/${file_id}`, one.key)).status === 200,
    );
    await reapUntilDone(service);
    await expectBalanced(service, one.id);
    await expectBalanced(service, another.id);
  });

  test('a read: later reads, also of the same tenant, are answered before it times out', async () => {
    const service = await startTestPakhus({ ROLE: 'api' }, undefined, {
      databaseTiming: { ...timing, readMs: 15_000 },
    });
    cleanUps.push(() => service.stop());
    const { key, path } = await tenantIn(service.api);
    const { file } = (await upload(service.api, key, path, bytesOf(100))).body;
    const [reader] = await service.pakhus.deps.db.read<{ pid: number }>(sql`select pg_backend_pid() as pid`);
    const goOn = stop(reader?.pid ?? 0);
    const statuses: (number | null)[] = [];
    const asked: Promise<void>[] = [];
    const ask = async () => {
      const nth = statuses.push(null) - 1;
      statuses[nth] = (await service.api.get(`${path}/files/${file.id}`, key)).status;
    };
    await until('others go on while one is stuck', async () => {
      asked.push(ask());
      const latest = statuses.slice(-25, -5);
      return statuses.includes(null) && latest.length === 20 && latest.every((status) => status === 200);
    });
    goOn();
    await Promise.all(asked);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });
});

/** Stops the PostgreSQL backend that is storing a file of this name. */
async function stopWithinStoring(service: TestPakhus, name: string, start: () => Promise<Reply>) {
  const { databaseUrl } = service;
  await rowsOf(
    databaseUrl,
    `create function wait_here() returns trigger language plpgsql as
      $$ begin perform pg_sleep(0.2); return new; end $$`,
  );
  await rowsOf(
    databaseUrl,
    `create trigger wait_here before insert on files for each row when (new.name = '${name}') execute function wait_here()`,
  );
  const uploading = start();
  const found = await until('the file is being stored', async () => {
    const rows = await rowsOf<{ pid: number }>(
      databaseUrl,
      `select pid from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
    );
    return rows[0]?.pid;
  });
  return { uploading, goOn: stop(found) };
}

function stop(pid: number): () => void {
  process.kill(pid, 'SIGSTOP');
  let stopped = true;
  const goOn = () => {
    if (stopped) process.kill(pid, 'SIGCONT');
    stopped = false;
  };
  cleanUps.push(goOn);
  return goOn;
}
