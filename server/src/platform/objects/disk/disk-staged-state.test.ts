import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findMergeStart, parseSegments, sumBytes, toState } from './disk-staged-state.ts';

const toSegments = (sizes: readonly number[]) => sizes.map((bytes, at) => ({ file: `k~1-${at}`, bytes }));

describe('disk-staged-state', () => {
  it('merges so that every segment that is left is longer than all behind it, and none of the long ones is copied', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 1e12 }), { minLength: 1, maxLength: 64 });
    fc.assert(
      fc.property(sizes, (given) => {
        const segments = toSegments(given);
        const start = findMergeStart(segments);
        for (const [at, { bytes }] of segments.slice(0, start).entries())
          expect(bytes).toBeGreaterThan(sumBytes(segments.slice(at + 1)));
        expect(segments.length - start).not.toBe(1);
      }),
    );
    expect(findMergeStart(toSegments([1e9, ...Array(63).fill(1)]))).toBe(1);
  });

  it('copies each byte a few times only, however often single bytes come in turns', () => {
    let segments = toSegments([1e9]);
    let copied = 0;
    for (let turn = 0; turn < 10_000; turn += 1) {
      const start = segments.length < 64 ? segments.length : findMergeStart(segments);
      const merged = sumBytes(segments.slice(start));
      copied += merged;
      segments = [...segments.slice(0, start), { file: 'k~1-x', bytes: merged + 1 }];
    }
    expect(sumBytes(segments)).toBe(1e9 + 10_000);
    expect(copied).toBeLessThan(10_000 * Math.log2(10_000));
  });

  it('takes the bytes of another kind of store for lost, and a file of another object for a bug', () => {
    const isFileOfObject = (file: string) => file.startsWith('k~');
    const state = { segments: toSegments([1, 2]), replaced: ['k~1-9'] };
    expect(parseSegments(JSON.parse(JSON.stringify(toState(state))), isFileOfObject)).toEqual(state);
    expect(parseSegments(null, isFileOfObject)).toEqual({ segments: [], replaced: [] });
    expect(() => parseSegments({ kind: 's3' }, isFileOfObject)).toThrow(
      expect.objectContaining({ code: 'NOT_FOUND' }),
    );
    for (const file of ['other~1-1', 'k~/../../private/x', '../k~1'])
      expect(() => parseSegments({ kind: 'disk', segments: [{ file, bytes: 1 }] }, isFileOfObject)).toThrow(
        'Not a file of this object',
      );
  });
});
