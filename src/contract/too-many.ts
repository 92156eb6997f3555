// What a limit tells its callers, and the refusal of whoever comes too often.
import { PakhusError } from '../kernel/error.ts';
import type { Policy, Verdict } from '../platform/limits/limiter.ts';

export const rateHeadersOf = ({ max }: Policy, { remaining, resetAtMs }: Verdict) => ({
  'x-ratelimit-limit': max,
  'x-ratelimit-remaining': remaining,
  'x-ratelimit-reset': Math.ceil(resetAtMs / 1000),
});

export function tooMany(
  nowMs: number,
  policy: Policy,
  verdict: Verdict,
  what = 'Too many requests',
): PakhusError {
  const retryAfterSeconds = Math.max(1, Math.ceil((verdict.resetAtMs - nowMs) / 1000));
  return new PakhusError('RATE_LIMIT_EXCEEDED', `${what}: try again in ${retryAfterSeconds} s`, {
    headers: { ...rateHeadersOf(policy, verdict), 'retry-after': retryAfterSeconds },
    details: { retry_after_seconds: retryAfterSeconds },
  });
}
