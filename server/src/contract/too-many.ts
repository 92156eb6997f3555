// What a limit tells its callers, and the refusal of whoever comes too often.
import { PakhusError } from '../kernel/error.ts';
import type { Policy, Verdict } from '../platform/limits/limiter.ts';
import type { Deps } from './deps.ts';

export const rateHeadersOf = ({ max }: Policy, { remaining, resetAtMs }: Verdict) => ({
  'x-ratelimit-limit': max,
  'x-ratelimit-remaining': remaining,
  'x-ratelimit-reset': Math.ceil(resetAtMs / 1000),
});

/** Counts one use, and throws where it is one too many. */
export async function countUse(
  { limiter, clock }: Pick<Deps, 'limiter' | 'clock'>,
  bucket: string,
  policy: Policy,
  what = 'Too many requests',
): Promise<Verdict> {
  const verdict = await limiter.consume(bucket, policy);
  if (!verdict.allowed) throw tooMany(clock(), policy, verdict, what);
  return verdict;
}

function tooMany(nowMs: number, policy: Policy, verdict: Verdict, what: string): PakhusError {
  const retryAfterSeconds = Math.max(1, Math.ceil((verdict.resetAtMs - nowMs) / 1000));
  return new PakhusError('RATE_LIMIT_EXCEEDED', `${what}: try again in ${retryAfterSeconds} s`, {
    headers: { ...rateHeadersOf(policy, verdict), 'retry-after': retryAfterSeconds },
    details: { retry_after_seconds: retryAfterSeconds },
  });
}
