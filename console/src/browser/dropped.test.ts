import { expect, test } from 'vitest';
import { readChosen, readDropped } from './dropped.ts';

/** Gives out at most 100 at a time, as browsers do. */
const folderEntry = (name: string, entries: unknown[]) => ({
  isFile: false,
  name,
  createReader: () => {
    const left = [...entries];
    return { readEntries: (resolve: (some: unknown[]) => void) => resolve(left.splice(0, 100)) };
  },
});

const fileEntry = (name: string) => ({
  isFile: true,
  name,
  file: (resolve: (file: File) => void) => resolve(new File(['x'], name)),
});

const drop = (...entries: unknown[]) =>
  ({
    items: entries.map((entry) => ({
      kind: 'file',
      webkitGetAsEntry: () => entry,
      getAsFile: () => null,
    })),
  }) as unknown as DataTransfer;

test('a dropped folder is read to its end, at every depth', async () => {
  const many = Array.from({ length: 250 }, (_, index) => fileEntry(`${index}.txt`));
  const found = await readDropped(
    drop(folderEntry('photos', [...many, folderEntry('deep', [fileEntry('last.txt')])]), fileEntry('a.txt')),
    'inbox',
  );
  expect(found).toHaveLength(252);
  expect(new Set(found.map(({ folder }) => folder))).toEqual(
    new Set(['inbox', 'inbox/photos', 'inbox/photos/deep']),
  );
});

test('a dropped file without an entry is taken as it is, text is not', async () => {
  const file = new File(['x'], 'a.txt');
  const items = [
    { kind: 'string', getAsFile: () => null },
    { kind: 'file', webkitGetAsEntry: () => null, getAsFile: () => file },
  ];
  expect(await readDropped({ items } as unknown as DataTransfer, '')).toEqual([{ file, folder: '' }]);
});

test('files of a chosen folder keep their path', () => {
  const inside = Object.defineProperty(new File(['x'], 'b.txt'), 'webkitRelativePath', {
    value: 'photos/deep/b.txt',
  });
  expect(readChosen([inside, new File(['x'], 'c.txt')], 'inbox').map(({ folder }) => folder)).toEqual([
    'inbox/photos/deep',
    'inbox',
  ]);
});
