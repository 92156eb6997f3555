import { expect, test } from 'vitest';
import { type ContentCoding, chooseCoding } from './content-coding.ts';

const both: readonly ContentCoding[] = ['br', 'gzip'];

test.each<[string | undefined, ContentCoding | null, (readonly ContentCoding[])?]>([
  [undefined, null],
  ['', null],
  ['identity', null],
  ['deflate, zstd', null],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['GZIP, Br', 'br'],
  ['gzip, deflate, br, zstd', 'br'],
  ['br;q=0.5, gzip;q=0.8', 'gzip'],
  ['br ; q=0.8 , gzip ; q=0.8', 'br'],
  ['br;q=0, gzip', 'gzip'],
  ['br;q=0, gzip;q=0', null],
  ['br;q=0, *', 'gzip'],
  ['*', 'br'],
  ['*;q=0', null],
  ['gzip;q=0.2, identity;q=0.9', null],
  ['gzip;q=0.9, identity;q=0.9', 'gzip'],
  ['gzip;q=0.001', 'gzip'],
  ['br;q=much, gzip;q=0.1', 'gzip'],
  ['br;q=', null],
  ['br', null, ['gzip']],
  ['br, gzip;q=0.1', 'gzip', ['gzip']],
  ['br, gzip', null, []],
])('of %j a client gets %j', (header, expected, available = both) => {
  expect(chooseCoding(header, (coding) => available.includes(coding))).toBe(expected);
});
