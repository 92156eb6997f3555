// The port for rate limits in fixed windows. Adapters: memory.ts and redis.ts.

export interface Policy {
  readonly max: number;
  readonly windowMs: number;
}

export interface Verdict {
  readonly allowed: boolean;
  readonly remaining: number;
  /** When the window ends. */
  readonly resetAtMs: number;
}

export interface Limiter {
  /** Counts one use of `key` and returns whether it is within the limit. */
  consume(key: string, policy: Policy): Promise<Verdict>;
  /** Resets the count, for example after a successful login. */
  reset(key: string): Promise<void>;
}

export const toVerdict = (count: number, resetAtMs: number, policy: Policy): Verdict => ({
  allowed: count <= policy.max,
  remaining: Math.max(0, policy.max - count),
  resetAtMs,
});
