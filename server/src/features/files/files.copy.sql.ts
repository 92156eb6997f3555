// Statements for copying the objects of all files to another store.
import { type Sql, sql } from '../../platform/db/sql.ts';
import type { Zone } from '../../platform/objects/object-store.ts';

/** A file and both digests its object may have: the original's and that of the compressed image. */
export interface CopyRow {
  readonly project_id: string;
  readonly id: string;
  readonly name: string;
  readonly mime_type: string;
  readonly storage_key: string;
  readonly zone: Zone;
  /** Hex. Null if it was never read. */
  readonly sha256: string | null;
  /** Set as soon as compression may have replaced the original. */
  readonly result_sha256: string | null;
  readonly result_format: string | null;
}

/** In primary key order, starting after the given file. */
export const listToCopy = (after: Pick<CopyRow, 'project_id' | 'id'>, rowsMax: number): Sql => sql`
  select f.project_id, f.id, f.name, f.mime_type, f.storage_key, f.zone, encode(f.sha256, 'hex') as sha256,
    encode(j.result_sha256, 'hex') as result_sha256, j.format as result_format
  from files f left join compression_jobs j on j.project_id = f.project_id and j.file_id = f.id
  where (f.project_id, f.id) > (${after.project_id}, ${after.id}) order by f.project_id, f.id limit ${rowsMax}`;

export const findCopied = ({ project_id, id }: Pick<CopyRow, 'project_id' | 'id'>): Sql => sql`
  select f.project_id, f.id, f.name, f.mime_type, f.storage_key, f.zone, encode(f.sha256, 'hex') as sha256,
    encode(j.result_sha256, 'hex') as result_sha256, j.format as result_format
  from files f left join compression_jobs j on j.project_id = f.project_id and j.file_id = f.id
  where f.project_id = ${project_id} and f.id = ${id}`;
