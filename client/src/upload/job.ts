// One upload: what the caller wants, and what the ways of sending it share.
import type { CreateOptions, Http, PathPart } from '../http.ts';
import type { BodyOf } from '../types.ts';
import type { Meter, Progress } from './progress.ts';
import type { Source } from './source.ts';
import type { Memory, ResumeStore } from './store.ts';
import type { Control } from './task.ts';

type NewUpload = BodyOf<'POST /project/users/{userId}/uploads'>;
export type UploadFields = Omit<NewUpload, 'name' | 'size' | 'mimeType' | 'mode' | 'sha256'>;

export interface UploadOptions extends UploadFields, CreateOptions {
  /** By default the name of the File, or `file`. */
  readonly name?: string;
  /** By default the type of the Blob, or application/octet-stream. */
  readonly mimeType?: string;
  /** Of a stream, if you know it: room is then reserved at once. */
  readonly size?: number;
  /** In hex. The server refuses the file if its bytes are others. `true`: computed here, for files that fit into memory. */
  readonly sha256?: string | true;
  /**
   * `auto` by default: a form up to 4 MiB if a form can keep the name, else in chunks; directly to the store if the server has one
   * that programs can reach.
   */
  readonly mode?: 'auto' | 'form' | 'resumable' | 'direct';
  /** Of a resumable upload; 8 MiB by default. */
  readonly chunkSize?: number;
  readonly onProgress?: (progress: Progress) => void;
  /** Where an unfinished upload is remembered; null for nowhere. The page's local storage by default. */
  readonly resumeStore?: ResumeStore | null;
}

/** One upload, as its way of sending sees it. */
export interface Job {
  readonly http: Http;
  readonly user: PathPart;
  readonly source: Source;
  /** Null while it is not known. */
  readonly size: number | null;
  readonly name: string;
  readonly mimeType: string;
  readonly fields: UploadFields & { readonly sha256?: string };
  readonly options: UploadOptions;
  readonly control: Control;
  readonly memory: Memory;
  readonly meter: Meter;
}

/** What one client has learnt about its server. */
export interface Learnt {
  /** False if parts go to the service itself or cannot reach the store: nothing is gained then. */
  isDirectWorthwhile: boolean;
}
