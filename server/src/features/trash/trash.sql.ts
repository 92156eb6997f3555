// Statements on the trash of a project, and on what a file that comes back must fit.
import { arrayOfIds, type Sql, sql } from '../../platform/db/sql.ts';

export const findTrashDays = (projectId: string): Sql => sql`
  select trash_days::int as trash_days from projects where id = ${projectId}`;

export const updateTrashDays = (projectId: string, days: number): Sql => sql`
  update projects set trash_days = ${days}, updated_at = now() where id = ${projectId}`;

/** The limits that a restored file must fit. */
export interface LimitsRow {
  readonly active: boolean;
  readonly taken_bytes: number;
  readonly file_count: number;
  readonly storage_limit: number | null;
  readonly max_file_size: number | null;
  readonly max_files: number;
  readonly allowed_mimes: readonly string[] | null;
}

/** Run after the user is locked. What is in the trash is part of what is taken. */
export const findLimits = (projectId: string, userId: string): Sql => sql`
  select u.active, u.used_bytes + u.reserved_bytes as taken_bytes, u.file_count, p.storage_limit, p.max_file_size,
    files_allowed(p.max_files) as max_files, p.allowed_mimes
  from users u
  left join plans p on p.project_id = u.project_id and p.id = coalesce(u.plan_id,
    (select d.id from plans d where d.project_id = ${projectId} and d.is_default))
  where u.project_id = ${projectId} and u.id = ${userId}`;

/** A space that takes no files now: it is inactive, or over its limit. */
export interface ClosedSpaceRow {
  readonly active: boolean;
}

export const findClosedSpace = (projectId: string, spaceIds: readonly string[]): Sql => sql`
  select active from spaces where project_id = ${projectId} and id = any(${arrayOfIds(spaceIds)}::uuid[])
    and (not active or used_bytes + reserved_bytes > limit_bytes) order by active limit 1`;
