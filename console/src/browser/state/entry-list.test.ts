import type { ListedFile } from '@pakhus/client';
import { expect, test } from 'vitest';
import { toFileItem, toFolderItem } from './entries.ts';
import { createEntryList } from './entry-list.ts';

const file = (id: string, day: number) =>
  toFileItem({ id, created_at: `2026-03-0${day}T00:00:00.000Z` } as ListedFile);
const keys = ({ entries }: ReturnType<typeof createEntryList>) => entries.map(({ key }) => key);

test('each entry stands once, in its place, however it came', () => {
  const list = createEntryList();
  const oldest = file('oldest', 1);
  list.append([toFolderItem('m'), file('newest', 9), oldest]);
  list.append([oldest]);
  list.insertFolder(toFolderItem('z'));
  list.insertFolder(toFolderItem('a'));
  list.insertFiles([file('middle', 5)]);
  list.insertFiles([file('early', 2), file('late', 8), oldest]);
  expect(keys(list)).toEqual([
    'folder:a',
    'folder:m',
    'folder:z',
    'newest',
    'late',
    'middle',
    'early',
    'oldest',
  ]);
  expect(list.indexOf('middle', 5)).toBe(5);
  expect(list.indexOf('gone', 5)).toBe(-1);
});

test('what was removed can come back, and every change has a new version', () => {
  const list = createEntryList();
  list.append([toFolderItem('a'), file('one', 2), file('two', 1)]);
  const before = list.version.peek();
  const removed = list.remove(new Set(['one', 'folder:a', 'unknown']));
  expect(removed.map(({ key }) => key)).toEqual(['one']);
  expect(keys(list)).toEqual(['folder:a', 'two']);
  expect(list.get('one')).toBeUndefined();
  list.insertFiles(removed);
  expect(keys(list)).toEqual(['folder:a', 'one', 'two']);
  list.clear();
  expect(keys(list)).toEqual([]);
  expect(list.get('two')).toBeUndefined();
  expect(list.version.peek()).toBe(before + 3);
});
