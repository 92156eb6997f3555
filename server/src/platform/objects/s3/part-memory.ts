// The memory that streamed uploads share, in slabs, so that it is bounded by configuration and not by how many
// clients send at once. Whoever waits too long for some is refused, never left hanging.
import { FairSemaphore } from '../../concurrency/fair-semaphore.ts';

export interface LentMemory {
  readonly slabs: readonly Buffer[];
  giveBack(): void;
}

export interface PartMemory {
  /** Room for `bytes`, all of it at once: who gets some can go on until it gives it back. */
  take(owner: string, bytes: number, signal?: AbortSignal): Promise<LentMemory>;
}

export interface PartMemoryOptions {
  readonly slabBytes: number;
  readonly bytesMax: number;
  readonly waitMaxMs: number;
  /** Called while somebody has to wait: somebody else may be made to give some back. */
  readonly onShortage?: (() => void) | undefined;
}

/** An eighth stays allocated while nobody uploads; otherwise as much as is lent, which comes and goes with every part. */
const idleShare = 1 / 8;

/** A quarter is out of reach for any one owner, however slowly it sends. */
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
      const slabs = Array.from({ length: count }, () => idle.pop() ?? Buffer.allocUnsafeSlow(slabBytes));
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
