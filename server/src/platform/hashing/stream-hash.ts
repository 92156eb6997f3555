// The port for hashing large bodies. Adapters: hash-pool.ts hashes in worker threads; `inlineHashing` on the calling
// thread, for programs that serve no requests.
import { createDigest, type HashAlgorithm } from './digest.ts';
import { type FilePlace, writeTo } from './file-place.ts';

export type { HashAlgorithm } from './digest.ts';

/** The hash of one body. */
export interface StreamHash {
  /**
   * `bytes` must be shared memory (`sharedBuffer`). Resolves when they have been hashed and may be overwritten. Calls need
   * not wait for each other: bytes are hashed in the order of the calls. With a place they are written there, too, and it
   * rejects with the system's error if that fails; it settles only when nothing is written any more.
   */
  update(bytes: Buffer, place?: FilePlace): Promise<void>;
  /** The last call. Rejects if any byte was not hashed. */
  digest(): Promise<Buffer>;
  /** Drops the state. Must be called on every path; does nothing after `digest`. */
  close(): void;
}

export interface Hashing {
  open(algorithm: HashAlgorithm): StreamHash;
}

export const inlineHashing: Hashing = {
  open(algorithm) {
    const hash = createDigest(algorithm);
    return {
      update: async (bytes, place) => {
        hash.update(bytes);
        if (place) writeTo(place, bytes);
      },
      digest: async () => hash.digest(),
      close: () => undefined,
    };
  },
};
