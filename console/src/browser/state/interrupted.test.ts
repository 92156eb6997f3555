import { expect, test } from 'vitest';
import { findKey } from './interrupted.ts';

test('a remembered upload tells its folder, also with bars in the names', () => {
  const key = 'pakhus|http://x/api/v1|ext/anna||a|b/c|film|1.bin|film|1.bin:20:1700000000000';
  expect(findKey(['pakhus|other', key], 'film|1.bin', 20)).toEqual({
    key,
    folder: 'a|b/c',
    fingerprint: 'film|1.bin|film|1.bin:20:1700000000000',
  });
  expect(findKey([key], 'film|1.bin', 21)).toBeNull();
  expect(findKey([key], '1.bin', 20)).toBeNull();
});
