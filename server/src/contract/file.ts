// A stored file as features hand it to each other: its row, a row to be stored, and what became of it.
import type { Zone } from '../platform/objects/object-store.ts';
import type { AuditStamp } from './audit.ts';
import type { JobFacts } from './image-job.ts';

/** What a caller may set on a file. */
export interface FileValues {
  readonly folder: string;
  readonly tags: string[];
  readonly classifier: string | null;
  readonly metadata: Record<string, unknown>;
  readonly visibility: 'private' | 'public';
}

export interface FileRow extends FileValues {
  /** How far the compression of an image is; null for every other file. */
  readonly compression: JobFacts | null;
  readonly id: string;
  readonly user_id: string;
  readonly space_id: string | null;
  readonly name: string;
  readonly size: number;
  readonly mime_type: string;
  readonly storage_key: string;
  readonly zone: Zone;
  readonly sha256: string;
  readonly created_at: string;
  readonly updated_at: string;
}

/** A row to be. The database adds the times, and whoever reads it its compression. */
export interface NewFile extends Omit<FileRow, 'compression' | 'created_at' | 'updated_at'> {
  readonly project_id: string;
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
  /** The database did not answer, and it is certain now that the file is not stored and will not be. */
  | 'not confirmed';

/** As what a file is delivered. */
export type DeliveredRow = Pick<FileRow, 'name' | 'mime_type' | 'compression'>;

/** Where it is delivered from. */
export type AddressedRow = DeliveredRow & Pick<FileRow, 'storage_key' | 'zone' | 'visibility'>;

/** A file that is only read. */
export interface ReadRow extends AddressedRow {
  /** A JSON object. */
  readonly view: string;
}

/** One file as one caller may see it; a space, where given, is the only one that it sees. */
export interface WantedFile {
  readonly projectId: string;
  readonly userId: string;
  readonly spaceId: string | null;
  readonly fileId: string;
}

export interface CommitResult {
  readonly outcome: StoreOutcome;
  readonly stored_at: string;
}

/** Commits an uploaded file. Calls made at the same time share one transaction. */
export type FileCommitter = (file: NewFile, audit: AuditStamp) => Promise<CommitResult>;

/** Finds a file, or null. Calls made in the same turn of the event loop share one statement. */
export type FileFinder = (wanted: WantedFile) => Promise<ReadRow | null>;
