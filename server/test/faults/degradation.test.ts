// PostgreSQL, Redis and the store go down, go silent, get slow and come back. Requests that do not need the part keep
// working, the others get a clear error, nobody gets in unauthenticated, and no restart is needed.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Api, Reply } from '../support/api.ts';
import { bytesOf, sha256 } from '../support/bytes.ts';
import { rowsOf } from '../support/database.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { expectBalanced, objectsOf, reapUntilDone } from '../support/ledger.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { until } from '../support/processes.ts';
import { makeBuckets, type S3Server, testS3Server } from '../support/s3-server.ts';
import { proxyDatabase, startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import {
  adminSession,
  createIntegration,
  createTenant,
  createUser,
  logIn,
  mintToken,
  sessionOf,
} from '../support/tenants.ts';
import { upload } from '../support/uploads.ts';

const cleanUps: (() => Promise<unknown>)[] = [];
const unhandled: unknown[] = [];
const note = (error: unknown) => unhandled.push(error);

beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', note);
});
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

async function started(environment: Record<string, string> = {}): Promise<TestPakhus> {
  const service = await startTestPakhus(environment);
  cleanUps.push(() => service.stop());
  return service;
}

async function tenantIn(api: Api) {
  const tenant = await createTenant(api, await adminSession(api));
  const user = await createUser(api, tenant.key);
  return { ...tenant, user, path: `/project/users/${user.id}` };
}

function expectOutage(reply: Reply, part: string): void {
  expect([reply.status, reply.body.error.code], reply.text).toEqual([503, 'STORAGE_UNAVAILABLE']);
  expect(reply.body.error.details).toMatchObject({ part });
  expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
}

describe('PostgreSQL', () => {
  /** The instance under test reaches the database through the proxy; the observer connects directly. */
  async function behindProxy(): Promise<{ service: TestPakhus; watcher: TestPakhus; proxy: TcpProxy }> {
    const watcher = await started({ ROLE: 'api' });
    const { proxy, url } = await proxyDatabase(watcher.databaseUrl);
    const service = await watcher.another({ DATABASE_URL: url });
    cleanUps.push(
      () => proxy.close(),
      () => service.stop(),
    );
    return { service, watcher, proxy };
  }

  const works = async (service: TestPakhus, key: string) =>
    (await service.api.get('/project/users', key)).status === 200 &&
    (await service.api.get('/health')).status === 200;

  test('down: every caller gets 503 and nobody gets in; back: everything works without a restart', async () => {
    const { service, proxy } = await behindProxy();
    const { api } = service;
    const { key, user, path, email, password } = await tenantIn(api);
    const integration = await createIntegration(api, key, { scopes: ['users:read', 'files:read'] });
    const { token, jti } = await mintToken(api, integration.key, user.id);
    await api.post(`${path}/tokens/revoke`, key, { jti });
    const live = await mintToken(api, key, user.id);
    const session = await sessionOf(api, email, password);
    const healthy = await api.get('/health');
    expect(healthy.status).toBe(200);

    await proxy.goAway();
    const callers = [key, integration.key, live.token, session, token, `pak_${'0'.repeat(64)}`];
    // More requests than connections, so that every broken connection is replaced.
    for (let round = 0; round < 8; round += 1) {
      for (const caller of callers) {
        expectOutage(await api.get(`${path}/files`, caller), 'database');
        expectOutage(await upload(api, caller, path, bytesOf(10)), 'database');
      }
    }
    // More than the login limit: none of them may count as a failed login.
    for (let nth = 0; nth < 25; nth += 1) {
      const reply = await api.call('POST', '/auth/login', {
        body: { email, password },
        headers: { 'x-forwarded-for': `192.0.2.${nth}` },
      });
      expectOutage(reply, 'database');
    }
    expect((await api.get(`${path}/files`)).status).toBe(401);
    const sick = await api.get('/health');
    expect(sick.status).toBe(503);
    expect(sick.body).toEqual({
      ...healthy.body,
      status: 'degraded',
      checks: { ...healthy.body.checks, database: 'unavailable' },
    });

    await proxy.comeBack();
    await until('it works again', () => works(service, key));
    expect((await logIn(api, email, password)).status).toBe(200);
    expect((await api.get(`${path}/files`, live.token)).status).toBe(200);
    expect((await api.get(`${path}/files`, token)).status, 'what was revoked stays revoked').toBe(401);
    expect((await upload(api, key, path, bytesOf(10))).status).toBe(201);
  });

  test('cut during uploads: each upload is 201 or 503, confirmed files read back, and nothing leaks', async () => {
    const { service, watcher, proxy } = await behindProxy();
    const { api } = service;
    const { id, key, path } = await tenantIn(api);
    const kept = new Map<string, string>();
    let refused = 0;
    let over = false;
    const work = async (seed: number) => {
      for (let nth = 1; !over; nth += 1) {
        const bytes = bytesOf(nth % 5 === 0 ? 300_000 : 2_000, seed * 16 + (nth % 16));
        const reply = await upload(api, key, path, bytes);
        if (reply.status === 201) kept.set(reply.body.file.id, sha256(bytes));
        else {
          expectOutage(reply, 'database');
          refused += 1;
        }
      }
    };
    const working = Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(work));
    for (let round = 0; round < 3; round += 1) {
      const [before, refusedBefore] = [kept.size, refused];
      await until('uploads arrive', async () => kept.size > before + 10);
      await proxy.goAway();
      await until('uploads are refused', async () => refused > refusedBefore + 10);
      await proxy.comeBack();
    }
    const before = kept.size;
    await until('uploads arrive again', async () => kept.size > before + 10);
    over = true;
    await working;

    for (const [fileId, digest] of kept) {
      const { file } = (await watcher.api.get(`${path}/files/${fileId}`, key)).body;
      const download = await fetch(file.url);
      expect(sha256(Buffer.from(await download.arrayBuffer()))).toBe(digest);
    }
    await reapUntilDone(watcher);
    await expectBalanced(watcher, id);
  });

  test('silent: health reports it in time, and requests sent meanwhile are answered when it is back', async () => {
    const { service, proxy } = await behindProxy();
    const { api } = service;
    const { key, path } = await tenantIn(api);
    proxy.fallSilent();
    const waiting = [
      api.get(`${path}/files`, key),
      api.get('/project/users', key),
      upload(api, key, path, bytesOf(99)),
    ];
    const sick = await api.get('/health');
    expect([sick.status, sick.body.checks.database]).toEqual([503, 'unavailable']);
    proxy.speak();
    expect((await Promise.all(waiting)).map((reply) => reply.status)).toEqual([200, 200, 201]);
    expect((await api.get('/health')).status).toBe(200);
  });

  test('silent for good: waiting requests get 503, every connection is dropped, and everything works when it is back', async () => {
    const { service, watcher, proxy } = await behindProxy();
    const { api } = service;
    const { id, key, path } = await tenantIn(api);
    let stored = 0;
    const uploadUntilRefused = async (): Promise<Reply> => {
      for (;;) {
        const reply = await upload(api, key, path, bytesOf(2_000));
        if (reply.status !== 201) return reply;
        stored += 1;
      }
    };
    // More uploads than connections, each at a different point when the silence begins.
    const working = Promise.all(Array.from({ length: 40 }, uploadUntilRefused));
    await until('uploads arrive', async () => stored > 100);
    proxy.fallSilent();
    for (const reply of await working) expectOutage(reply, 'database');
    proxy.speak();
    await until('it works again', () => works(service, key));
    expect((await upload(api, key, path, bytesOf(2_000))).status).toBe(201);
    await reapUntilDone(watcher);
    await expectBalanced(watcher, id);
  });

  test('read-only: health reports it and every caller gets 503; writable again: everything works', async () => {
    const { service, watcher, proxy } = await behindProxy();
    const { key, path } = await tenantIn(service.api);
    const [database] = await rowsOf<{ name: string }>(
      watcher.databaseUrl,
      'select current_database() as name',
    );
    const name = database?.name;
    await rowsOf(watcher.databaseUrl, `alter database ${name} set default_transaction_read_only = on`);
    // Only new sessions see the change.
    proxy.cut();
    await until('health is 503', async () => (await service.api.get('/health')).status === 503);
    expectOutage(await upload(service.api, key, path, bytesOf(10)), 'database');
    expectOutage(await service.api.get(`${path}/files`, key), 'database');
    await rowsOf(
      watcher.databaseUrl,
      `begin read write; alter database ${name} reset default_transaction_read_only; commit`,
    );
    await until('it works again', () => works(service, key));
  });

  test('slow: nothing fails', async () => {
    const { service, proxy } = await behindProxy();
    const { id, key, path } = await tenantIn(service.api);
    proxy.delay(100);
    const replies = await Promise.all([
      ...Array.from({ length: 10 }, () => upload(service.api, key, path, bytesOf(1_000))),
      ...Array.from({ length: 10 }, () => service.api.get(`${path}/files`, key)),
    ]);
    expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([200, 201]));
    proxy.delay(0);
    await reapUntilDone(service);
    await expectBalanced(service, id);
  });
});

const redisUrl = process.env.TEST_REDIS_URL;
if (!redisUrl) console.log('SKIPPED degradation of Redis: TEST_REDIS_URL is not set');

describe.skipIf(!redisUrl)('Redis', () => {
  const max = 6;

  async function twoInstances() {
    const { hostname, port } = new URL(redisUrl ?? '');
    const proxy = await startTcpProxy({ host: hostname, port: Number(port) });
    const REDIS_URL = `redis://127.0.0.1:${proxy.port}`;
    const one = await started({ REDIS_URL });
    const two = await one.another();
    cleanUps.push(
      () => proxy.close(),
      () => two.stop(),
    );
    const { key } = await tenantIn(one.api);
    /** How many of `max` requests at each of the two instances got through. */
    const admitted = async (): Promise<number> => {
      const fields = { scopes: ['users:read'], rateLimitMax: max, rateLimitWindow: 600_000 };
      const integration = await createIntegration(one.api, key, fields);
      const replies: Reply[] = [];
      for (let nth = 0; nth < 2 * max; nth += 1)
        replies.push(await (nth % 2 ? one : two).api.get('/project/users', integration.key));
      const statuses = replies.map((reply) => reply.status);
      expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
      return statuses.filter((status) => status === 200).length;
    };
    await until('limits are shared', async () => (await admitted()) === max);
    return { proxy, one, two, key, admitted };
  }

  test('down: each instance counts alone and nothing fails; back: they share counts again', async () => {
    const { proxy, one, admitted } = await twoInstances();
    await proxy.goAway();
    expect(await admitted()).toBe(2 * max);
    const health = await one.api.get('/health');
    expect([health.status, health.body.status]).toEqual([200, 'ok']);
    expect(health.body.checks.redis).toBe('unavailable');
    await proxy.comeBack();
    await until('limits are shared again', async () => (await admitted()) === max);
    expect((await one.api.get('/health')).body.checks.redis).toBe('ok');
  });

  test('silent: a request waits for it briefly, then goes on without it', async () => {
    const { proxy, admitted } = await twoInstances();
    proxy.fallSilent();
    expect(await admitted()).toBe(2 * max);
    proxy.speak();
    await until('limits are shared again', async () => (await admitted()) === max);
  });

  test('slow: limits are still shared', async () => {
    const { proxy, admitted } = await twoInstances();
    proxy.delay(30);
    expect(await admitted()).toBe(max);
  });
});

const s3 = testS3Server();
if (!s3) console.log('SKIPPED degradation of the store: TEST_S3_ENDPOINT is not set');

describe.skipIf(!s3)('the store', () => {
  async function behindProxy() {
    const server = s3 as S3Server;
    const buckets = await makeBuckets(server);
    const proxy = await startFaultProxy(server.endpoint);
    cleanUps.push(
      () => buckets.remove(),
      () => proxy.close(),
    );
    const service = await started({
      S3_ENDPOINT: proxy.url,
      S3_BUCKET: buckets.bucket,
      S3_PUBLIC_BUCKET: buckets.publicBucket,
      S3_ACCESS_KEY_ID: server.accessKeyId,
      S3_SECRET_ACCESS_KEY: server.secretAccessKey,
      S3_FORCE_PATH_STYLE: 'true',
    });
    return { proxy, service, ...(await tenantIn(service.api)) };
  }

  test('down: metadata is served, uploads get 503 and are not charged, health is 200; back: everything works', async () => {
    const { proxy, service, id, key, path } = await behindProxy();
    const { api } = service;
    const first = (await upload(api, key, path, bytesOf(5_000))).body.file;
    const second = (await upload(api, key, path, bytesOf(6_000))).body.file;

    await proxy.refuse();
    const replies = await Promise.all([
      ...[0, 10, 100_000].map((size) => upload(api, key, path, bytesOf(size))),
      // Larger than the memory buffer, so it is stored while it arrives.
      upload(api, key, path, bytesOf(1 << 20), { meta: { visibility: 'public' } }),
    ]);
    for (const reply of replies) expectOutage(reply, 'storage');
    expect((await api.get(`${path}/storage`, key)).body.storageUsed).toBe(11_000);
    expect((await api.get(`${path}/files`, key)).body.files).toHaveLength(2);
    const detail = await api.get(`${path}/files/${first.id}`, key);
    expect([detail.status, detail.body.file.sha256]).toEqual([200, first.sha256]);
    expect((await api.put(`${path}/files/${first.id}`, key, { folder: 'moved' })).status).toBe(200);
    expect((await api.delete(`${path}/files/${second.id}`, key)).status).toBe(204);
    const health = await api.get('/health');
    expect([health.status, health.body.status, health.body.checks.storage]).toEqual([
      200,
      'ok',
      'unavailable',
    ]);

    await proxy.accept();
    await until(
      'uploads arrive again',
      async () => (await upload(api, key, path, bytesOf(10))).status === 201,
    );
    expect((await api.get('/health')).body.checks.storage).toBe('ok');
    await reapUntilDone(service);
    await expectBalanced(service, id);
  });

  test('slow: nothing fails', async () => {
    const { proxy, service, id, key, path } = await behindProxy();
    proxy.set({ fault: { kind: 'latency', ms: 300 } });
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, nth) => upload(service.api, key, path, bytesOf(nth * 50_000, nth + 1))),
    );
    expect(replies.map((reply) => reply.status)).toEqual(Array(10).fill(201));
    proxy.set();
    expect(await objectsOf(service, id)).toHaveLength(10);
    await expectBalanced(service, id);
  });
});
