import { expect, test } from 'vitest';
import { formatBytes, formatDuration } from './format.ts';

test.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [999, '999 bytes'],
  [1000, '1 kB'],
  [1550, '1.6 kB'],
  [123_456, '123 kB'],
  [999_499, '999 kB'],
  [999_500, '1 MB'],
  [5e9, '5 GB'],
  [2e18, '2,000 PB'],
])('%d bytes are %s', (count, text) => {
  expect(formatBytes(count, 'en')).toBe(text);
});

test('a size follows the language', () => {
  expect(formatBytes(1_500_000, 'de')).toBe('1,5 MB');
});

test.each([
  [0, '1 sec'],
  [59.2, '60 sec'],
  [61, '2 min'],
  [5400, '1.5 hr'],
])('%d seconds are %s', (seconds, text) => {
  expect(formatDuration(seconds, 'en')).toBe(text);
});
