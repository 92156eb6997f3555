// The port to the object store. Two zones keep private and public objects apart; a key means the same object in both.
// Adapters: disk/disk-store.ts (the default) and s3/s3-store.ts. A failure of the store is thrown as
// STORAGE_UNAVAILABLE; the caller's own abort is rethrown unchanged.
import type { Readable } from 'node:stream';
import type { StreamHash } from '../hashing/stream-hash.ts';
import type { Body, ObjectMeta, Zone } from './object.ts';
import type { StagedObjects } from './staged-objects.ts';

export type { Body, ObjectMeta, Zone } from './object.ts';

export interface ObjectInfo extends ObjectMeta {
  readonly bytes: number;
  readonly etag: string;
  readonly modifiedAt: Date;
}

export interface DownloadUrlOptions extends ObjectMeta {
  readonly expiresInSeconds: number;
  /** Absolute origin of this service, for adapters whose URLs it serves itself. */
  readonly origin: string;
  /** Told to caches by adapters whose URLs lead to the store; what this service delivers, it decides itself. */
  readonly cacheControl?: string;
}

/** Inclusive at both ends. */
export interface ObjectRange {
  readonly start: number;
  readonly end: number;
  readonly etag?: string;
}

/** What a copy is called. */
export interface CopyTarget {
  readonly key: string;
  readonly meta: ObjectMeta;
}

/** Bytes of an object on their way. */
export interface ObjectBody extends Readable {
  /** The whole object that they belong to; null if there is nothing at that range. */
  readonly object: Pick<ObjectInfo, 'bytes' | 'etag'> | null;
}

export interface GetOptions {
  /**
   * The bytes go to a client. A store that breaks off half way is asked for the rest, of the same version, a few times. Memory is
   * used again once it has been written to the stream that the body is piped to, which must be a socket or an answer.
   */
  readonly toClient?: boolean;
}

export interface PutOptions {
  readonly signal?: AbortSignal | undefined;
  /** The maximum length of a stream: saves memory. */
  readonly bytesMax?: number | undefined;
  /** Gets every byte of a stream that is stored. The caller closes it. */
  readonly hash?: StreamHash | undefined;
}

export interface ObjectStore {
  readonly kind: 'disk' | 's3';
  /** True if public objects are stored apart from private ones, so that a change of visibility moves them. */
  readonly separatesPublic: boolean;
  /** The origins of its signed URLs; none if this service answers them itself. */
  readonly urlOrigins: readonly string[];
  /** Objects that arrive in several requests. */
  readonly staged: StagedObjects;
  /**
   * Stores all of `body` durably under `key`, or nothing that a reader could see. Memory is bounded for any size.
   * Resolves when the object is safe against power loss (disk) or acknowledged (S3). An error of the body is rethrown
   * unchanged. A body that was not read to its end is destroyed.
   */
  put(zone: Zone, key: string, body: Body, meta: ObjectMeta, options?: PutOptions): Promise<void>;
  /**
   * Rejects with NOT_FOUND if there is none, or if its etag differs from the one in `range`. Reads as much of the range
   * as exists. The stream must be read or destroyed. If the store fails half way, the stream ends with an outage.
   */
  get(
    zone: Zone,
    key: string,
    range?: ObjectRange,
    signal?: AbortSignal,
    options?: GetOptions,
  ): Promise<ObjectBody>;
  /**
   * Fills `into` with a small object of exactly that length: cheaper than a stream. Rejects with NOT_FOUND if there is none
   * of that length. `into` must be shared memory (`sharedBuffer`); after an abort it may still be written to.
   */
  read(zone: Zone, key: string, into: Buffer, signal?: AbortSignal): Promise<void>;
  /** Null if there is none. The disk store does not keep type and disposition, and returns harmless ones. */
  head(zone: Zone, key: string): Promise<ObjectInfo | null>;
  /** Succeeds even if there is none. */
  delete(zone: Zone, key: string): Promise<void>;
  /** Resolves to the keys that could not be deleted. Throws if the store could not be reached. */
  deleteMany(zone: Zone, keys: readonly string[]): Promise<string[]>;
  /**
   * Copies within the store, to the same key with the stored type, or to another key with its own. Durable when it resolves. The
   * source stays. Rejects with NOT_FOUND if there is none.
   */
  copy(from: Zone, to: Zone, key: string, as?: CopyTarget): Promise<void>;
  /**
   * A URL that reads the object without a credential until it expires; on S3, only while the object stays in that zone.
   * Fully percent-encoded, so that JSON needs no escaping.
   */
  downloadUrl(zone: Zone, key: string, options: DownloadUrlOptions): string;
  /** Every key in a zone, in no particular order, for tests and audits. */
  list(zone: Zone, prefix?: string): AsyncIterable<string>;
  /**
   * Removes multipart uploads and temporary files that were started before `olderThan`, except those whose key is still
   * being written by any process. Resolves to how many.
   */
  sweepUnfinished(olderThan: Date, isUnderWay: (key: string) => Promise<boolean>): Promise<number>;
  /** Throws if the store cannot be used, and says what is missing. */
  check(): Promise<void>;
  close(): Promise<void>;
}
