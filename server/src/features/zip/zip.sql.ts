// Statements that find what a zip holds.
import type { SpaceFilter } from '../../contract/file.ts';
import { inSpace, isUnexpired } from '../../contract/file-conditions.ts';
import { arrayOfIds, constantSql, noSql, type Sql, sql } from '../../platform/db/sql.ts';
import type { Zone } from '../../platform/objects/object-store.ts';

/** The most that one zip holds. */
export const filesMax = 10_000;

/** What is zipped: a folder with everything below it, or some files. */
export type Wanted = { readonly folder: string } | { readonly ids: readonly string[] };

export interface ZipFileRow {
  readonly id: string;
  readonly folder: string;
  readonly name: string;
  readonly mime_type: string;
  readonly size: number;
  readonly zone: Zone;
  /** Of the content; null if nobody has read it yet. */
  readonly crc32: number | null;
  readonly created_at: string;
  readonly job_status: string | null;
  /** Set, with the fields below, as soon as the result of a compression may have replaced the original. */
  readonly result_sha256: string | null;
  readonly result_size: number | null;
  readonly result_format: string | null;
}

/** One more than a zip holds shows that there are too many. In no order: sorting would have to read all of them. */
const chosenFiles = (projectId: string, userId: string, space: SpaceFilter, wanted: Wanted): Sql => sql`
  from files where project_id = ${projectId} and user_id = ${userId}${inSpace(space)}${isWanted(wanted)}
    and ${isUnexpired()}
  limit ${constantSql(filesMax + 1)}`;

export const countFiles = (projectId: string, userId: string, space: SpaceFilter, wanted: Wanted): Sql => sql`
  select count(*)::int as files from (select ${chosenFiles(projectId, userId, space, wanted)}) chosen`;

/** Only images have jobs: the lookup is skipped for other files. */
export const listFiles = (projectId: string, userId: string, space: SpaceFilter, wanted: Wanted): Sql => sql`
  select f.id, f.folder, f.name, f.mime_type, f.size, f.zone, f.crc32, f.created_at, j.status as job_status,
    encode(j.result_sha256, 'hex') as result_sha256, j.compressed_size as result_size, j.format as result_format
  from (select id, folder, name, mime_type, size, zone, crc32, created_at
    ${chosenFiles(projectId, userId, space, wanted)}) f
  left join compression_jobs j
    on starts_with(f.mime_type, 'image/') and j.project_id = ${projectId} and j.file_id = f.id`;

/** A folder and what is below it are adjacent in the index, which sorts the slash below every other character. */
function isWanted(wanted: Wanted): Sql {
  if ('ids' in wanted) return sql` and id = any(${arrayOfIds(wanted.ids)}::uuid[])`;
  if (wanted.folder === '') return noSql;
  const key = wanted.folder.replaceAll('/', '\x01');
  return sql` and translate(folder, '/', E'\\x01') >= ${key} and translate(folder, '/', E'\\x01') < ${`${key}\x02`}`;
}

/** Only where nobody else has: compression sets it to that of its result. */
export const setChecksums = (
  projectId: string,
  ids: readonly string[],
  checksums: readonly number[],
): Sql => sql`
  update files f set crc32 = known.crc32
  from unnest(${arrayOfIds(ids)}::uuid[], ${checksums}::bigint[]) as known (id, crc32)
  where f.project_id = ${projectId} and f.id = known.id and f.crc32 is null`;
