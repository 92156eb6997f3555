// Statements on files in the trash, and on those that are on their way there. `restore_files` and `purge_files` are functions of the database, in db/functions.
import type { AuditStamp } from '../../contract/audit.ts';
import type { SpaceFilter } from '../../contract/file.ts';
import { inSpace } from '../../contract/file-conditions.ts';
import { newestFirst, type PageRequest } from '../../platform/db/paging.ts';
import { arrayOfIds, constantSql, noSql, type Sql, sql } from '../../platform/db/sql.ts';
import type { Zone } from '../../platform/objects/object-store.ts';
import { type FilePosition, type FileScope, toStamp } from './files.sql.ts';

/** Deletes files from the trash, for good. */
export const purgeFiles = (
  { projectId, userId, spaceId }: FileScope,
  fileIds: readonly string[],
  audit: AuditStamp,
): Sql => sql`
  select id, zone from purge_files(${projectId}, ${userId}, ${spaceId}, ${arrayOfIds(fileIds)}::uuid[],
    ${JSON.stringify(toStamp(audit))}::jsonb)`;

export interface RestoredRow {
  readonly id: string;
  /** The file as JSON, as the API shows it. */
  readonly shown: string;
  /** Its image job, if that has not ended. */
  readonly waiting_job: string | null;
}

export const restoreFiles = (
  { projectId, userId, spaceId }: FileScope,
  fileIds: readonly string[],
  audit: AuditStamp,
): Sql => sql`
  select id, shown, waiting_job from restore_files(${projectId}, ${userId}, ${spaceId}, ${arrayOfIds(fileIds)}::uuid[],
    ${JSON.stringify(toStamp(audit))}::jsonb)`;

export const lockTrashed = (
  { projectId, userId, spaceId }: FileScope,
  fileIds: readonly string[],
): Sql => sql`
  select id, space_id, size, mime_type from trashed_files
  where project_id = ${projectId} and user_id = ${userId} and id = any(${arrayOfIds(fileIds)}::uuid[])
    ${spaceId === null ? noSql : sql`and space_id = ${spaceId}`} order by id for update`;

export interface TrashedViewRow {
  readonly id: string;
  /** When it was trashed: what the list is ordered by. */
  readonly created_at: string;
  readonly shown: string;
}

const jobOf = sql`case when starts_with(mime_type, 'image/') then (
  select job_json(j.id, j.file_id, j.status, j.original_size, j.compressed_size, j.format, j.width, j.height, j.error)
  from compression_jobs j where j.project_id = trashed.project_id and j.file_id = trashed.id) end`;

/** Trashed last, shown first. */
export function listTrashed(
  projectId: string,
  userId: string,
  space: SpaceFilter,
  after: Sql,
  page: PageRequest,
): Sql {
  const found = sql`select * from (
    select id, project_id, user_id, space_id, mime_type, view, trashed_at as created_at from trashed_files) newest
    where project_id = ${projectId} and user_id = ${userId}${inSpace(space)}${after}`;
  return sql`
    select id, created_at, view || coalesce(${jobOf}, 'null') || ',"trashed_at":"' || to_iso(created_at)
      || '","purge_at":"' || to_iso(created_at + make_interval(days => (
        select p.trash_days::int from projects p where p.id = ${projectId}))) || '"}' as shown
    from (${newestFirst(found, page)}) trashed`;
}

const chunk = constantSql(250);

/** As the statements that lock chunks of live files. */
export const lockTrashOfUser = (projectId: string, userId: string, after: FilePosition): Sql => sql`
  select id, trashed_at as created_at from trashed_files where project_id = ${projectId} and user_id = ${userId}
    and (trashed_at, id) > (${after.created_at}::timestamptz, ${after.id}::uuid)
  order by trashed_at, id limit ${chunk} for update`;

export const lockTrashOfProject = (projectId: string, after: FilePosition): Sql => sql`
  select id, trashed_at as created_at from trashed_files where project_id = ${projectId} and id > ${after.id}
  order by id limit ${chunk} for update`;

export const deleteTrashed = (projectId: string, fileIds: readonly string[]): Sql => sql`
  delete from trashed_files where project_id = ${projectId} and id = any(${arrayOfIds(fileIds)}::uuid[])`;

/** The stored JSON has the space as well. */
export const moveTrashToOwner = (projectId: string, spaceId: string): Sql => sql`
  update trashed_files set space_id = null,
    view = replace(view, '"space_id":"' || space_id || '"', '"space_id":null')
  where project_id = ${projectId} and space_id = ${spaceId}`;

/** A file that a job is to remove. */
export interface DueRow {
  readonly project_id: string;
  readonly user_id: string;
  readonly id: string;
}

/** Files whose time has come, unless they are held, of all projects. */
export const listExpired = (rowsMax: number): Sql => sql`
  select project_id, user_id, id from files
  where expires_at is not null and greatest(expires_at, retain_until) <= now()
  order by greatest(expires_at, retain_until) limit ${rowsMax}`;

/** What its project keeps no longer, of all projects. */
export const listDueTrash = (rowsMax: number): Sql => sql`
  select t.project_id, t.user_id, t.id from projects p
  cross join lateral (
    select project_id, user_id, id from trashed_files
    where project_id = p.id and trashed_at <= now() - make_interval(days => p.trash_days::int)
    order by trashed_at limit ${rowsMax}) t
  limit ${rowsMax}`;

/** Trashed files whose object is still in the public zone, of all projects. */
export const listExposedTrash = (after: string, rowsMax: number): Sql => sql`
  select id, project_id from trashed_files where zone = 'public' and id > ${after} order by id limit ${rowsMax}`;

export const lockExposedTrash = (projectId: string, fileId: string): Sql => sql`
  select (select j.status from compression_jobs j where j.project_id = t.project_id and j.file_id = t.id) = 'done' as compressed
  from trashed_files t where t.project_id = ${projectId} and t.id = ${fileId} and t.zone = 'public' for no key update`;

export const setZoneOfTrashed = (projectId: string, fileId: string, zone: Zone): Sql => sql`
  update trashed_files set zone = ${zone} where project_id = ${projectId} and id = ${fileId}`;
