// The refusal of whoever comes too often.
import { PakhusError } from '../kernel/error.ts';
import type { Verdict } from '../platform/limits/limiter.ts';

export function tooMany(nowMs: number, verdict: Verdict, what = 'Too many requests'): PakhusError {
  const retryAfterSeconds = Math.max(1, Math.ceil((verdict.resetAtMs - nowMs) / 1000));
  return new PakhusError('RATE_LIMIT_EXCEEDED', `${what}: try again in ${retryAfterSeconds} s`, {
    retryAfterSeconds,
    details: { retry_after_seconds: retryAfterSeconds },
  });
}
