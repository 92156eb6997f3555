// Memory for bodies on their way to disk, two slabs per body at most: one is filled while the other is written. Shared
// memory, so that another thread can hash and write it.
import { allEnded } from '../../../kernel/async/settled.ts';
import { sharedBuffer } from '../../heap.ts';
import type { BodyReader } from '../body-reader.ts';

/** Large, because every slab costs two wake-ups of another thread. Memory that no byte has reached is not resident. */
const slabBytes = 1 << 20;
/** Second slabs are lent up to this many in all. First slabs are not limited: the uploads in flight are. */
const easySlabs = 32;
/** While nothing is lent, so many stay allocated; otherwise as many as are lent. */
const idleSlabsMax = 4;

export class DiskSlabs {
  readonly #idle: Buffer[] = [];
  #lent = 0;

  take(): Buffer {
    this.#lent += 1;
    return this.#idle.pop() ?? sharedBuffer(slabBytes);
  }

  takeIfEasy(): Buffer | null {
    return this.#lent < easySlabs ? this.take() : null;
  }

  giveBack(slab: Buffer): void {
    this.#lent -= 1;
    this.#idle.push(slab);
    this.#idle.length = Math.min(this.#idle.length, Math.max(idleSlabsMax, this.#lent));
  }
}

/**
 * Reads the rest of a body whose first piece is in `slab`, and passes each piece to `write`, which may get the next one
 * before it has finished with the last: so the hash always has something to do. No piece is in use when this settles.
 */
export async function writeThroughSlabs(
  slabs: DiskSlabs,
  reader: BodyReader,
  slab: Buffer,
  first: Buffer,
  write: (piece: Buffer) => Promise<void>,
): Promise<void> {
  const second = slabs.takeIfEasy();
  const ring = second ? [slab, second] : [slab];
  const uses = ring.map(() => Promise.resolve());
  try {
    for (let piece = first, at = 0; piece.length > 0; ) {
      uses[at] = write(piece);
      // Awaited below, but perhaps after it has failed.
      uses[at]?.catch(() => undefined);
      at = (at + 1) % ring.length;
      await uses[at];
      piece = await reader.fill(ring[at] as Buffer);
    }
    await allEnded(uses);
  } finally {
    await Promise.allSettled(uses);
    if (second) slabs.giveBack(second);
  }
}
