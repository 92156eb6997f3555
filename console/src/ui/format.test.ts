import { expect, test } from 'vitest';
import { isolate } from './format.ts';

test('isolated text cannot leave its isolation', () => {
  expect(isolate('harbour')).toBe('\u2068harbour\u2069');
  expect(isolate('a\u202Eb\u2069c\u2067d')).toBe('\u2068abcd\u2069');
});
