// What a hash computes. `content` is for the content of files: the sha256, followed by the crc32 that zips need.
import { createHash } from 'node:crypto';
import { crc32 } from './crc32.ts';

export type ChecksumAlgorithm = 'sha256' | 'sha1' | 'md5';

export type HashAlgorithm = ChecksumAlgorithm | 'content';

/** Works on the calling thread. */
export interface Digest {
  update(bytes: Uint8Array): void;
  digest(): Buffer;
}

export interface ContentDigest {
  readonly sha256: Buffer;
  readonly crc32: number;
}

const sha256Bytes = 32;

export function createDigest(algorithm: HashAlgorithm): Digest {
  const hash = createHash(algorithm === 'content' ? 'sha256' : algorithm);
  if (algorithm !== 'content')
    return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest() };
  let checksum = 0;
  return {
    update: (bytes) => {
      hash.update(bytes);
      checksum = crc32(bytes, checksum);
    },
    digest: () => joinContentDigest({ sha256: hash.digest(), crc32: checksum }),
  };
}

/** As a `content` hash gives it. */
export function joinContentDigest({ sha256, crc32: checksum }: ContentDigest): Buffer {
  const joined = Buffer.alloc(sha256Bytes + 4);
  sha256.copy(joined);
  joined.writeUInt32BE(checksum, sha256Bytes);
  return joined;
}

export const splitContentDigest = (joined: Buffer): ContentDigest => ({
  sha256: joined.subarray(0, sha256Bytes),
  crc32: joined.readUInt32BE(sha256Bytes),
});
