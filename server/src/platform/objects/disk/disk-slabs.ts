// Memory for bodies on their way to disk, two slabs per body at most: one is filled while the other is written. Shared
// memory, so that another thread can hash it meanwhile.
import { sharedBuffer } from '../../hashing/stream-hash.ts';
import type { BodyReader } from '../body-reader.ts';

export const slabBytes = 512 << 10;
/** Second slabs are lent up to this many in all. First slabs are not limited: the uploads in flight are. */
const easySlabs = 64;
const idleSlabsMax = 8;

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
    if (this.#idle.length < idleSlabsMax) this.#idle.push(slab);
  }
}

/**
 * Reads the rest of a body whose first piece is in `slab`. `write` gets one piece after the other. No piece is in use any
 * more when this settles.
 */
export async function writeThroughSlabs(
  slabs: DiskSlabs,
  reader: BodyReader,
  slab: Buffer,
  first: Buffer,
  write: (piece: Buffer) => Promise<void>,
): Promise<void> {
  const second = slabs.takeIfEasy();
  let writing = Promise.resolve();
  try {
    for (let piece = first, target = second ?? slab; piece.length > 0; ) {
      writing = write(piece);
      // Handled below, but perhaps after it has failed.
      writing.catch(() => undefined);
      if (!second) await writing;
      piece = await reader.fill(target);
      target = second && target === slab ? second : slab;
      await writing;
    }
  } finally {
    await writing.catch(() => undefined);
    if (second) slabs.giveBack(second);
  }
}
