import { expect, test } from 'vitest';
import { toLocalTime, toTime } from './times.ts';

test('a time goes through a field and comes back to the minute; untouched, it keeps its seconds', () => {
  const iso = '2099-03-04T05:06:07.890Z';
  const text = toLocalTime(iso);
  expect(text).toMatch(/^2099-03-0\dT\d\d:\d6$/);
  expect(toTime(text, undefined, 0)).toBe('2099-03-04T05:06:00.000Z');
  expect(toTime(text, iso, Number.POSITIVE_INFINITY)).toBe(iso);
  expect(toLocalTime(undefined)).toBe('');
});

test.each(['', 'soon', '2000-01-01T00:00'])('"%s" is no time to come', (text) => {
  expect(() => toTime(text, undefined, Date.parse('2026-01-01'))).toThrow(RangeError);
});
