// The connection to Redis. It fails fast and never queues: whoever uses it has a way to do without.
import { Redis } from 'ioredis';
import type { Logger } from './log.ts';

export type RedisClient = Redis;

export function openRedis(url: string, log: Logger): RedisClient {
  const redis = new Redis(url, {
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    commandTimeout: 300,
    // Commands that are given up stay with the connection: one that has fallen silent is given up with them.
    socketTimeout: 2_000,
    connectTimeout: 2_000,
    retryStrategy: (tries) => Math.min(100 * tries, 2_000),
  });
  // Once for every time that it goes away: it tries again every two seconds.
  let told = false;
  redis.on('error', (error) => {
    if (!told) log.warn({ reason: error.message }, 'Redis is not reachable');
    told = true;
  });
  redis.on('ready', () => {
    told = false;
  });
  return redis;
}
