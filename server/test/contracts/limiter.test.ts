// Runs the limiter suite on every adapter. Redis is a real server that only this file uses, so that it can be stopped.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memoryLimiter } from '../../src/platform/limits/memory.ts';
import { redisLimiter } from '../../src/platform/limits/redis.ts';
import { createLogger } from '../../src/platform/log.ts';
import { openRedis, type RedisClient } from '../../src/platform/redis.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { until } from '../support/processes.ts';
import { hasRedisServer, type RedisServer, startRedisServer } from '../support/redis-server.ts';
import { adminSession, createIntegration, createTenant, unique } from '../support/tenants.ts';
import { limiterSuite } from './limiter.suite.ts';

let offsetMs = 0;
const clock = () => Date.now() + offsetMs;
const memory = memoryLimiter(clock);

limiterSuite('memory', () => ({
  limiter: memory,
  now: clock,
  endWindow: async (windowMs) => {
    offsetMs += windowMs;
  },
}));

test('memory: invented keys of one kind do not evict keys of another kind', async () => {
  const limiter = memoryLimiter(clock);
  const policy = { max: 1, windowMs: 60_000 };
  await limiter.consume('account:a', policy);
  for (let nth = 0; nth <= 200_000; nth += 1) await limiter.consume(`login:${nth}`, policy);
  expect((await limiter.consume('account:a', policy)).allowed).toBe(false);
});

test('memory: a clock that is set back locks nobody out for longer than one window', async () => {
  let now = 6 * 3_600_000;
  const limiter = memoryLimiter(() => now);
  const policy = { max: 1, windowMs: 2_000 };
  await limiter.consume('key:a', policy);
  now = 0;
  expect(await limiter.consume('key:a', policy)).toMatchObject({ allowed: true, resetAtMs: 2_000 });
  expect((await limiter.consume('key:a', policy)).allowed).toBe(false);
});

const redisUrl = process.env.TEST_REDIS_URL;
if (!redisUrl) console.log('SKIPPED redis limiter: TEST_REDIS_URL is not set');

describe.skipIf(!redisUrl)('redis', () => {
  const log = createLogger('silent');
  const clients: RedisClient[] = [];
  const open = (url: string) => {
    const client = openRedis(url, log);
    clients.push(client);
    return { client, limiter: redisLimiter(client, 'test', memoryLimiter(Date.now), Date.now, log) };
  };
  const ready = (client: RedisClient) =>
    until('the client is connected', async () => client.status === 'ready');
  let shared: ReturnType<typeof open>;

  beforeAll(async () => {
    shared = open(redisUrl ?? '');
    await ready(shared.client);
  });
  afterAll(() => {
    for (const client of clients) client.disconnect();
  });

  limiterSuite('redis', () => ({
    limiter: shared.limiter,
    now: Date.now,
    endWindow: async (windowMs) => {
      // Redis uses its own clock: a key that expires with the window tells when it has ended.
      const mark = unique('mark');
      await shared.client.set(mark, '1', 'PX', windowMs);
      await expect.poll(() => shared.client.exists(mark)).toBe(0);
    },
  }));

  test('limiter (redis): two processes share one count', async () => {
    const other = open(redisUrl ?? '');
    await ready(other.client);
    const [key, policy] = [unique('key'), { max: 3, windowMs: 60_000 }];
    const remaining = [];
    for (const { limiter } of [shared, other, shared, other])
      remaining.push((await limiter.consume(key, policy)).remaining);
    expect(remaining).toEqual([2, 1, 0, 0]);
  });

  test('limiter (redis): a counter without an expiry gets one, so that nobody is locked out forever', async () => {
    const key = unique('key');
    await shared.limiter.consume(key, { max: 1, windowMs: 60_000 });
    await shared.client.persist(`pakhus:test:limit:${key}`);
    await shared.limiter.consume(key, { max: 1, windowMs: 60_000 });
    expect(await shared.client.pttl(`pakhus:test:limit:${key}`)).toBeGreaterThan(0);
  });

  describe.skipIf(!hasRedisServer)('that goes away', () => {
    let redis: RedisServer;
    let first: TestPakhus;
    let second: TestPakhus;
    let integration: { id: string; key: string };

    beforeAll(async () => {
      redis = await startRedisServer();
      first = await startTestPakhus({ REDIS_URL: redis.url });
      second = await first.another();
      const admin = await adminSession(first.api);
      const tenant = await createTenant(first.api, admin);
      integration = await createIntegration(first.api, tenant.key, {
        scopes: ['users:read'],
        rateLimitMax: 1_000_000,
        rateLimitWindow: 3_600_000,
      });
    });
    afterAll(async () => {
      await second?.stop();
      await first?.stop();
      await redis?.remove();
    });

    const remainingOn = async ({ api }: TestPakhus) => {
      const reply = await api.get('/project/users', integration.key);
      expect(reply.status, reply.text).toBe(200);
      return Number(reply.headers['x-ratelimit-remaining']);
    };
    /** With a shared count the second call sees the first. */
    const areShared = async () => {
      const before = await remainingOn(first);
      return (await remainingOn(second)) === before - 1;
    };

    test('limits are shared, counted per process during an outage without failing, and shared again afterwards', async () => {
      await expect.poll(areShared).toBe(true);
      await redis.stop();
      const alone = await remainingOn(first);
      for (let call = 1; call <= 5; call += 1) expect(await remainingOn(first)).toBe(alone - call);
      await remainingOn(second);
      const health = await first.api.get('/health');
      expect([health.status, health.body.checks.redis]).toEqual([200, 'unavailable']);
      await redis.start();
      await expect.poll(areShared).toBe(true);
      expect((await first.api.get('/health')).body.checks.redis).toBe('ok');
    });
  });
});
