// The port to the object store. Two zones keep private and public objects apart; a key means the same object in both.
// Adapters: disk/disk-store.ts (the default) and s3/s3-store.ts. A failure of the store is thrown as
// STORAGE_UNAVAILABLE; the caller's own abort is rethrown unchanged.
import type { Readable } from 'node:stream';

export type Zone = 'private' | 'public';

export interface ObjectMeta {
  /** The Content-Type that readers are given. */
  readonly contentType: string;
  /** The full Content-Disposition header that readers are given. */
  readonly contentDisposition: string;
}

export interface ObjectInfo extends ObjectMeta {
  readonly bytes: number;
  readonly etag: string;
  readonly modifiedAt: Date;
}

export interface DownloadUrlOptions extends ObjectMeta {
  readonly expiresInSeconds: number;
  /** Absolute origin of this service, for adapters whose URLs it serves itself. */
  readonly origin: string;
}

/** Inclusive at both ends. */
export interface ObjectRange {
  readonly start: number;
  readonly end: number;
  readonly etag?: string;
}

export interface ObjectStore {
  readonly kind: 'disk' | 's3';
  /** True where public objects live apart from private ones, so that a visibility change must move them. */
  readonly separatesPublic: boolean;
  /**
   * Stores all of `body` durably under `key`, or nothing that a reader could see. Memory is bounded whatever
   * the size; a Buffer is the cheapest way for what is in memory anyway. Resolves only when the object is
   * safe against power loss (disk) or acknowledged (S3). An error of the body is rethrown as it is. A stream
   * that was not read to its end is destroyed. `bytesMax`, of a stream that cannot be longer, saves memory.
   */
  put(
    zone: Zone,
    key: string,
    body: Readable | Buffer,
    meta: ObjectMeta,
    signal?: AbortSignal,
    bytesMax?: number,
  ): Promise<void>;
  /**
   * Rejects with NOT_FOUND when there is none, and when its etag is another than the one asked for. `range` is
   * inclusive at both ends, and as much of it is read as exists. The stream must be read or destroyed. A store that
   * fails half way ends it with an outage.
   */
  get(zone: Zone, key: string, range?: ObjectRange, signal?: AbortSignal): Promise<Readable>;
  /** Null when there is none. The disk store does not keep the type and disposition: it gives harmless ones. */
  head(zone: Zone, key: string): Promise<ObjectInfo | null>;
  /** Succeeds also when there is none. */
  delete(zone: Zone, key: string): Promise<void>;
  /** Deletes many; resolves to the keys that could not be deleted. Throws where the store could not even be asked. */
  deleteMany(zone: Zone, keys: readonly string[]): Promise<string[]>;
  /**
   * Copies within the store, with what the store keeps of its type, durable at the destination when it resolves. The
   * source stays.
   */
  copy(from: Zone, to: Zone, key: string): Promise<void>;
  /**
   * A URL that reads the object without any credential until it expires; on S3, while it stays on that zone. All that
   * a URL cannot hold is encoded in it, so that nothing is left which JSON would have to escape.
   */
  downloadUrl(zone: Zone, key: string, options: DownloadUrlOptions): string;
  /** Every key on a zone, in no order to rely on, for tests and for operators' audits. */
  list(zone: Zone, prefix?: string): AsyncIterable<string>;
  /**
   * Ends multipart uploads and temporary files that were begun before `olderThan`, but for those whose key is still
   * being written, by whomever; resolves to how many.
   */
  sweepUnfinished(olderThan: Date, isUnderWay: (key: string) => Promise<boolean>): Promise<number>;
  /** Throws, naming what is missing, when the store cannot be used. */
  check(): Promise<void>;
  close(): Promise<void>;
}
