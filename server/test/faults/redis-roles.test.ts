// Redis servers that refuse writes, and a primary that its Sentinels replace.
import { afterEach, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { parseSentinelAddress } from '../../src/platform/redis-address.ts';
import { rowsOf } from '../support/database.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { until } from '../support/processes.ts';
import {
  hasRedisServer,
  type RedisServer,
  startRedisReplica,
  startRedisServer,
  startSentinel,
} from '../support/redis-server.ts';
import { adminSession, createIntegration, createTenant } from '../support/tenants.ts';

if (!hasRedisServer) console.log('SKIPPED roles of Redis: redis-server is not installed');

test.each([
  [
    'redis+sentinel://a:26379,b.example:26380/mymaster',
    {
      sentinels: [
        { host: 'a', port: 26379 },
        { host: 'b.example', port: 26380 },
      ],
      name: 'mymaster',
      database: 0,
      tls: false,
    },
  ],
  [
    'rediss+sentinel://me:p%40ss@[::1],b/prime/3?sentinel_password=s%26t',
    {
      sentinels: [
        { host: '::1', port: 26379 },
        { host: 'b', port: 26379 },
      ],
      name: 'prime',
      database: 3,
      tls: true,
      username: 'me',
      password: 'p@ss',
      sentinelPassword: 's&t',
    },
  ],
  [
    'redis+sentinel://:secret@a/m',
    { sentinels: [{ host: 'a', port: 26379 }], name: 'm', database: 0, tls: false, password: 'secret' },
  ],
])('%s is read', (text, address) => {
  expect(parseSentinelAddress(text)).toEqual(address);
  expect(readConfig({ REDIS_URL: text }).settings.REDIS_URL).toBe(text);
});

test.each([
  'redis+sentinel://a:26379',
  'redis+sentinel://a:26379/',
  'redis+sentinel:///mymaster',
  'redis+sentinel://a:99999/m',
  'redis+sentinel://a,,b/m',
  'redis+sentinel://u:pa/ss@a/m',
  'redis+sentinel://u:hidden@a b/m',
  'redis+sentinel://u:hidden%@a/m',
])('%s is refused with what is expected, and without its password', (text) => {
  expect(() => readConfig({ REDIS_URL: text })).toThrow(/REDIS_URL must (be like redis\+sentinel|write %)/);
  expect(() => readConfig({ REDIS_URL: text })).not.toThrow(/hidden/);
});

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const kept = <Server extends RedisServer>(server: Server): Server => {
  cleanUps.push(() => server.remove());
  return server;
};

async function startOn(url: string): Promise<{ service: TestPakhus; log: () => string }> {
  let log = '';
  const service = await startTestPakhus({ REDIS_URL: url, LOG_LEVEL: 'warn' }, (lines) => {
    log += lines;
  });
  cleanUps.push(() => service.stop());
  return { service, log: () => log };
}

const redisOf = async ({ api }: TestPakhus) => {
  const { status, body } = await api.get('/health');
  return [status, body.checks.redis];
};

describe.skipIf(!hasRedisServer)('a Redis', () => {
  test('that is a replica is unavailable in health, the log says why, and requests still work', async () => {
    const primary = kept(await startRedisServer());
    const replica = kept(await startRedisReplica(primary));
    const { service, log } = await startOn(replica.url);
    await until('the log says why', async () => log().includes('leads to a replica'));
    expect(await redisOf(service)).toEqual([200, 'unavailable']);
    await adminSession(service.api);
  });

  test('that is a Sentinel is unavailable in health, and the log says how to write the URL', async () => {
    const primary = kept(await startRedisServer());
    const sentinel = kept(await startSentinel('prime', primary));
    const { service, log } = await startOn(sentinel.url);
    await until('the log says why', async () => log().includes('write redis+sentinel://'));
    expect(await redisOf(service)).toEqual([200, 'unavailable']);
  });

  test('that is demoted is dropped for the server that its address now resolves to', async () => {
    const primary = kept(await startRedisServer());
    const { service } = await startOn(primary.url);
    await until('it is used', async () => (await redisOf(service))[1] === 'ok');
    const other = kept(await startRedisServer());
    await primary.ask('REPLICAOF', '127.0.0.1', String(other.port));
    await until('it is read only', async () => (await redisOf(service))[1] === 'unavailable');
    await primary.ask('REPLICAOF', 'NO', 'ONE');
    await until('it is used again', async () => (await redisOf(service))[1] === 'ok');
  });

  test('behind Sentinels that require passwords is used', async () => {
    const primary = kept(await startRedisServer('requirepass "of redis"'));
    const sentinel = kept(
      await startSentinel(
        'prime',
        primary,
        'sentinel auth-pass prime "of redis"',
        'requirepass "of sentinels"',
      ),
    );
    const { service } = await startOn(
      `redis+sentinel://:of%20redis@127.0.0.1:${sentinel.port}/prime?sentinel_password=of%20sentinels`,
    );
    await until('it is used', async () => (await redisOf(service))[1] === 'ok');
  });

  test('that its Sentinels replace shares limits again and counts every request once', async () => {
    const primary = kept(await startRedisServer('repl-diskless-sync-delay 0'));
    const replica = kept(await startRedisReplica(primary));
    const sentinel = kept(await startSentinel('prime', primary));
    await until('the sentinel knows the replica', async () =>
      String(await sentinel.ask('SENTINEL', 'replicas', 'prime')).includes(String(replica.port)),
    );
    const unknown = '127.0.0.1:1';
    const { service } = await startOn(`redis+sentinel://${unknown},127.0.0.1:${sentinel.port}/prime`);
    const other = await service.another();
    cleanUps.push(() => other.stop());
    for (const one of [service, other])
      await until('Redis is used', async () => (await redisOf(one))[1] === 'ok');

    const tenant = await createTenant(service.api, await adminSession(service.api));
    const { key } = await createIntegration(service.api, tenant.key, {
      scopes: ['users:read'],
      rateLimitMax: 1_000_000,
      rateLimitWindow: 3_600_000,
    });
    let sent = 1;
    const remainingOn = async ({ api }: TestPakhus) => {
      const reply = await api.get('/project/users', key);
      expect(reply.status, reply.text).toBe(200);
      sent += 1;
      return Number(reply.headers['x-ratelimit-remaining']);
    };
    const areShared = async () => {
      const before = await remainingOn(service);
      return (await remainingOn(other)) === before - 1;
    };
    expect(await areShared()).toBe(true);
    await until('the replica has it all', async () => Number(await primary.ask('WAIT', '1', '0')) === 1);
    await primary.stop();
    for (let call = 0; call < 10; call += 1) await remainingOn(call % 2 ? service : other);
    await until('limits are shared again', areShared);
    expect(await redisOf(service)).toEqual([200, 'ok']);
    expect(String(await replica.ask('ROLE'))).toMatch(/^master/);
    const counted = async () => {
      for (const one of [service, other]) await one.pakhus.deps.foldCounts();
      const [row] = await rowsOf<{ requests: number }>(
        service.databaseUrl,
        `select sum(requests)::int as requests from daily_stats where project_id = '${tenant.id}'`,
      );
      return row?.requests;
    };
    await expect.poll(counted).toBe(sent);
  });
});
