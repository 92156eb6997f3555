// The crc32 that zips need, by a package that uses the processor's instructions for it. On x86, Node's own is seven times slower:
// see docs/adr/0031-crc32.md.
import { crc32 as compute } from '@node-rs/crc32';

/** `before` is the crc32 of the preceding bytes. */
export const crc32 = (bytes: Uint8Array, before = 0): number => compute(bytes, before);
