import { describe, expect, it } from 'vitest';
import { directPartBytes } from './s3-direct.ts';
import { bytesStaged, nothingStaged, parseStaged, toStagedState } from './s3-staged-state.ts';

const empty = nothingStaged(100);
const upload = { id: 'u', mark: 'm' };
const tail = { key: 'k', bytes: 7, etag: '"e"' };

describe('s3-staged-state', () => {
  it.each([
    [empty, 0],
    [{ ...empty, tail }, 7],
    [{ ...empty, upload, parts: 3 }, 300],
    [{ ...empty, upload, parts: 3, tail }, 307],
    [{ ...empty, upload, parts: 3, lastPartBytes: 1 }, 201],
  ])('counts the bytes, also after JSON: %#', (staged, bytes) => {
    expect(bytesStaged(staged)).toBe(bytes);
    expect(bytesStaged(parseStaged(JSON.parse(JSON.stringify(toStagedState(staged))), 100))).toBe(bytes);
  });

  it('keeps the size of the parts that an upload began with', () => {
    const state = toStagedState({ ...empty, upload, parts: 2 });
    expect(bytesStaged(parseStaged(state, 5_000))).toBe(200);
  });

  it('is null as long as nothing is stored', () => {
    expect(toStagedState(empty)).toBeNull();
    expect(parseStaged(null, 100)).toEqual(empty);
  });

  it('does not read the state of another store', () => {
    expect(() => parseStaged({ kind: 'disk' }, 100)).toThrow('There is no such object');
  });
});

describe('directPartBytes', () => {
  it('makes parts larger only where S3 would not take their number', () => {
    const usual = 8 << 20;
    expect(directPartBytes(0, usual)).toBe(usual);
    expect(directPartBytes(10_000 * usual, usual)).toBe(usual);
    expect(directPartBytes(10_000 * usual + 1, usual)).toBe(9 << 20);
    expect(Math.ceil(5e12 / directPartBytes(5e12, usual))).toBeLessThanOrEqual(10_000);
  });
});
