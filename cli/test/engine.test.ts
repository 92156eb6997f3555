// The parts of put, get and sync that need no service: places, patterns, names, sorting, merging.
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { formatBytes, printable } from '../src/files/format.ts';
import { isPattern, splitPattern, toMatcher } from '../src/files/glob.ts';
import { ignoresCase } from '../src/files/local.ts';
import { whyNotLocal, whyNotRemote } from '../src/files/names.ts';
import { isRemote, parseRemote, parseUser } from '../src/files/place.ts';
import { createPool } from '../src/files/pool.ts';
import { partPath } from '../src/files/receive.ts';
import { parseSize } from '../src/files/size.ts';
import { createSorter } from '../src/files/sorted.ts';
import { compareText, type Named, type Pair, type Tree, walkPairs } from '../src/files/walk.ts';

const id = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff';

describe('places', () => {
  test.each([
    ['anna:', { user: 'anna', path: '', isFolder: true }],
    ['anna:docs/2026/a.pdf', { user: 'anna', path: 'docs/2026/a.pdf', isFolder: false }],
    ['anna:/docs//2026/', { user: 'anna', path: 'docs/2026', isFolder: true }],
    ['anna:a:b', { user: 'anna', path: 'a:b' }],
    [':docs', { user: undefined, path: 'docs' }],
    [`id:${id}:x`, { user: { id }, path: 'x' }],
    [`anna:#${id}`, { user: 'anna', fileId: id, path: '' }],
  ])('%s', (text, expected) => expect(parseRemote(text)).toMatchObject(expected));

  test.each(['docs/a.pdf', './a:b', '/x:y', 'C:\\x'])('%s is local', (text) => {
    expect(isRemote(text, 'win32')).toBe(false);
    expect(() => parseRemote(text.replace('C:', './'))).toThrow('write USER:PATH');
  });

  test('a user is named with or without a colon', () => {
    expect([parseUser('anna'), parseUser('anna:'), parseUser(`id:${id}`), parseUser('')]).toEqual([
      'anna',
      'anna',
      { id },
      undefined,
    ]);
    expect(() => parseRemote('id:anna:x')).toThrow('id:UUID:PATH');
  });
});

describe('patterns', () => {
  test.each([
    ['*.txt', 'a.txt', true],
    ['*.txt', '.a.txt', false],
    ['.*', '.a', true],
    ['a?c', 'abc', true],
    ['[a-c]x', 'bx', true],
    ['[!a-c]x', 'bx', false],
    ['a\\*b', 'a*b', true],
    ['a\\*b', 'axb', false],
    ['a.b', 'axb', false],
    ['[', '[', true],
    ['**', 'x', true],
  ])('%s and %s: %s', (pattern, name, expected) => expect(toMatcher(pattern)(name)).toBe(expected));

  test('a row of asterisks does not take for ever', () => {
    expect(toMatcher(`${'*'.repeat(50)}x`)('y'.repeat(255))).toBe(false);
  });

  test('only special characters without a backslash make one', () => {
    expect([isPattern('a*'), isPattern('a\\*'), isPattern('a')]).toEqual([true, false, false]);
    expect(splitPattern('a/b\\*/c*/d')).toEqual({ base: 'a/b*', segments: ['c*', 'd'] });
  });
});

describe('names', () => {
  test.each(['..', '.', '', 'a/b', '../../etc/passwd', 'a\0b', 'a\nb', 'ü'.repeat(128), 'x.pakhus-part'])(
    '%j is never written to a disk',
    (name) => expect(whyNotLocal(name, 'linux')).toBeTypeOf('string'),
  );
  test.each(['CON', 'nul.txt', 'a:b', 'a\\b', 'dot.', 'blank ', 'com1'])(
    '%j is not written on Windows',
    (name) => {
      expect(whyNotLocal(name, 'win32')).toBeTypeOf('string');
      expect(whyNotLocal(name, 'linux')).toBeNull();
    },
  );
  test.each([' a', 'a ', 'a\tb', 'x'.repeat(256), 'a\u202eb', 'a\ufffd'])(
    '%j cannot be stored as it is',
    (name) => expect(whyNotRemote(name)).toBeTypeOf('string'),
  );
  test('usual names pass both ways', () => {
    for (const name of ['a.txt', 'ünï cödé.pdf', '...', '-', "it's", 'x'.repeat(255)])
      expect([whyNotLocal(name, 'linux'), whyNotRemote(name)]).toEqual([null, null]);
  });
  test('a part has a name that fits, however long the file has', () => {
    expect(partPath('/x/a.bin')).toBe('/x/a.bin.pakhus-part');
    expect(Buffer.byteLength(partPath(`/${'y'.repeat(255)}`))).toBeLessThanOrEqual(256);
  });
  test('escape sequences in names do not reach the terminal', () => {
    expect(printable('a\x1b[2Jb')).toBe('a\\x1b[2Jb');
  });
});

test('sizes are read and written as people do it', () => {
  expect(['500MB', '10GiB', '1.5k', '7'].map((text) => parseSize(text, '--x'))).toEqual([
    5e8,
    10 * 2 ** 30,
    1500,
    7,
  ]);
  for (const text of ['', 'x', '1XB', '-1', '1e9', '999999999999999TB'])
    expect(() => parseSize(text, '--x')).toThrow('--x');
  expect([0, 999, 1000, 1_234_567, 999_950_000].map(formatBytes)).toEqual([
    '0 B',
    '999 B',
    '1.0 KB',
    '1.2 MB',
    '1.0 GB',
  ]);
});

test('whether the disk ignores case is found out without a trace', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pakhus-case-'));
  expect(await ignoresCase(folder)).toBeTypeOf('boolean');
  expect(await readdir(folder)).toEqual([]);
  await rm(folder, { recursive: true });
});

async function toArray<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const sortFolders = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('pakhus-sort-'));

describe('sorting', () => {
  test.each([0, 1, 9, 10, 35])(
    '%i items in runs of 10 come in order, and nothing stays on disk',
    async (count) => {
      const sorter = createSorter<number>((a, b) => a - b, 10);
      const items = Array.from({ length: count }, (_, i) => (i * 7919) % 101);
      for (const item of items) await sorter.add(item);
      expect(await toArray(sorter.drain())).toEqual([...items].sort((a, b) => a - b));
    },
  );

  test('a reader that stops early leaves nothing on disk', async () => {
    const before = await sortFolders();
    const sorter = createSorter<string>(compareText, 2);
    for (const item of ['c', 'b', 'a', 'd', 'e']) await sorter.add(item);
    for await (const item of sorter.drain()) {
      expect(item).toBe('a');
      break;
    }
    expect((await sortFolders()).length).toBeLessThanOrEqual(before.length);
  });
});

interface Folder extends Named {
  readonly folders?: readonly Folder[];
  readonly files?: readonly (Named & { readonly version?: number })[];
}

const treeOf: Tree<Folder, Named & { readonly version?: number }> = {
  async *list({ folders = [], files = [] }) {
    for (const folder of folders) yield { folder };
    for (const file of files) yield { file };
  },
  compareEqual: (one, other) => (other.version ?? 0) - (one.version ?? 0),
};

describe('walking two trees', () => {
  const walk = async (left: Folder | null, right: Folder | null, options = {}) =>
    (await toArray(walkPairs({ tree: treeOf, folder: left }, { tree: treeOf, folder: right }, options))).map(
      ({ at, name, left: one, right: other }: Pair<Named, Named & { version?: number }>) =>
        `${at}|${name}|${one.length}|${other.map(({ version = 0 }) => version).join()}`,
    );

  test('every name comes once, files before folders, with what either side has', async () => {
    const left = {
      name: '',
      files: [{ name: 'b' }, { name: 'a' }],
      folders: [{ name: 'x', files: [{ name: 'l' }] }],
    };
    const right = {
      name: '',
      files: [
        { name: 'b', version: 1 },
        { name: 'c', version: 2 },
        { name: 'b', version: 3 },
      ],
      folders: [
        { name: 'y', files: [{ name: 'r' }] },
        { name: 'x', files: [{ name: 'l', version: 9 }] },
      ],
    };
    expect(await walk(left, right)).toEqual(['|a|1|', '|b|1|3,1', '|c|0|2', 'x|l|1|9', 'y|r|0|0']);
    expect(await walk(null, right)).toEqual(['|b|0|3,1', '|c|0|2', 'x|l|0|9', 'y|r|0|0']);
    expect(await walk(left, right, { itemsMax: 1 })).toEqual(await walk(left, right));
  });

  test('on a disk that ignores case, names that clash come together, the newest first', async () => {
    const right = { name: '', files: [{ name: 'A', version: 1 }, { name: 'a', version: 2 }, { name: 'B' }] };
    const keyOf = (name: string) => name.toLowerCase();
    expect(await walk({ name: '', files: [{ name: 'a' }] }, right, { keyOf })).toEqual([
      '|a|1|2,1',
      '|B|0|0',
    ]);
  });

  test('two folders of 100,000 files are merged within 64 MB of memory, which cannot hold them', async () => {
    const walkModule = new URL('../dist/files/walk.js', import.meta.url).href;
    const code = `
      const { parentPort } = require('node:worker_threads');
      const file = (i) => ({ name: 'file-' + ((i * 7919) % 100000) + '.txt', sha256: String(i).padEnd(400, 'f') });
      const tree = { async *list() { for (let i = 0; i < 100000; i += 1) yield { file: file(i) }; } };
      import('${walkModule}').then(async ({ walkPairs }) => {
        const side = { tree, folder: { name: '' } };
        let pairs = 0;
        for await (const { left, right } of walkPairs(side, side)) pairs += left.length === 1 && right.length === 1;
        parentPort.postMessage(pairs);
      });`;
    const worker = new Worker(code, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 64 } });
    expect(await once(worker, 'message')).toEqual([100_000]);
    await worker.terminate();
  });
});

describe('the pool', () => {
  test('keeps to its number of jobs and bytes, but always lets one in', async () => {
    const pool = createPool(3, 100);
    let [running, bytes, most, mostBytes] = [0, 0, 0, 0];
    for (const size of [10, 200, 60, 60, 1, 1, 1, 1, 1]) {
      await pool.start(size, async () => {
        running += 1;
        bytes += size;
        most = Math.max(most, running);
        if (running > 1) mostBytes = Math.max(mostBytes, bytes);
        await new Promise(setImmediate);
        running -= 1;
        bytes -= size;
      });
    }
    await pool.end();
    expect(most).toBeLessThanOrEqual(3);
    expect(mostBytes).toBeLessThanOrEqual(100);
  });

  test('a failure ends it', async () => {
    const pool = createPool(1, 1);
    await pool.start(0, () => Promise.reject(new Error('first')));
    await expect(pool.start(0, async () => undefined)).rejects.toThrow('first');
    await expect(pool.end()).rejects.toThrow('first');
  });
});
