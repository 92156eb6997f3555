// Statements that find what is stored of a file.
import type { WantedFile } from '../../contract/file.ts';
import { isUnexpired } from '../../contract/file-conditions.ts';
import { noSql, type Sql, sql } from '../../platform/db/sql.ts';
import type { Zone } from '../../platform/objects/object-store.ts';

/** A file and, if it is an image, the result of its compression. */
export interface ContentRow {
  readonly zone: Zone;
  readonly storage_key: string;
  readonly name: string;
  readonly mime_type: string;
  readonly size: number;
  /** Hex. Null until it is known. */
  readonly sha256: string | null;
  readonly created_at: string;
  readonly job_status: 'pending' | 'processing' | 'done' | 'failed' | null;
  /** Set, with the fields below, as soon as the result may have replaced the original. */
  readonly result_sha256: string | null;
  readonly result_size: number | null;
  readonly result_format: string | null;
  readonly result_at: string | null;
}

/** Only images have jobs: the join is skipped for other files. A file that has expired is as good as gone. */
export const findContentRow = ({ projectId, userId, spaceId, fileId }: WantedFile): Sql => sql`
  select f.zone, f.storage_key, f.name, f.mime_type, f.size, encode(f.sha256, 'hex') as sha256, f.created_at,
    j.status as job_status, encode(j.result_sha256, 'hex') as result_sha256, j.compressed_size as result_size,
    j.format as result_format, j.updated_at as result_at
  from files f
  left join compression_jobs j
    on starts_with(f.mime_type, 'image/') and j.project_id = f.project_id and j.file_id = f.id
  where f.project_id = ${projectId} and f.id = ${fileId} and f.user_id = ${userId}
    and ${isUnexpired(sql`f`)}
    ${spaceId === null ? noSql : sql`and f.space_id = ${spaceId}`}`;
