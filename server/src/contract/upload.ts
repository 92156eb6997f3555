// Uploads that several requests carry, as far as this process takes part in them.
import type { StreamHash } from '../platform/hashing/stream-hash.ts';
import type { AuditStamp } from './audit.ts';
import type { StoreOutcome } from './file.ts';

/** What this process knows of unfinished uploads: the requests that are adding bytes, and hashes that can go on. */
export interface LiveUploads {
  /** `stop` ends the request as if its connection had been cut. Returns the function to call when it has ended. */
  begin(uploadId: string, epoch: number, stop: () => void): () => void;
  /** Stops the request that adds bytes to this upload, if there is one here, and waits a moment for its last bytes. */
  stop(uploadId: string): Promise<void>;
  /** The hash of exactly the first `bytes`, for the caller to go on with; null if this process has not seen them all. */
  takeHash(uploadId: string, bytes: number): StreamHash | null;
  keepHash(uploadId: string, bytes: number, hash: StreamHash): void;
  /** Since the process began: requests that went on where another one had ended, and those that ended one in progress. */
  readonly counts: { readonly resumptions: number; readonly takeovers: number };
  countClaim(at: number, tookOver: boolean): void;
  close(): Promise<void>;
}

/** An upload whose object is in place. */
export interface UploadToComplete {
  readonly project_id: string;
  readonly user_id: string;
  readonly space_id: string | null;
  readonly id: string;
  /** Of the request that completes it. */
  readonly epoch: number;
  /** A `content` digest of the file; null if a worker is to compute it. */
  readonly digest: Buffer | null;
  readonly client: Pick<AuditStamp, 'ipAddress' | 'userAgent'>;
}

export interface CompletedUpload {
  /** 'taken': another request has taken over, or the upload has ended. */
  readonly outcome: StoreOutcome | 'taken';
  readonly stored_at: string;
}

/** Makes a file of an upload. */
export type UploadCompleter = (upload: UploadToComplete) => Promise<CompletedUpload>;
