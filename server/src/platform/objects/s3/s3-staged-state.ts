// Where the bytes of an unfinished object are, as callers keep it: equal parts of a multipart upload, and a tail that does
// not fill a part yet and is an object by itself.
import type { StagedState } from '../staged-objects.ts';
import { noSuchObject } from './s3-guard.ts';

export interface StagedUpload {
  readonly id: string;
  readonly mark: string;
}

export interface StagedTail {
  /** In the private zone. */
  readonly key: string;
  readonly bytes: number;
  readonly etag: string;
}

export interface S3Staged {
  readonly kind: 's3';
  /** True if clients send the parts; then nothing below but `upload` is used. */
  readonly direct: boolean;
  /** Of all parts but the last. Kept, because a later version may prefer another size. */
  readonly partBytes: number;
  readonly upload: StagedUpload | null;
  readonly parts: number;
  /** Null until the object is whole and ends with a part that is shorter than the others. */
  readonly lastPartBytes: number | null;
  readonly tail: StagedTail | null;
}

export const nothingStaged = (partBytes: number): S3Staged => ({
  kind: 's3',
  direct: false,
  partBytes,
  upload: null,
  parts: 0,
  lastPartBytes: null,
  tail: null,
});

/** Rejects with NOT_FOUND if the bytes are in another kind of store. */
export function parseStaged(state: StagedState, partBytes: number): S3Staged {
  if (state === null) return nothingStaged(partBytes);
  if (state.kind !== 's3') throw noSuchObject();
  return state as unknown as S3Staged;
}

export const toStagedState = (staged: S3Staged): StagedState =>
  staged.upload || staged.tail ? { ...staged } : null;

export const bytesStaged = ({ partBytes, parts, lastPartBytes, tail }: S3Staged): number =>
  parts * partBytes - (lastPartBytes === null ? 0 : partBytes - lastPartBytes) + (tail?.bytes ?? 0);
