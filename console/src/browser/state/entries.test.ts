import type { ListedFile } from '@pakhus/client';
import { expect, test } from 'vitest';
import { compareFiles, type Entry, findPlace, toFileItem, toFolderItem } from './entries.ts';

const file = (id: string, created_at: string) => toFileItem({ id, created_at } as ListedFile);

test('a file finds its place: after the folders, newest first, then by id', () => {
  const newest = file('a', '2026-03-01T00:00:00.000Z');
  const twin = file('b', '2026-02-01T00:00:00.000Z');
  const otherTwin = file('a', '2026-02-01T00:00:00.000Z');
  const oldest = file('c', '2026-01-01T00:00:00.000Z');
  const sorted = [newest, twin, otherTwin, oldest];
  expect([oldest, otherTwin, newest, twin].sort(compareFiles)).toEqual(sorted);
  const folders = [toFolderItem('x'), toFolderItem('y')];
  for (const item of sorted) {
    const rest: Entry[] = [...folders, ...sorted.filter((other) => other !== item)];
    rest.splice(findPlace(rest, item), 0, item);
    expect(rest).toEqual([...folders, ...sorted]);
  }
});
