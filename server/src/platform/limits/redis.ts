// Rate limits that instances share through Redis. While Redis is down each process counts for itself: a limiter must
// never make a request fail.
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../log.ts';
import type { RedisClient } from '../redis.ts';
import { type Limiter, toVerdict } from './limiter.ts';

/** Counts and starts the window atomically: a counter without an expiry would lock a caller out forever. */
const consumeScript = `
local count = redis.call('INCR', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
if count == 1 or left < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  left = tonumber(ARGV[1])
end
return {count, left}`;

/** `installation` keeps apart installations that share a Redis. */
export function redisLimiter(
  redis: RedisClient,
  installation: string,
  fallback: Limiter,
  clock: Clock,
  log: Logger,
): Limiter {
  const nameOf = (key: string): string => `pakhus:${installation}:limit:${key}`;
  let away = false;
  const note = (nowAway: boolean, error?: unknown) => {
    if (nowAway === away) return;
    away = nowAway;
    if (away) log.warn({ err: error }, 'Redis is down: counting limits in this process');
    else log.info({}, 'Redis is back: limits are shared again');
  };
  return {
    async consume(key, policy) {
      try {
        const [count, leftMs] = (await redis.eval(consumeScript, 1, nameOf(key), policy.windowMs)) as [
          number,
          number,
        ];
        note(false);
        return toVerdict(count, clock() + leftMs, policy);
      } catch (error) {
        note(true, error);
        return fallback.consume(key, policy);
      }
    },
    async reset(key) {
      await fallback.reset(key);
      await redis.del(nameOf(key)).catch(() => undefined);
    },
  };
}
