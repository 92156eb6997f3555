// The memory that streamed uploads share, in slabs: bounded by configuration, not by the number of clients. An upload
// that waits too long for memory is refused. Other threads can read it, to hash it.

import { FairSemaphore } from '../../concurrency/fair-semaphore.ts';
import { sharedBuffer } from '../../heap.ts';

export interface LentMemory {
  readonly slabs: readonly Buffer[];
  giveBack(): void;
}

export interface PartMemory {
  /** Memory for `bytes`, all at once, so that its holder can always finish its part. */
  take(owner: string, bytes: number, signal?: AbortSignal): Promise<LentMemory>;
}

export interface PartMemoryOptions {
  readonly slabBytes: number;
  readonly bytesMax: number;
  readonly waitMaxMs: number;
  /** Called while an upload waits, so that another one can be made to give memory back. */
  readonly onShortage?: (() => void) | undefined;
}

/** While nothing is lent, an eighth stays allocated; otherwise as much as is lent. */
const idleShare = 1 / 8;

/** One owner can never hold the last quarter. */
const shareOfOne = 0.75;

export function createPartMemory({ slabBytes, bytesMax, ...waits }: PartMemoryOptions): PartMemory {
  const permits = Math.floor(bytesMax / slabBytes);
  const permitsPerOwner = Math.ceil(permits * shareOfOne);
  const idleMax = Math.ceil(permits * idleShare);
  const semaphore = new FairSemaphore('uploads', { permits, permitsPerOwner, ...waits });
  const idle: Buffer[] = [];
  let lent = 0;
  return {
    async take(owner, bytes, signal) {
      const count = Math.ceil(bytes / slabBytes);
      const release = await semaphore.acquire(owner, signal, count);
      lent += count;
      const slabs = Array.from({ length: count }, () => idle.pop() ?? sharedBuffer(slabBytes));
      return {
        slabs,
        giveBack() {
          lent -= count;
          idle.push(...slabs);
          idle.length = Math.min(idle.length, Math.max(idleMax, lent));
          release();
        },
      };
    },
  };
}
