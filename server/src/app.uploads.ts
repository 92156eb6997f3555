// The capacity that all uploads of this process share.
import type { Deps } from './contract/deps.ts';
import { EvictingSemaphore } from './platform/concurrency/evicting-semaphore.ts';

export interface UploadBounds {
  /** Uploads streamed at once, each with a bounded amount of memory. */
  readonly places: number;
  /** Memory for uploads that are small, or small so far. */
  readonly bufferBytes: number;
  readonly waitMaxMs: number;
  readonly yieldAfterMs: number;
}

export const defaultUploadBounds: UploadBounds = {
  places: 128,
  bufferBytes: 64 << 20,
  waitMaxMs: 30_000,
  yieldAfterMs: 5_000,
};

/** One project gets at most 15/16 of it, and one user or space at most 14/16: some is always left for others. */
export function shareUploads({ places, bufferBytes, ...waits }: UploadBounds): Deps['uploads'] {
  const share = (units: number) =>
    new EvictingSemaphore('uploads', {
      ...waits,
      units,
      unitsOfProject: units - Math.ceil(units / 16),
      unitsOfSubject: units - 2 * Math.ceil(units / 16),
    });
  return { places: share(places), buffers: share(bufferBytes) };
}
