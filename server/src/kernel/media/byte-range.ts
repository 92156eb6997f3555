// Parses the Range header (RFC 9110, section 14): one byte range or several.

export interface ByteRange {
  readonly start: number;
  /** Inclusive. */
  readonly end: number;
}

/** More ranges than any honest client asks for at once. */
export const rangesMax = 32;

/** What a part of a multipart answer costs beside its bytes, roughly: closer ranges are cheaper sent as one. */
const gapBytesMin = 128;

/**
 * The ranges to send, in the order in which they were asked for, none of them overlapping or adjacent to another. Null
 * means: send everything, because the header is absent or malformed, or asks for too many. 'unsatisfiable' is a 416.
 */
export function parseRanges(
  header: string | undefined,
  size: number,
): readonly ByteRange[] | 'unsatisfiable' | null {
  const list = /^\s*bytes=(.*)$/is.exec(header ?? '')?.[1];
  if (list === undefined) return null;
  // A list may have empty elements. Splitting stops where there are too many.
  const specs = list.split(',', rangesMax * 2 + 1).flatMap((spec) => spec.trim() || []);
  if (specs.length === 0 || specs.length > rangesMax) return null;
  const ranges: ByteRange[] = [];
  for (const spec of specs) {
    const range = parseSpec(spec, size);
    if (range === 'malformed') return null;
    if (range !== 'unsatisfiable') ranges.push(range);
  }
  return ranges.length === 0 ? 'unsatisfiable' : mergeNear(ranges);
}

function parseSpec(spec: string, size: number): ByteRange | 'unsatisfiable' | 'malformed' {
  const [, first = '', last = ''] = /^(\d*)-(\d*)$/.exec(spec) ?? [];
  if (first === '' && last === '') return 'malformed';
  if (first === '') return suffixRange(toPosition(last), size);
  if (last !== '' && BigInt(last) < BigInt(first)) return 'malformed';
  const start = toPosition(first);
  if (start >= size) return 'unsatisfiable';
  return { start, end: last === '' ? size - 1 : Math.min(toPosition(last), size - 1) };
}

/** Positions that a double cannot hold exactly lie beyond the end of every file, and stay there. */
const toPosition = (digits: string): number => Number(digits);

/** The last `length` bytes. */
function suffixRange(length: number, size: number): ByteRange | 'unsatisfiable' {
  if (length === 0 || size === 0) return 'unsatisfiable';
  return { start: Math.max(0, size - length), end: size - 1 };
}

/** Joins ranges that overlap or nearly touch. A joined range stands where the first of its ranges stood. */
function mergeNear(ranges: readonly ByteRange[]): readonly ByteRange[] {
  if (ranges.length === 1) return ranges;
  const merged: { start: number; end: number; place: number }[] = [];
  const sorted = ranges.map((range, place) => ({ ...range, place })).sort((a, b) => a.start - b.start);
  for (const range of sorted) {
    const last = merged.at(-1);
    if (last && range.start - last.end <= gapBytesMin) {
      last.end = Math.max(last.end, range.end);
      last.place = Math.min(last.place, range.place);
    } else merged.push({ ...range });
  }
  return merged.sort((a, b) => a.place - b.place).map(({ start, end }) => ({ start, end }));
}
