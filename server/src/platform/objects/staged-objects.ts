// The port for objects that arrive in several requests, perhaps to several processes. Adapters: disk/disk-staging.ts and
// s3/s3-staging.ts. Callers keep the state and the parts durably; nobody can read the object before `complete`.
import type { StreamHash } from '../hashing/stream-hash.ts';
import type { Body, ObjectMeta, Zone } from './object.ts';

/** Where the bytes of an unfinished object are. JSON that only the adapter understands; null before the first byte. */
export type StagedState = Readonly<Record<string, unknown>> | null;

export interface StagedPart {
  readonly number: number;
  readonly etag: string;
}

/** What is durable, so that another process could go on from here even if this one is killed. */
export interface StagedProgress {
  readonly state: StagedState;
  /** Of the object, from its first byte. */
  readonly bytes: number;
  /** Those that were added since the previous report. */
  readonly parts: readonly StagedPart[];
  /** The tail that the state refers to, if there is one. */
  readonly tailKey?: string;
}

/** The object that is being put together. */
export interface StagedObject {
  readonly zone: Zone;
  readonly key: string;
  readonly meta: ObjectMeta;
  readonly state: StagedState;
}

export interface AppendOptions {
  readonly signal?: AbortSignal | undefined;
  /** Gets every byte of the body, in order. The caller closes it. */
  readonly hash?: StreamHash | undefined;
  /** A private object that this call may write: bytes that do not fill a part yet. */
  readonly tailKey: string;
  /** The most that the body may hold: saves memory. */
  readonly bytesMax: number;
  /** Asked when the body has ended: whether these are all bytes of the object. */
  readonly isWhole: (bytes: number) => boolean;
  /** Called whenever more has become durable while the body still arrives. */
  readonly onDurable: (progress: StagedProgress) => Promise<void>;
}

export interface PartUrlOptions {
  readonly number: number;
  /** The exact length of the part: the URL takes no other. */
  readonly bytes: number;
  readonly expiresInSeconds: number;
  /** Absolute origin of this service, for adapters whose URLs it serves itself. */
  readonly origin: string;
}

export interface PutPartOptions {
  readonly signal?: AbortSignal | undefined;
  /** An open md5 hash, whose digest is taken. The caller closes it. Without one, the calling thread hashes. */
  readonly hash?: StreamHash | undefined;
}

export interface CompleteOptions {
  readonly bytes: number;
  /** All of them, in order. For an object whose parts clients sent: as the clients say. */
  readonly parts: readonly StagedPart[];
  readonly signal?: AbortSignal | undefined;
}

export interface StagedObjects {
  /**
   * Stores the body behind the first `from` bytes. Resolves when all of it is durable. What was written behind `from` by an
   * earlier call that was never recorded is ignored.
   */
  append(object: StagedObject, from: number, body: Body, options: AppendOptions): Promise<StagedProgress>;
  /** Begins an object whose parts clients send to `partUrl`, in any order. */
  beginDirect(object: StagedObject): Promise<StagedState>;
  /** Of all parts but the last, for an object of `bytes`. */
  partBytesFor(bytes: number): number;
  /** A URL that stores one part by PUT, without a credential. */
  partUrl(object: StagedObject, options: PartUrlOptions): string;
  /**
   * Stores what was sent to a part's URL, durably, and resolves to its etag. A body of another length gets
   * VALIDATION_ERROR, and nothing is kept of it. Only in stores whose URLs this service serves itself.
   */
  putPart?(key: string, number: number, bytes: number, body: Body, options?: PutPartOptions): Promise<string>;
  /**
   * Makes the object readable under its key, whole and durable. May be repeated, also after a crash in the middle. Rejects
   * with VALIDATION_ERROR if the parts of a direct object are not those that were stored.
   */
  complete(object: StagedObject, options: CompleteOptions): Promise<void>;
  /** Removes everything but the tail. Best effort: the sweep and the reaper do the rest. */
  discard(object: StagedObject): Promise<void>;
}
