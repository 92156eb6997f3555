import { expect, test } from 'vitest';
import { canonicalJson } from './canonical-json.ts';

test('the order of names does not matter at any depth, the order of items does', () => {
  expect(canonicalJson({ b: [{ d: 1, c: 2 }], a: null })).toBe(
    canonicalJson({ a: null, b: [{ c: 2, d: 1 }] }),
  );
  expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
});

test('names that look like numbers, and values that differ in type, stay apart', () => {
  expect(canonicalJson({ 10: 'a', 9: 'b' })).toBe(canonicalJson({ 9: 'b', 10: 'a' }));
  expect(canonicalJson({ a: 1 })).not.toBe(canonicalJson({ a: '1' }));
  expect(canonicalJson({ a: null })).not.toBe(canonicalJson({}));
});
