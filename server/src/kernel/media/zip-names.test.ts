import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildZipNames } from './zip-names.ts';

const names = (...files: string[]) =>
  buildZipNames(
    files.map((path) => {
      const slash = path.lastIndexOf('/');
      return { folder: path.slice(0, Math.max(slash, 0)), name: path.slice(slash + 1) };
    }),
  );

/** Strings made of what is dangerous in a path. */
const hostile = fc.string({
  unit: fc.constantFrom(
    '.',
    '..',
    '/',
    '\\',
    '\0',
    '\n',
    'a',
    'A',
    'é',
    'e\u0301',
    ' ',
    ':',
    '(2)',
    '\u202e',
    '😀',
    'nul',
  ),
  maxLength: 12,
});

describe('names in a zip', () => {
  test('stay as they are in their folders', () => {
    expect(names('a.txt', 'b/c d/é.txt', '.env')).toEqual(['a.txt', 'b/c d/é.txt', '.env']);
  });

  test('that are equal get numbers, before the extension', () => {
    expect(names('a.txt', 'a.txt', 'a.txt', 'b/a.txt', 'b/a.txt')).toEqual([
      'a.txt',
      'a (2).txt',
      'a (3).txt',
      'b/a.txt',
      'b/a (2).txt',
    ]);
    expect(names('.env', '.env', 'x', 'x')).toEqual(['.env', '.env (2)', 'x', 'x (2)']);
  });

  test('that only case or the form of an accent tells apart get numbers', () => {
    expect(names('A.txt', 'a.txt', 'é', 'e\u0301')).toEqual(['A.txt', 'a (2).txt', 'é', 'é (2)']);
  });

  test('give way to numbers that are taken, and to folders', () => {
    expect(names('a (2).txt', 'a.txt', 'a.txt', 'b/c', 'b')).toEqual([
      'a (2).txt',
      'a.txt',
      'a (3).txt',
      'b/c',
      'b (2)',
    ]);
  });

  test('never lead out of the folder, and are valid on Windows', () => {
    expect(names('..', '.', 'a\\b', 'c:d', 'NUL.txt', 'x. ', 'evil\u202etxt.exe')).toEqual([
      '__',
      '_',
      'a_b',
      'c_d',
      '_NUL.txt',
      'x__',
      'evil_txt.exe',
    ]);
  });

  test('that are too long for a file system are cut, and keep their extension', () => {
    const [name = ''] = names(`${'ß'.repeat(250)}.jpeg`);
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
    expect(name).toMatch(/ß\.jpeg$/);
  });

  test('of any files are distinct, relative and made of safe segments', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ folder: hostile, name: hostile }), { maxLength: 12 }), (files) => {
        const built = buildZipNames(files);
        expect(new Set(built.map((name) => name.toLowerCase().normalize('NFC'))).size).toBe(files.length);
        for (const name of built) {
          for (const segment of name.split('/')) {
            expect(segment).toMatch(/^[^\p{Cc}\\<>:"|?*]*[^\p{Cc}\\<>:"|?*. ]$/u);
          }
          // No file is the folder of another.
          expect(built.some((other) => other.startsWith(`${name}/`))).toBe(false);
        }
      }),
    );
  });

  test('of ten thousand equal files are found without trying every number again', () => {
    const built = buildZipNames(Array.from({ length: 10_000 }, () => ({ folder: 'f', name: 'a.txt' })));
    expect(built.at(-1)).toBe('f/a (10000).txt');
  });
});
