import { expect, test } from 'vitest';
import { childTowards, joinFolder, parentOf, toCrumbs, toFolderName } from './paths.ts';

test('folders join without empty segments', () => {
  expect(joinFolder('', 'a')).toBe('a');
  expect(joinFolder('a', 'b/c')).toBe('a/b/c');
  expect(joinFolder('a', '')).toBe('a');
  expect(parentOf('a/b')).toBe('a');
  expect(parentOf('a')).toBe('');
});

test('each level of a folder is a crumb', () => {
  expect(toCrumbs('')).toEqual([]);
  expect(toCrumbs('a/b')).toEqual([
    { name: 'a', folder: 'a' },
    { name: 'b', folder: 'a/b' },
  ]);
});

test('the next folder on the way is found, and none beside it', () => {
  expect(childTowards('', 'a/b')).toBe('a');
  expect(childTowards('a', 'a/b/c')).toBe('b');
  expect(childTowards('a', 'ab/c')).toBeNull();
  expect(childTowards('a', 'a')).toBeNull();
  expect(childTowards('', '')).toBeNull();
});

test('names of folders are those that the server takes', () => {
  expect(toFolderName(' /new/ ')).toBe('new');
  expect(toFolderName('a/b')).toBe('a/b');
  for (const wrong of ['', '/', '..', 'a/./b', 'a//b', 'a\u0007']) expect(toFolderName(wrong)).toBeNull();
});
