// Messages between the service and its hash threads.
import type { FilePlace } from './file-place.ts';
import type { HashAlgorithm } from './stream-hash.ts';

export type HashRequest =
  | {
      readonly kind: 'update';
      readonly id: number;
      readonly algorithm: HashAlgorithm;
      readonly bytes: Uint8Array;
      /** Where to write them as well. */
      readonly place: FilePlace | null;
    }
  | { readonly kind: 'digest'; readonly id: number; readonly algorithm: HashAlgorithm }
  | { readonly kind: 'forget'; readonly id: number };

/** Sent once for every update and digest, in their order. */
export interface HashReply {
  readonly id: number;
  /** How many bytes the hash covers. */
  readonly total: number;
  /** Only for a digest. */
  readonly digest: Uint8Array | null;
  /** Why the bytes could not be written. They have been hashed nevertheless. */
  readonly fault: WriteFault | null;
}

/** What is left of an error between threads. */
export interface WriteFault {
  readonly message: string;
  readonly code: string | undefined;
}
