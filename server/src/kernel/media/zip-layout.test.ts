// Two independent readers, Info-ZIP and Python, have the last word on what is a zip.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ZipEntry, ZipLayout } from './zip-layout.ts';
import { buildZipNames } from './zip-names.ts';

const noon = Date.UTC(2026, 2, 1, 12, 30, 14);
const entry = (name: string, bytes: number): ZipEntry => ({ name, bytes, modifiedAtMs: noon });

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'zip-layout-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The bytes of a range, as a server would produce them. */
function produce(layout: ZipLayout, contents: readonly Buffer[], start = 0, end = layout.bytes - 1): Buffer {
  const pieces = [...layout.pieces(start, end)].map((piece) => {
    const content = contents[piece.entry] ?? Buffer.alloc(0);
    const whole = {
      header: () => layout.header(piece.entry, crc32(content)),
      content: () => content,
      record: () => layout.record(piece.entry, crc32(content)),
      end: () => layout.end(),
    }[piece.part]();
    return whole.subarray(piece.start, piece.end + 1);
  });
  return Buffer.concat(pieces);
}

const files = fc.array(
  fc.record({
    folder: fc.string({ unit: 'grapheme', maxLength: 6 }),
    name: fc.string({ unit: 'grapheme', maxLength: 8 }),
    content: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  }),
  { maxLength: 8 },
);

const layOut = (given: readonly { folder: string; name: string; content: Buffer }[]) => {
  const names = buildZipNames(given);
  return new ZipLayout(given.map(({ content }, index) => entry(names[index] ?? '', content.length)));
};

const readWithPython = `
import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as z:
    assert z.testzip() is None
    print(json.dumps([[i.filename, i.file_size, z.read(i).hex(), i.date_time] for i in z.infolist()]))`;

describe('the layout of a zip', () => {
  test('has as many bytes as it says, and every range is the same stretch of the whole', () => {
    fc.assert(
      fc.property(files, fc.nat(), fc.nat(), (given, one, other) => {
        const layout = layOut(given);
        const contents = given.map(({ content }) => content);
        const whole = produce(layout, contents);
        expect(whole.length).toBe(layout.bytes);
        const [start, end] = [one % layout.bytes, other % layout.bytes].sort((a, b) => a - b) as [
          number,
          number,
        ];
        expect(produce(layout, contents, start, end).equals(whole.subarray(start, end + 1))).toBe(true);
      }),
    );
  });

  test('is what Info-ZIP and Python read, with any names', () => {
    const file = join(folder, 'any.zip');
    fc.assert(
      fc.property(files, (given) => {
        fc.pre(given.length > 0);
        writeFileSync(
          file,
          produce(
            layOut(given),
            given.map(({ content }) => content),
          ),
        );
        execFileSync('unzip', ['-t', file]);
        const read = JSON.parse(execFileSync('python3', ['-c', readWithPython, file], { encoding: 'utf8' }));
        const names = buildZipNames(given);
        expect(read).toEqual(
          given.map(({ content }, index) => [
            names[index],
            content.length,
            content.toString('hex'),
            [2026, 3, 1, 12, 30, 14],
          ]),
        );
      }),
      { numRuns: 12 },
    );
  });

  test('of no files is an empty zip', () => {
    const layout = new ZipLayout([]);
    expect(produce(layout, []).toString('hex')).toBe(`504b0506${'00'.repeat(18)}`);
  });

  test('of a file above 4 GiB has its sizes in zip64 fields', () => {
    const bytes = 5 * 2 ** 30;
    const layout = new ZipLayout([entry('large', bytes), entry('after', 3)]);
    const header = layout.header(0, 7);
    expect(header.readUInt16LE(4)).toBe(45);
    expect(header.readUInt32LE(18)).toBe(0xffff_ffff);
    const extra = header.subarray(30 + 5 + 9);
    expect([
      extra.readUInt16LE(0),
      extra.readUInt16LE(2),
      extra.readBigUInt64LE(4),
      extra.readBigUInt64LE(12),
    ]).toEqual([1, 16, BigInt(bytes), BigInt(bytes)]);
    // The small file behind it needs 64 bits for its offset alone.
    const record = layout.record(1, 7);
    expect([record.readUInt32LE(20), record.readUInt32LE(42)]).toEqual([3, 0xffff_ffff]);
    const offset = record.subarray(46 + 5 + 9);
    expect([offset.readUInt16LE(2), offset.readBigUInt64LE(4)]).toEqual([8, BigInt(header.length + bytes)]);
  });

  test('beyond 4 GiB or 65,535 files ends with the zip64 records, which Python finds', () => {
    // A sparse file: only the ends are written.
    const bytes = 2 ** 32 + 10;
    const layout = new ZipLayout([entry('sparse', bytes), entry('small', 0)]);
    const pieces = [...layout.pieces(bytes, layout.bytes - 1)].filter(({ part }) => part !== 'content');
    expect(pieces.map(({ part }) => part)).toEqual(['header', 'record', 'record', 'end']);
    const list = `
import sys, zipfile
layout = sys.argv[1]
with zipfile.ZipFile(layout) as z: print([(i.filename, i.file_size, i.header_offset) for i in z.infolist()])`;
    const file = join(folder, 'sparse.zip');
    const tail = Buffer.concat([layout.header(1, 0), layout.record(0, 0), layout.record(1, 0), layout.end()]);
    const write = `
import sys
with open(sys.argv[1], 'wb') as f:
    f.write(bytes.fromhex(sys.argv[2])); f.seek(int(sys.argv[3])); f.write(bytes.fromhex(sys.argv[4]))`;
    const at = layout.bytes - tail.length;
    execFileSync('python3', [
      '-c',
      write,
      file,
      layout.header(0, 0).toString('hex'),
      `${at}`,
      tail.toString('hex'),
    ]);
    const offset = layout.header(0, 0).length + bytes;
    expect(execFileSync('python3', ['-c', list, file], { encoding: 'utf8' }).trim()).toBe(
      `[('sparse', ${bytes}, 0), ('small', 0, ${offset})]`,
    );
    const many = new ZipLayout(Array.from({ length: 65_536 }, (_, index) => entry(`${index}`, 0)));
    expect(many.end().length).toBe(56 + 20 + 22);
  });

  test('keeps times in the range that a zip can hold', () => {
    const layout = new ZipLayout(
      [0, Date.UTC(2300, 0, 1)].map((modifiedAtMs) => ({ name: 'a', bytes: 0, modifiedAtMs })),
    );
    expect(layout.header(0, 0).readUInt16LE(12)).toBe((0 << 9) | (1 << 5) | 1);
    expect(layout.header(1, 0).readUInt16LE(12)).toBe((127 << 9) | (12 << 5) | 31);
  });
});
