import { expect, test } from 'vitest';
import { defaultWebhookBounds } from '../../app.webhooks.ts';
import { afterFailure, type Health, hasFailedForDays, healthy, isResting } from './webhooks.health.ts';

const start = Date.parse('2026-01-31T12:00:00.000Z');

/** How long the feed rests after each of so many failures in a row, in seconds. */
function restsAfter(failures: number): number[] {
  let health: Health = healthy;
  return Array.from({ length: failures }, () => {
    health = afterFailure(health, start, defaultWebhookBounds);
    return health.rest_until === null ? 0 : (Date.parse(health.rest_until) - start) / 1000;
  });
}

test('the feed rests from the fifth failure in a row on, twice as long each time, up to five minutes', () => {
  expect(restsAfter(13)).toEqual([0, 0, 0, 0, 5, 10, 20, 40, 80, 160, 300, 300, 300]);
  expect(restsAfter(2_000).at(-1)).toBe(300);
});

test('a rest ends', () => {
  const resting = { ...healthy, rest_until: new Date(start).toISOString() };
  expect([isResting(resting, start - 1), isResting(resting, start), isResting(healthy, start)]).toEqual([
    true,
    false,
    false,
  ]);
});

test('three days count from the first failure since the last success', () => {
  const first = afterFailure(healthy, start, defaultWebhookBounds);
  const later = afterFailure(first, start + 1_000, defaultWebhookBounds);
  const threeDays = 3 * 86_400_000;
  expect(later.failing_since).toBe(first.failing_since);
  expect(hasFailedForDays(later, start + threeDays - 1, defaultWebhookBounds)).toBe(false);
  expect(hasFailedForDays(later, start + threeDays, defaultWebhookBounds)).toBe(true);
  expect(hasFailedForDays(healthy, start + threeDays, defaultWebhookBounds)).toBe(false);
});
