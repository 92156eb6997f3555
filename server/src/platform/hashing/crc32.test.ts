import { crc32 as zlibCrc32 } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { crc32 } from './crc32.ts';

test('in one piece or in two, in shared memory or not, it is the crc32 of zlib', () => {
  const bytes = fc.uint8Array({ size: 'large', maxLength: 5_000 });
  fc.assert(
    fc.property(bytes, bytes, (first, second) => {
      const shared = new Uint8Array(new SharedArrayBuffer(first.length));
      shared.set(first);
      expect(crc32(second, crc32(shared))).toBe(zlibCrc32(Buffer.concat([first, second])));
    }),
  );
});
