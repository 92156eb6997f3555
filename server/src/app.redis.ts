// Limits and counters: in Redis if REDIS_URL is set, otherwise in this process.
import type { Undo } from './app.undo.ts';
import { readInstallationId } from './features/stats/stats.fold.ts';
import type { Clock } from './kernel/clock.ts';
import type { Counters } from './platform/counters/counters.ts';
import { memoryCounters } from './platform/counters/memory.ts';
import { redisCounters } from './platform/counters/redis.ts';
import type { Database } from './platform/db/postgres.ts';
import type { Limiter } from './platform/limits/limiter.ts';
import { memoryLimiter } from './platform/limits/memory.ts';
import { redisLimiter } from './platform/limits/redis.ts';
import type { Logger } from './platform/log.ts';
import type { RedisClient } from './platform/redis.ts';

export interface SharedRedis {
  readonly redis: RedisClient;
  /** Prefix of this installation's keys: several installations may share one Redis. */
  readonly installation: string;
  takesWrites(): Promise<boolean>;
}

/** Starts to connect; nothing waits for the connection. */
export async function openRedisClient(
  url: string | null,
  log: Logger,
  undo: Undo[],
): Promise<RedisClient | null> {
  if (url === null) return null;
  const { openRedis } = await import('./platform/redis.ts');
  const redis = openRedis(url, log);
  undo.push(async () => redis.disconnect());
  return redis;
}

export async function shareRedis(
  redis: RedisClient | null,
  db: Database,
  log: Logger,
): Promise<SharedRedis | null> {
  if (redis === null) return null;
  const { takesWrites } = await import('./platform/redis.ts');
  const installation = await readInstallationId(db, log);
  return { redis, installation, takesWrites: () => takesWrites(redis, installation) };
}

export function createLimiter(shared: SharedRedis | null, clock: Clock, log: Logger): Limiter {
  const memory = memoryLimiter(clock);
  return shared ? redisLimiter(shared.redis, shared.installation, memory, clock, log) : memory;
}

export function createCounters(shared: SharedRedis | null, log: Logger): Counters {
  const memory = memoryCounters();
  return shared ? redisCounters({ ...shared, fallback: memory, log }) : memory;
}
