// The rows of stored files, and the batched functions that find and commit them.
import type { Zone } from '../platform/objects/object-store.ts';
import type { AuditStamp } from './audit.ts';
import type { JobFacts } from './image-job.ts';

/** The fields that a caller may set. */
export interface FileValues {
  readonly folder: string;
  readonly tags: string[];
  readonly classifier: string | null;
  readonly metadata: Record<string, unknown>;
  readonly visibility: 'private' | 'public';
  /** When it is deleted, or goes to the trash. */
  readonly expires_at: string | null;
  /** Until then, nothing but its metadata can change. */
  readonly retain_until: string | null;
}

export interface FileRow extends FileValues {
  /** The compression job of an image; null for other files. */
  readonly compression: JobFacts | null;
  readonly id: string;
  readonly user_id: string;
  readonly space_id: string | null;
  readonly name: string;
  readonly size: number;
  readonly mime_type: string;
  readonly storage_key: string;
  readonly zone: Zone;
  /** Null until a worker has read a file that went past the service. */
  readonly sha256: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** A row to insert. The database adds the timestamps. */
export interface NewFile extends Omit<FileRow, 'compression' | 'created_at' | 'updated_at'> {
  readonly project_id: string;
  /** Of the bytes in the store. Null or absent if it is not known yet. */
  readonly crc32?: number | null;
}

export type StoreOutcome =
  | 'stored'
  | 'no user'
  | 'inactive user'
  | 'no space'
  | 'inactive space'
  | 'user limit'
  | 'space limit'
  | 'file count'
  | 'object lost'
  /** The database did not answer, but the file is certain not to be stored, now or later. */
  | 'not confirmed';

/** A file in the trash, as far as it decides whether the file may come back. */
export type TrashedRow = Pick<FileRow, 'id' | 'space_id' | 'size' | 'mime_type'>;

/** What decides the headers of a download. */
export type DeliveredRow = Pick<FileRow, 'name' | 'mime_type' | 'compression'>;

/** What decides the URL of a download. */
export type AddressedRow = DeliveredRow & Pick<FileRow, 'storage_key' | 'zone' | 'visibility'>;

/** A file for a detail read. */
export interface ReadRow extends AddressedRow {
  /** The file as JSON, as the API shows it. */
  readonly view: string;
}

/** A file, and what its caller may see: with a `spaceId`, only files of that space. */
export interface WantedFile {
  readonly projectId: string;
  readonly userId: string;
  readonly spaceId: string | null;
  readonly fileId: string;
}

/** Files of one space, files in no space, or all. */
export type SpaceFilter = { readonly spaceId: string } | 'none' | 'all';

export interface CommitResult {
  readonly outcome: StoreOutcome;
  readonly stored_at: string;
}

/** Commits an uploaded file. Calls made at the same time share one transaction. */
export type FileCommitter = (file: NewFile, audit: AuditStamp) => Promise<CommitResult>;

/** Finds a file, or null. Calls made in the same turn of the event loop share one statement. */
export type FileFinder = (wanted: WantedFile) => Promise<ReadRow | null>;
