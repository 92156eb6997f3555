import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import type { Counters } from '../../src/platform/counters/counters.ts';
import { memoryCounters } from '../../src/platform/counters/memory.ts';
import { redisCounters } from '../../src/platform/counters/redis.ts';
import { createLogger } from '../../src/platform/log.ts';
import { openRedis, type RedisClient } from '../../src/platform/redis.ts';
import { countersSuite, keysOf, ledger } from '../contracts/counters.suite.ts';
import type { Api } from '../support/api.ts';
import { apiOf } from '../support/api.ts';
import { onServer, rowsOf } from '../support/database.ts';
import { adminPassword, startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { startProcess } from '../support/process.ts';
import { until } from '../support/processes.ts';
import { hasRedisServer, startRedisServer } from '../support/redis-server.ts';
import { sendFile } from '../support/send-file.ts';
import { adminSession, createTenant, createUser, type Tenant } from '../support/tenants.ts';

const redisUrl = process.env.TEST_REDIS_URL;
if (!redisUrl) console.log('SKIPPED counters on redis: TEST_REDIS_URL is not set');

countersSuite('memory', async () => ({ counters: memoryCounters() }));

interface Sums {
  readonly requests: number;
  readonly errors: number;
  readonly uploads: number;
  readonly downloads: number;
  readonly deletes: number;
  readonly bytes_in: number;
}

/** What the database holds of a project. */
async function folded(databaseUrl: string, projectId: string): Promise<Sums> {
  const sum = (name: string) => `coalesce(sum(${name}), 0)::int as ${name}`;
  const [row] = await rowsOf<Sums>(
    databaseUrl,
    `select ${['requests', 'errors', 'uploads', 'downloads', 'deletes', 'bytes_in'].map(sum).join(', ')}
     from daily_stats where project_id = '${projectId}' and subject_id = project_id`,
  );
  return row as Sums;
}

/** Sends requests of every kind, and says what should have been counted for them. */
async function sendMany(api: Api, key: string, userId: string, rounds: number): Promise<Sums> {
  for (let round = 0; round < rounds; round += 1) {
    const [first] = await Promise.all([
      sendFile(api, key, userId, { bytes: Buffer.alloc(7) }),
      sendFile(api, key, userId, { bytes: Buffer.alloc(3) }),
      api.get('/project/users', key),
      api.get(`/project/users/${randomUUID()}`, key),
    ]);
    await Promise.all([
      api.get(`/project/users/${userId}/files/${first}`, key),
      api.get(`/project/users/${userId}/files/${first}`, key),
      api.get('/project/plans?limit=nonsense', key),
    ]);
    await api.delete(`/project/users/${userId}/files/${first}`, key);
  }
  const of = (amount: number) => amount * rounds;
  return {
    requests: of(8),
    errors: of(2),
    uploads: of(2),
    downloads: of(2),
    deletes: of(1),
    bytes_in: of(10),
  };
}

const plus = (a: Sums, b: Sums): Sums =>
  Object.fromEntries(
    Object.keys(a).map((name) => [name, a[name as keyof Sums] + b[name as keyof Sums]]),
  ) as never;

const creation: Sums = { requests: 1, errors: 0, uploads: 0, downloads: 0, deletes: 0, bytes_in: 0 };

async function tenantWithUser(service: TestPakhus): Promise<{ tenant: Tenant; userId: string }> {
  const tenant = await createTenant(service.api, await adminSession(service.api));
  return { tenant, userId: (await createUser(service.api, tenant.key)).id };
}

describe('counters without Redis', () => {
  let service: TestPakhus;
  const started = async () => {
    service ??= await startTestPakhus();
    return service;
  };
  afterAll(() => service?.stop());

  test('everything counted is folded on stop, exactly, by each of two instances', async () => {
    const first = await started();
    const second = await first.another();
    const { tenant, userId } = await tenantWithUser(second);
    const sent = await Promise.all([
      sendMany(second.api, tenant.key, userId, 3),
      sendMany(first.api, tenant.key, userId, 2),
    ]);
    await second.stop();
    await first.pakhus.deps.foldCounts();
    expect(await folded(first.databaseUrl, tenant.id)).toEqual([creation, ...sent].reduce(plus));
  });

  test('counts reach the database without a stop or a read', async () => {
    const { tenant } = await tenantWithUser(await started());
    await expect.poll(() => folded(service.databaseUrl, tenant.id), { interval: 200 }).toEqual(creation);
  });

  test('a failed fold is retried and counts nothing twice', async () => {
    const { tenant } = await tenantWithUser(await started());
    const { databaseUrl } = service;
    // The fold commits nothing while its table is under another name.
    await onServer(databaseUrl, 'alter table daily_stats rename to daily_stats_away');
    await expect(service.pakhus.deps.foldCounts()).rejects.toThrow();
    await service.api.get('/project/users', tenant.key);
    await onServer(databaseUrl, 'alter table daily_stats_away rename to daily_stats');
    await service.pakhus.deps.foldCounts();
    await service.pakhus.deps.foldCounts();
    expect(await folded(databaseUrl, tenant.id)).toEqual({ ...creation, requests: 2 });
  });

  test('a batch that is already in the database is not added again', async () => {
    const { tenant } = await tenantWithUser(await started());
    const { db } = service.pakhus.deps;
    const { applyBatch } = await import('../../src/features/stats/stats.sql.ts');
    const key = { projectId: tenant.id, subjectId: tenant.id, day: '2026-01-31' };
    const batch = {
      id: randomUUID(),
      rows: [{ ...key, requests: 5, errors: 0, uploads: 0, downloads: 0, deletes: 0, bytes_in: 0 }],
    };
    await Promise.all([1, 2, 3].map(() => db.query(applyBatch(batch))));
    await service.pakhus.deps.foldCounts();
    expect((await folded(service.databaseUrl, tenant.id)).requests).toBe(1 + 5);
  });

  test('counts of a deleted project are dropped and do not block others', async () => {
    const { tenant, userId } = await tenantWithUser(await started());
    const gone = await tenantWithUser(service);
    await service.api.get(`/project/users/${userId}`, tenant.key);
    const admin = await adminSession(service.api);
    expect((await service.api.delete(`/admin/projects/${gone.tenant.id}`, admin)).status).toBe(204);
    await service.pakhus.deps.foldCounts();
    expect((await folded(service.databaseUrl, tenant.id)).requests).toBe(2);
  });
});

describe.skipIf(!redisUrl)('counters on Redis', () => {
  const log = createLogger('silent');
  const clients: RedisClient[] = [];
  const open = async (url = redisUrl ?? '') => {
    const redis = openRedis(url, log);
    clients.push(redis);
    await expect.poll(() => redis.status).toBe('ready');
    return redis;
  };
  const countersOn = (redis: RedisClient, installation: string = randomUUID()): Counters =>
    redisCounters({ redis, installation, fallback: memoryCounters(), log });
  afterAll(() => {
    for (const client of clients) client.disconnect();
  });

  countersSuite('redis', async () => ({ counters: countersOn(await open()) }));

  test('another instance folds the counts of one that died; installations stay separate', async () => {
    const installation = randomUUID();
    const [dying, living, foreign] = await Promise.all([open(), open(), open()]);
    const project = randomUUID();
    const counters = countersOn(dying, installation);
    counters.add(keysOf(project), { requests: 3 });
    await new Promise<void>((resolve) => counters.whenSent(resolve));
    dying.disconnect();
    const other = ledger();
    await countersOn(foreign).drain(other.apply);
    expect(other.applications).toEqual([]);
    const book = ledger();
    await countersOn(living, installation).drain(book.apply);
    expect(book.sumOf(project).requests).toBe(3);
  });

  test('a fold that died after applying a batch is finished by another instance without counting twice', async () => {
    const installation = randomUUID();
    const [first, second] = await Promise.all([open(), open()]);
    const project = randomUUID();
    const book = ledger();
    const dying = countersOn(first, installation);
    dying.add(keysOf(project), { requests: 3 });
    await dying.drain(async (batch) => {
      await book.apply(batch);
      first.disconnect();
    });
    await countersOn(second, installation).drain(book.apply);
    expect(book.applications).toHaveLength(2);
    expect(book.sumOf(project).requests).toBe(3);
    await countersOn(second, installation).drain(book.apply);
    expect(book.applications).toHaveLength(2);
  });

  test('a Redis restored to older data causes no double counts and is used again', async () => {
    const installation = randomUUID();
    const redis = await open();
    const keys = () => redis.keys(`pakhus:count:{${installation}}*`);
    const project = randomUUID();
    const book = ledger();
    const counters = countersOn(redis, installation);
    const count = async (requests: number) => {
      counters.add(keysOf(project), { requests });
      await new Promise<void>((resolve) => counters.whenSent(resolve));
    };
    await count(3);
    await expect.poll(keys).toHaveLength(3);
    const snapshot = await Promise.all(
      (await keys()).map(async (key) => ({ key, value: await redis.dumpBuffer(key) })),
    );
    await counters.drain(book.apply);
    for (const requests of [4, 5]) {
      await count(requests);
      await counters.drain(book.apply);
    }
    expect(book.sumOf(project).requests).toBe(12);
    for (const { key, value } of snapshot) await redis.restore(key, 0, value as Buffer, 'REPLACE');
    for (const requests of [6, 7, 8]) {
      await count(requests);
      await counters.drain(book.apply);
    }
    const drained = async () => {
      await counters.drain(book.apply);
      return book.sumOf(project).requests;
    };
    await expect.poll(drained).toBe(33);
    // In Redis, not only in this process.
    await count(9);
    await expect.poll(() => redis.exists(`pakhus:count:{${installation}}:live`)).toBe(1);
    await counters.close(book.apply);
    expect(book.sumOf(project).requests).toBe(42);
  });

  test('two instances and a restart: totals equal the requests sent, exactly', async () => {
    const first = await startTestPakhus({ REDIS_URL: redisUrl ?? '' });
    try {
      const second = await first.another();
      const { tenant, userId } = await tenantWithUser(first);
      const sent = await Promise.all([
        sendMany(first.api, tenant.key, userId, 6),
        sendMany(second.api, tenant.key, userId, 6),
      ]);
      await second.stop();
      const third = await first.another();
      sent.push(
        ...(await Promise.all([
          sendMany(first.api, tenant.key, userId, 4),
          sendMany(third.api, tenant.key, userId, 4),
        ])),
      );
      const total = [creation, ...sent].reduce(plus);
      // One instance shows what all of them have counted, the moment it was answered.
      const { body } = await third.api.get('/project/stats/overview', tenant.key);
      expect(body.today).toEqual(total);
      await third.stop();
      await first.pakhus.deps.foldCounts();
      expect(await folded(first.databaseUrl, tenant.id)).toEqual({ ...total, requests: total.requests + 1 });
    } finally {
      await first.stop();
    }
  });

  test('kill -9 loses no answered request', async () => {
    const service = await startTestPakhus({ REDIS_URL: redisUrl ?? '' });
    try {
      const { tenant, userId } = await tenantWithUser(service);
      const victim = await startProcess({
        DATABASE_URL: service.databaseUrl,
        DATA_DIR: service.dataDir,
        JWT_SECRET: 'a secret that only the tests know about',
        ADMIN_PASSWORD: adminPassword,
        REDIS_URL: redisUrl ?? '',
        ROLE: 'api',
      });
      const api = apiOf(victim.baseUrl);
      const sent = await sendMany(api, tenant.key, userId, 3);
      await Promise.all(Array.from({ length: 40 }, () => api.get('/project/users', tenant.key)));
      await victim.kill();
      const { body } = await service.api.get('/project/stats/overview', tenant.key);
      const total = plus(creation, sent);
      expect(body.today).toEqual({ ...total, requests: total.requests + 40 });
    } finally {
      await service.stop();
    }
  });

  describe.skipIf(!hasRedisServer)('that goes away', () => {
    test('the process keeps counting, and nothing is lost or doubled when Redis is back', async () => {
      const redis = await startRedisServer();
      const service = await startTestPakhus({ REDIS_URL: redis.url });
      try {
        const { tenant, userId } = await tenantWithUser(service);
        await service.pakhus.deps.foldCounts();
        // Frozen, so that what is sent to it is neither answered nor refused, and may be applied later.
        redis.pause();
        const during = await sendMany(service.api, tenant.key, userId, 2);
        redis.goOn();
        const back = await sendMany(service.api, tenant.key, userId, 2);
        await service.pakhus.deps.foldCounts();
        await service.pakhus.deps.foldCounts();
        const sofar = [creation, during, back].reduce(plus);
        await expect.poll(() => foldedNow(service, tenant.id), { interval: 300 }).toEqual(sofar);
        // Gone for good, with an empty memory: what it held was folded.
        await redis.stop();
        const away = await sendMany(service.api, tenant.key, userId, 2);
        expect(await foldedNow(service, tenant.id)).toEqual(plus(sofar, away));
        await redis.start();
        await until('Redis to be used again', async () => {
          const health = await service.api.get('/health');
          return health.body.checks.redis === 'ok';
        });
        const again = await sendMany(service.api, tenant.key, userId, 2);
        expect(await foldedNow(service, tenant.id)).toEqual([sofar, away, again].reduce(plus));
      } finally {
        await service.stop();
        await redis.remove();
      }
    });
  });
});

async function foldedNow(service: TestPakhus, projectId: string): Promise<Sums> {
  await service.pakhus.deps.foldCounts();
  return folded(service.databaseUrl, projectId);
}
