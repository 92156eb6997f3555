// What callers keep of an unfinished object on disk: which temporary files hold its bytes, in order.
import type { StagedState } from '../staged-objects.ts';
import { lostBytes } from './disk-errors.ts';

/** One temporary file. Its first `bytes` belong to the object; what follows was never recorded. */
export interface Segment {
  readonly file: string;
  readonly bytes: number;
}

export interface SegmentedState {
  readonly segments: readonly Segment[];
  /** Files that a compaction has replaced. They may go once this state is recorded. */
  readonly replaced: readonly string[];
}

export const directState: StagedState = { kind: 'disk', direct: true };

/** Whether clients send the parts. */
export const isDirect = (state: StagedState): boolean => state?.direct === true;

export function parseSegments(state: StagedState, isFileOfObject: (file: string) => boolean): SegmentedState {
  if (state === null) return { segments: [], replaced: [] };
  // Another kind: the service was moved to this disk while the object was unfinished.
  if (state.kind !== 'disk') throw lostBytes();
  const { segments, replaced = [] } = state as Partial<SegmentedState>;
  if (!Array.isArray(segments) || !Array.isArray(replaced)) throw new Error('Not a state of segments');
  for (const file of [...segments.map((segment: Segment) => segment.file), ...replaced])
    if (file.includes('/') || !isFileOfObject(file)) throw new Error(`Not a file of this object: ${file}`);
  return { segments, replaced };
}

export const toState = ({ segments, replaced }: SegmentedState): StagedState => ({
  kind: 'disk',
  segments,
  ...(replaced.length > 0 ? { replaced } : {}),
});

export const sumBytes = (segments: readonly Segment[]): number =>
  segments.reduce((sum, { bytes }) => sum + bytes, 0);

/**
 * The first segment that is no longer than all behind it together. Merging from there on at least doubles the
 * segment of every byte that is copied, so a byte is copied log2(length) times at most, and as many segments remain.
 */
export function findMergeStart(segments: readonly Segment[]): number {
  let start = segments.length;
  let behind = 0;
  for (let at = segments.length - 1; at >= 0; at -= 1) {
    const { bytes = 0 } = segments[at] ?? {};
    if (bytes <= behind) start = at;
    behind += bytes;
  }
  return start;
}
