// The guarantees of every limiter adapter.
import { expect, test } from 'vitest';
import type { Limiter } from '../../src/platform/limits/limiter.ts';
import { unique } from '../support/tenants.ts';

export interface LimiterUnderTest {
  readonly limiter: Limiter;
  now(): number;
  /** Resolves when all windows of `windowMs` open now have ended. */
  endWindow(windowMs: number): Promise<void>;
}

export function limiterSuite(name: string, open: () => LimiterUnderTest): void {
  const policy = { max: 3, windowMs: 60_000 };

  test(`limiter (${name}): allows max uses per window and reports how many are left`, async () => {
    const { limiter } = open();
    const key = unique('key');
    const verdicts = [];
    for (let use = 0; use < 5; use += 1) verdicts.push(await limiter.consume(key, policy));
    expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, true, true, false, false]);
    expect(verdicts.map(({ remaining }) => remaining)).toEqual([2, 1, 0, 0, 0]);
  });

  test(`limiter (${name}): the window is fixed: later uses do not extend it`, async () => {
    const { limiter, now } = open();
    const key = unique('key');
    const first = await limiter.consume(key, policy);
    const second = await limiter.consume(key, policy);
    expect(first.resetAtMs).toBeGreaterThan(now());
    expect(first.resetAtMs).toBeLessThanOrEqual(now() + policy.windowMs);
    expect(Math.abs(second.resetAtMs - first.resetAtMs)).toBeLessThan(1_000);
  });

  test(`limiter (${name}): allows the full number again after the window`, async () => {
    const { limiter, endWindow } = open();
    const key = unique('key');
    const short = { max: 1, windowMs: 1_000 };
    await limiter.consume(key, short);
    await endWindow(short.windowMs);
    expect(await limiter.consume(key, short)).toMatchObject({ allowed: true, remaining: 0 });
  });

  test(`limiter (${name}): counts keys separately, and reset clears one of them`, async () => {
    const { limiter } = open();
    const [one, other] = [unique('key'), unique('key')];
    for (let use = 0; use < 4; use += 1) await limiter.consume(one, policy);
    expect((await limiter.consume(other, policy)).remaining).toBe(2);
    await limiter.reset(one);
    expect(await limiter.consume(one, policy)).toMatchObject({ allowed: true, remaining: 2 });
    expect((await limiter.consume(other, policy)).remaining).toBe(1);
  });

  test(`limiter (${name}): of 50 concurrent uses exactly max are allowed`, async () => {
    const { limiter } = open();
    const key = unique('key');
    const verdicts = await Promise.all(
      Array.from({ length: 50 }, () => limiter.consume(key, { max: 10, windowMs: 60_000 })),
    );
    expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(10);
  });

  test(`limiter (${name}): a changed max applies to the current window`, async () => {
    const { limiter } = open();
    const key = unique('key');
    for (let use = 0; use < 3; use += 1) await limiter.consume(key, policy);
    expect(await limiter.consume(key, { ...policy, max: 10 })).toMatchObject({ allowed: true, remaining: 6 });
    expect(await limiter.consume(key, { ...policy, max: 2 })).toMatchObject({ allowed: false, remaining: 0 });
  });
}
