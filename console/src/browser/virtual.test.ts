import { expect, test } from 'vitest';
import { findRows, scrollTopFor } from './virtual.ts';

test('the window covers what is on the screen, whatever the length', () => {
  for (const rows of [0, 1, 10, 100_000])
    for (const scrollTop of [-30, 0, 39, 40, 12_345, 3_999_960]) {
      const { first, end } = findRows({ scrollTop, height: 800 }, 40, rows);
      expect(end - first).toBeLessThanOrEqual(40);
      const top = Math.floor(Math.max(0, scrollTop) / 40);
      for (let row = top; row < Math.min(top + 20, rows); row += 1) {
        expect(row).toBeGreaterThanOrEqual(first);
        expect(row).toBeLessThan(end);
      }
    }
});

test('small scrolls leave the window as it is', () => {
  const at = (scrollTop: number) => findRows({ scrollTop, height: 400 }, 40, 1000);
  expect(at(1700)).toEqual(at(1719));
});

test('a row out of view is scrolled to its nearest edge', () => {
  const viewport = { scrollTop: 100, height: 200 };
  expect(scrollTopFor(viewport, 20, 6)).toBeNull();
  expect(scrollTopFor(viewport, 20, 2)).toBe(40);
  expect(scrollTopFor(viewport, 20, 20)).toBe(220);
});
