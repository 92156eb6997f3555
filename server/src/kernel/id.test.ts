import { expect, test } from 'vitest';
import { isUuid, newTimedId } from './id.ts';

test('timed ids are UUIDs of version 7 that sort by time, and by creation within a millisecond', () => {
  const now = Date.parse('2026-01-31T12:00:00.000Z');
  const ids = [
    ...Array.from({ length: 1_000 }, () => newTimedId(now)),
    newTimedId(now + 1),
    newTimedId(now + 86_400_000),
  ];
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids)
    expect(isUuid(id) && /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/.test(id)).toBe(true);
});
