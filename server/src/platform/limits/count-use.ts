// Counts a use against a limit, and builds the 429 for one use too many.
import type { Clock } from '../../kernel/clock.ts';
import { PakhusError } from '../../kernel/error.ts';
import type { Limiter, Policy, Verdict } from './limiter.ts';

/** The usual three headers, and those of draft-ietf-httpapi-ratelimit-headers. */
export const toRateHeaders = (
  nowMs: number,
  { max, windowMs }: Policy,
  { remaining, resetAtMs }: Verdict,
) => ({
  'x-ratelimit-limit': max,
  'x-ratelimit-remaining': remaining,
  'x-ratelimit-reset': Math.ceil(resetAtMs / 1000),
  'ratelimit-policy': `"requests";q=${max};w=${Math.ceil(windowMs / 1000)}`,
  ratelimit: `"requests";r=${remaining};t=${toSeconds(resetAtMs - nowMs)}`,
});

const toSeconds = (milliseconds: number): number => Math.max(1, Math.ceil(milliseconds / 1000));

/** Throws 429 if this use exceeds the policy. */
export async function countUse(
  { limiter, clock }: { readonly limiter: Limiter; readonly clock: Clock },
  bucket: string,
  policy: Policy,
  what = 'Too many requests',
): Promise<Verdict> {
  const verdict = await limiter.consume(bucket, policy);
  if (!verdict.allowed) throw limitExceeded(clock(), policy, verdict, what);
  return verdict;
}

function limitExceeded(nowMs: number, policy: Policy, verdict: Verdict, what: string): PakhusError {
  const retryAfterSeconds = toSeconds(verdict.resetAtMs - nowMs);
  return new PakhusError('RATE_LIMIT_EXCEEDED', `${what}: try again in ${retryAfterSeconds} s`, {
    headers: { ...toRateHeaders(nowMs, policy, verdict), 'retry-after': retryAfterSeconds },
    details: { retry_after_seconds: retryAfterSeconds },
  });
}
