// Where the bytes that are hashed go meanwhile: a place in an open file.
import { writeSync } from 'node:fs';

export interface FilePlace {
  readonly fd: number;
  readonly at: number;
}

/**
 * Linux keeps what is written in blocks as large as the write. In a virtual machine, large ones come from memory that the host has yet to
 * provide: writes of a whole slab took up to fifteen times as long.
 */
export const writeBytesMax = 128 << 10;

/** Blocks the thread. */
export function writeTo({ fd, at }: FilePlace, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; )
    done += writeSync(fd, bytes, done, Math.min(bytes.length - done, writeBytesMax), at + done);
}
