import { expect, test } from 'vitest';
import { moveByKey, toRange } from './selection-range.ts';

const table = { count: 100, columns: 1, pageRows: 10, isRightToLeft: false };
const tiles = { count: 10, columns: 4, pageRows: 2, isRightToLeft: false };

test('a range goes from the smaller to the larger index', () => {
  expect(toRange(5, 2)).toEqual([2, 5]);
  expect(toRange(2, 5)).toEqual([2, 5]);
});

test.each([
  ['ArrowDown', 0, 1],
  ['ArrowUp', 0, 0],
  ['ArrowDown', 99, 99],
  ['PageDown', 95, 99],
  ['PageUp', 5, 0],
  ['Home', 50, 0],
  ['End', 50, 99],
  ['ArrowRight', 3, null],
  ['x', 3, null],
])('in a table, %s at %d moves to %s', (key, from, to) => {
  expect(moveByKey(key, from, table)).toBe(to);
});

test.each([
  ['ArrowDown', 1, 5],
  ['ArrowDown', 7, 9],
  ['ArrowDown', 9, 9],
  ['ArrowUp', 2, 2],
  ['ArrowRight', 3, 4],
  ['ArrowLeft', 0, 0],
])('in tiles, %s at %d moves to %d', (key, from, to) => {
  expect(moveByKey(key, from, tiles)).toBe(to);
});

test('left is forward where text runs from right to left', () => {
  expect(moveByKey('ArrowLeft', 3, { ...tiles, isRightToLeft: true })).toBe(4);
});

test('nothing moves in an empty list', () => {
  expect(moveByKey('ArrowDown', 0, { ...table, count: 0 })).toBeNull();
});
