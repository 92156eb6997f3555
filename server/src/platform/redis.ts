// The connection to Redis, or to the primary that the sentinels name. It fails fast and never queues, because every
// caller has a fallback.
import { Redis, type RedisOptions } from 'ioredis';
import type { Logger } from './log.ts';
import { isSentinelAddress, parseSentinelAddress } from './redis-address.ts';

export type RedisClient = Redis;

type Options = Omit<RedisOptions, 'replyMapping'>;

const options: Options = {
  maxRetriesPerRequest: 0,
  enableOfflineQueue: false,
  commandTimeout: 300,
  // Timed-out commands stay pending on the connection: if it is silent, it is closed together with them.
  socketTimeout: 2_000,
  connectTimeout: 2_000,
  retryStrategy: (attempt) => Math.min(100 * attempt, 2_000),
  // A demoted primary keeps its connections: reconnecting finds the new one by address or through the sentinels.
  reconnectOnError: ({ message }) => message.startsWith('READONLY'),
};

export function openRedis(url: string, log: Logger): RedisClient {
  const redis = isSentinelAddress(url) ? new Redis(throughSentinels(url)) : new Redis(url, options);
  // Warns once per outage, not with every reconnect.
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
    sentinelRetryStrategy: (attempt) => Math.min(100 * attempt, 2_000),
    ...(tls ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true } : {}),
  };
}

const wrongRoles: Readonly<Record<string, string>> = {
  slave:
    'REDIS_URL leads to a replica, which takes no writes: name the primary, or its sentinels as redis+sentinel://host:port/name',
  sentinel:
    'REDIS_URL leads to a Sentinel: write redis+sentinel://host:port/name, with what it calls the primary as name',
};

/** Warns when the role changes, not with every connection. */
function warnOfWrongRole(redis: RedisClient, log: Logger): void {
  let before: unknown = null;
  redis.on('ready', () => {
    redis.role().then(
      ([role]) => {
        const warning = wrongRoles[String(role)];
        if (role !== before && warning) log.warn({ role }, warning);
        before = role;
      },
      // Some hosted services do not allow this command.
      () => undefined,
    );
  });
}

const probeLivesMs = 10_000;

/** Whether it accepts writes. */
export const takesWrites = (redis: RedisClient, installation: string): Promise<boolean> =>
  redis.set(`pakhus:${installation}:health`, '1', 'PX', probeLivesMs).then(() => true);
