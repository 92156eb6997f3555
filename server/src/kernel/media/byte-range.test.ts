import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ByteRange, parseRanges, rangesMax } from './byte-range.ts';

describe('Range headers', () => {
  test.each<[string | undefined, number, ByteRange[] | 'unsatisfiable' | null]>([
    [undefined, 10, null],
    ['', 10, null],
    ['bytes', 10, null],
    ['bytes=', 10, null],
    ['bytes=,', 10, null],
    ['bytes=-', 10, null],
    ['bytes=a-b', 10, null],
    ['bytes=0x0-1', 10, null],
    ['bytes=1.0-2', 10, null],
    ['bytes=+1-2', 10, null],
    ['bytes=5-4', 10, null],
    ['bytes=0 -4', 10, null],
    ['bytes=0- 4', 10, null],
    ['bytes 0-4', 10, null],
    ['items=0-4', 10, null],
    ['bytes=0-0', 10, [{ start: 0, end: 0 }]],
    ['BYTES=0-4', 10, [{ start: 0, end: 4 }]],
    ['  bytes= 0-4 ', 10, [{ start: 0, end: 4 }]],
    ['bytes=4-', 10, [{ start: 4, end: 9 }]],
    ['bytes=4-99', 10, [{ start: 4, end: 9 }]],
    ['bytes=-4', 10, [{ start: 6, end: 9 }]],
    ['bytes=-99', 10, [{ start: 0, end: 9 }]],
    ['bytes=-0', 10, 'unsatisfiable'],
    ['bytes=10-', 10, 'unsatisfiable'],
    ['bytes=0-', 0, 'unsatisfiable'],
    ['bytes=-1', 0, 'unsatisfiable'],
    ['bytes=0-99999999999999999999999', 10, [{ start: 0, end: 9 }]],
    ['bytes=-99999999999999999999999', 10, [{ start: 0, end: 9 }]],
    ['bytes=9007199254740993-', 10, 'unsatisfiable'],
    ['bytes=9007199254740993-9007199254740992', 10, null],
    [`bytes=0-${'9'.repeat(400)}`, 10, [{ start: 0, end: 9 }]],
    ['bytes=0000000000000000000001-2', 10, [{ start: 1, end: 2 }]],
  ])('%j of %i bytes', (header, size, expected) => {
    expect(parseRanges(header, size)).toEqual(expected);
  });

  test('several ranges come in the order asked for; near ones are joined, those beyond the end are left out', () => {
    expect(parseRanges('bytes=5000-5999, 0-999 ,,-1,99999-', 10_000)).toEqual([
      { start: 5000, end: 5999 },
      { start: 0, end: 999 },
      { start: 9999, end: 9999 },
    ]);
    expect(parseRanges('bytes=5000-5999,0-999,500-1200,6000-', 10_000)).toEqual([
      { start: 5000, end: 9999 },
      { start: 0, end: 1200 },
    ]);
    expect(parseRanges('bytes=0-1,5-4', 10)).toBeNull();
    expect(parseRanges('bytes=20-,30-', 10)).toBe('unsatisfiable');
  });

  test('more ranges than the limit get everything', () => {
    const ask = (count: number) =>
      `bytes=${Array.from({ length: count }, (_, at) => `${at * 1000}-${at * 1000}`).join(',')}`;
    expect(parseRanges(ask(rangesMax), 1e9)).toHaveLength(rangesMax);
    expect(parseRanges(ask(rangesMax + 1), 1e9)).toBeNull();
    expect(parseRanges(`bytes=${','.repeat(10_000)}0-1`, 10)).toBeNull();
  });

  test('whatever is asked, the answer covers exactly the bytes asked for, give or take small gaps', () => {
    const position = fc.bigInt({ min: 0n, max: 10n ** 20n });
    const near = fc.bigInt({ min: 0n, max: 5000n });
    const number = fc.oneof(near, near, position);
    const spec = fc.oneof(
      fc.tuple(number, number).map(([a, b]) => ({ first: a, last: b })),
      number.map((first) => ({ first, last: null })),
      number.map((last) => ({ first: null, last })),
    );
    fc.assert(
      fc.property(
        fc.array(spec, { minLength: 1, maxLength: 8 }),
        fc.constantFrom(',', ', ', ' ,', ' ,, '),
        fc.nat(4000),
        (specs, comma, size) => {
          const header = `bytes=${specs.map(({ first, last }) => `${first ?? ''}-${last ?? ''}`).join(comma)}`;
          const given = parseRanges(header, size);
          const wanted = coverage(specs, BigInt(size));
          if (wanted === null || wanted === 'unsatisfiable') {
            expect(given).toBe(wanted);
            return;
          }
          expect(Array.isArray(given)).toBe(true);
          const sent = new Set<number>();
          for (const { start, end } of given as ByteRange[]) {
            expect(start >= 0 && start <= end && end < size).toBe(true);
            for (let at = start; at <= end; at += 1) {
              expect(sent.has(at), 'no byte is sent twice').toBe(false);
              sent.add(at);
            }
          }
          for (const at of wanted) expect(sent.has(at)).toBe(true);
          // Only gaps between two ranges may be filled.
          expect(Math.min(...sent)).toBe(Math.min(...wanted));
          expect(Math.max(...sent)).toBe(Math.max(...wanted));
        },
      ),
    );
  });

  test('no header makes it fail', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map((text) => `bytes=${text}`),
          fc.stringMatching(/^bytes=[0-9, -]{0,60}$/),
        ),
        fc.nat(),
        (header, size) => {
          const given = parseRanges(header, size);
          if (Array.isArray(given)) for (const { end } of given) expect(end).toBeLessThan(size);
        },
      ),
    );
  });
});

/** The model, in exact numbers: the set of bytes that are asked for. */
function coverage(
  specs: readonly { first: bigint | null; last: bigint | null }[],
  size: bigint,
): Set<number> | 'unsatisfiable' | null {
  if (specs.some(({ first, last }) => first !== null && last !== null && last < first)) return null;
  const bytes = new Set<number>();
  const clamp = (value: bigint) => (value < 0n ? 0n : value);
  for (const { first, last } of specs) {
    const from = first ?? clamp(size - (last ?? 0n));
    const to = first === null || last === null || last >= size ? size : last + 1n;
    for (let at = from; at < to; at += 1n) bytes.add(Number(at));
  }
  return bytes.size === 0 ? 'unsatisfiable' : bytes;
}
