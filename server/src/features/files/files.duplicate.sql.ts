// Statements that read files which are about to be copied.
import type { FileRow } from '../../contract/file.ts';
import { isUnexpired } from '../../contract/file-conditions.ts';
import { arrayOfIds, noSql, type Sql, sql } from '../../platform/db/sql.ts';
import type { FileScope } from './files.sql.ts';

/** A file and its content: what compression has made of it counts, not the upload. */
export interface SourceRow
  extends Pick<
    FileRow,
    | 'id'
    | 'space_id'
    | 'name'
    | 'folder'
    | 'tags'
    | 'classifier'
    | 'metadata'
    | 'visibility'
    | 'storage_key'
    | 'zone'
  > {
  readonly size: number;
  readonly mime_type: string;
  /** Hex; null if nobody has read the content yet. */
  readonly sha256: string | null;
  readonly crc32: number | null;
  /** Of the compressed image. */
  readonly format: string | null;
}

/** In the order of their ids. Those that a worker is compressing now may change while they are copied. */
export const findSources = (
  { projectId, userId, spaceId }: FileScope,
  fileIds: readonly string[],
): Sql => sql`
  select f.id, f.space_id, f.name, f.folder, f.tags, f.classifier, f.metadata, f.visibility, f.storage_key, f.zone, f.crc32,
    case when j.id is null then f.size else j.compressed_size end as size,
    case when j.id is null then f.mime_type else 'image/' || j.format end as mime_type,
    encode(case when j.id is null then f.sha256 else j.result_sha256 end, 'hex') as sha256, j.format
  from files f
  left join compression_jobs j on j.project_id = f.project_id and j.file_id = f.id and j.status = 'done'
    and starts_with(f.mime_type, 'image/')
  where f.project_id = ${projectId} and f.user_id = ${userId} and f.id = any(${arrayOfIds(fileIds)}::uuid[])
    and ${isUnexpired(sql`f`)}
    ${spaceId === null ? noSql : sql`and f.space_id = ${spaceId}`}
  order by f.id`;
