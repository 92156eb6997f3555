// The connection to Redis, or to whichever server the sentinels call the primary. It fails fast and never queues:
// whoever uses it has a way to do without.
import { Redis, type RedisOptions } from 'ioredis';
import type { Logger } from './log.ts';
import { isSentinelAddress, parseSentinelAddress } from './redis-address.ts';

export type RedisClient = Redis;

type Options = Omit<RedisOptions, 'replyMapping'>;

const options: Options = {
  maxRetriesPerRequest: 0,
  enableOfflineQueue: false,
  commandTimeout: 300,
  // Commands that are given up stay with the connection: one that has fallen silent is given up with them.
  socketTimeout: 2_000,
  connectTimeout: 2_000,
  retryStrategy: (tries) => Math.min(100 * tries, 2_000),
  // A primary that was demoted keeps its connections: the address, or the sentinels, may name another one by now.
  reconnectOnError: ({ message }) => message.startsWith('READONLY'),
};

export function openRedis(url: string, log: Logger): RedisClient {
  const redis = isSentinelAddress(url) ? new Redis(throughSentinels(url)) : new Redis(url, options);
  // Once for every time that it goes away: it tries again every two seconds.
  let told = false;
  redis.on('error', (error) => {
    if (!told) log.warn({ reason: error.message }, 'Redis is not reachable');
    told = true;
  });
  redis.on('ready', () => {
    told = false;
  });
  warnOfWrongRole(redis, log);
  return redis;
}

function throughSentinels(url: string): Options {
  const { sentinels, database, tls, ...address } = parseSentinelAddress(url);
  return {
    ...options,
    ...address,
    sentinels: [...sentinels],
    db: database,
    sentinelCommandTimeout: 2_000,
    sentinelRetryStrategy: (tries) => Math.min(100 * tries, 2_000),
    ...(tls ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true } : {}),
  };
}

const wrongRoles: Readonly<Record<string, string>> = {
  slave:
    'REDIS_URL leads to a replica, which takes no writes: name the primary, or its sentinels as redis+sentinel://host:port/name',
  sentinel:
    'REDIS_URL leads to a Sentinel: write redis+sentinel://host:port/name, with what it calls the primary as name',
};

/** Each time when another role is found, not with every connection. */
function warnOfWrongRole(redis: RedisClient, log: Logger): void {
  let before: unknown = null;
  redis.on('ready', () => {
    redis.role().then(
      ([role]) => {
        const warning = wrongRoles[String(role)];
        if (role !== before && warning) log.warn({ role }, warning);
        before = role;
      },
      // Some services do not let their customers ask.
      () => undefined,
    );
  });
}

const probeLivesMs = 10_000;

/** Whether it takes writes, which is all that it is for. */
export const takesWrites = (redis: RedisClient, installation: string): Promise<boolean> =>
  redis.set(`pakhus:${installation}:health`, '1', 'PX', probeLivesMs).then(() => true);
