// Statements on end-users.
import type { Position } from '../../kernel/cursor.ts';
import { largestPage, newestFirst, type PageRequest } from '../../platform/db/paging.ts';
import { constantSql, noSql, type Sql, sql } from '../../platform/db/sql.ts';

export interface UserRow {
  readonly id: string;
  readonly external_id: string;
  readonly plan_id: string | null;
  readonly active: boolean;
  readonly used_bytes: number;
  readonly reserved_bytes: number;
  readonly created_at: string;
  readonly updated_at: string;
}

const columns = sql`id, external_id, plan_id, active, used_bytes, reserved_bytes, created_at, updated_at`;

export const listUsers = (projectId: string, after: Sql, page: PageRequest): Sql =>
  newestFirst(sql`select ${columns} from users where project_id = ${projectId}${after}`, page);

/** As in the index users_by_external_id. */
const searchKey = sql`lower(external_id) collate "C"`;

export interface FoundUserRow extends UserRow {
  readonly search_key: string;
}

const foundColumns = sql`${columns}, ${searchKey} as search_key`;

/** No external id is longer, so no text that begins with x sorts after x and this many of the last character. */
const lastCharacters = sql`repeat(chr(1114111), 255)`;

const startsWith = (start: string): Sql => sql` and ${searchKey} >= lower(${start}) collate "C"
  and ${searchKey} <= (lower(${start}) || ${lastCharacters}) collate "C"`;

/** The condition that continues a list ordered by external id. */
export const afterSearchKey = ([key, id]: Position): Sql =>
  sql` and (${searchKey}, id) > (${key}::text collate "C", ${id}::uuid)`;

/** Users whose external id begins with `start`, ordered by it, ignoring case. */
export const findUsers = (projectId: string, start: string, after: Sql, { limit }: PageRequest): Sql => sql`
  select * from (select ${foundColumns} from users where project_id = ${projectId}${startsWith(start)}${after}
    order by ${searchKey}, id limit ${largestPage}) found
  limit ${limit + 1}`;

/** The condition behind usagePercent in replies, with the same floating-point operations. */
const isNear = (percentMin: number): Sql => sql`
  case when storage_limit = 0 then used_bytes > 0 and ${percentMin} <= 100
    else used_bytes::float8 / storage_limit::float8 * 10000 >= ${percentMin * 100 - 0.5}::float8 end`;

/** The smallest share of the limit that is rounded up to the percentage. */
const toShare = (percentMin: number): number => (percentMin - 0.005) / 100;

/** Above this many matches, walking the ordered list fills a page sooner than sorting the matches. */
const sortedMax = constantSql(5_000);

/** Reaches that many without reading the users just below the limit. */
const fullestFirst = sql`order by u.usage_bucket desc limit ${sortedMax} + 1`;

/**
 * The ids of users at or above a percentage of their plan's limit, by one index range per plan, as countOverQuota does.
 * A range starts one bucket early, because logarithms are rounded, but leaves out users who store nothing.
 */
const nearLimit = (projectId: string, percentMin: number): Sql => sql`
  select found.id from plans p
  cross join lateral (select greatest(1, usage_bucket(
    least(p.storage_limit::float8 * ${toShare(percentMin)}::float8, 9e18)::bigint) - 1) as bucket) range
  cross join lateral (
    (select u.id from users u where u.project_id = ${projectId} and u.plan_id = p.id
      and u.usage_bucket >= range.bucket and ${isNear(percentMin)} ${fullestFirst})
    union all
    (select u.id from users u where p.is_default and u.project_id = ${projectId} and u.plan_id is null
      and u.usage_bucket >= range.bucket and ${isNear(percentMin)} ${fullestFirst})) found
  where p.project_id = ${projectId} and p.storage_limit is not null limit ${sortedMax} + 1`;

/** Users at or above a percentage of their plan's limit: newest first, or ordered by external id if `start` is given. */
export function listUsersNearLimit(
  projectId: string,
  percentMin: number,
  start: string | undefined,
  after: Sql,
  { limit }: PageRequest,
): Sql {
  const order = start === undefined ? sql`created_at desc, id desc` : sql`${searchKey}, id`;
  const rest = sql`${start === undefined ? noSql : startsWith(start)}${after}
    order by ${order} limit ${largestPage}`;
  return sql`
    with near as materialized (${nearLimit(projectId, percentMin)})
    select * from (
      (select ${foundColumns} from users where project_id = ${projectId}
        and id = any(array(select id from near)) and (select count(*) from near) <= ${sortedMax}${rest})
      union all
      (select ${foundColumns} from users where project_id = ${projectId} and (select count(*) from near) > ${sortedMax}
        and (select ${isNear(percentMin)} from plans p where p.project_id = ${projectId} and p.id = coalesce(plan_id,
          (select d.id from plans d where d.project_id = ${projectId} and d.is_default)))${rest})) either
    order by ${order} limit ${limit + 1}`;
}

/** Without a plan, the row gets the current default plan. */
export const insertUser = (projectId: string, externalId: string, planId: string | null): Sql => sql`
  insert into users (project_id, external_id, plan_id)
  values (${projectId}, ${externalId}, coalesce(${planId}::uuid,
    (select id from plans where project_id = ${projectId} and is_default)))
  returning ${columns}`;

export const lockUser = (projectId: string, userId: string): Sql => sql`
  select ${columns} from users where project_id = ${projectId} and id = ${userId} for no key update`;

export const updateUser = (projectId: string, userId: string, active: boolean): Sql => sql`
  update users set active = ${active}, updated_at = now()
  where project_id = ${projectId} and id = ${userId} returning ${columns}`;

export const updateUserPlan = (projectId: string, userId: string, planId: string): Sql => sql`
  update users set plan_id = ${planId}, updated_at = now()
  where project_id = ${projectId} and id = ${userId} returning ${columns}`;

export const deleteUser = (projectId: string, userId: string): Sql => sql`
  delete from users where project_id = ${projectId} and id = ${userId}`;
