// Statements that read and purge audit rows, and that keep their partitions by month. The database refuses updates.
import { newestFiltered, newestFirst, type PageRequest } from '../../platform/db/paging.ts';
import { noSql, type Sql, sql } from '../../platform/db/sql.ts';

export interface AuditRow {
  readonly id: string;
  readonly project_id: string | null;
  readonly actor_type: 'admin' | 'project' | 'integration';
  readonly actor_id: string | null;
  readonly actor_key_id: string | null;
  readonly user_id: string | null;
  readonly action: string;
  readonly resource_type: string | null;
  readonly resource_id: string | null;
  readonly ip_address: string | null;
  readonly user_agent: string | null;
  readonly metadata: Record<string, unknown>;
  readonly created_at: string;
}

export interface AuditFilter {
  readonly projectId: string | null;
  readonly action: string | undefined;
  readonly userId: string | undefined;
  readonly actorType: string | undefined;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** Rows of a deleted project have no project_id, and no project finds them. */
export const listAudit = (filter: AuditFilter, after: Sql, page: PageRequest): Sql => sql`
  with found as (${findRows(filter, after, page)})
  select found.id, p.id as project_id, actor_type, actor_id, actor_key_id, user_id, action, resource_type,
    resource_id, ip_address, user_agent, metadata, found.created_at
  from found left join projects p on p.id = found.project_id
  order by found.created_at desc, found.id desc`;

/**
 * By at most one value, there is one right index, and the plan is reused: planning for all partitions takes three times as long
 * as reading a page. By several values, the best index depends on the values.
 */
function findRows(filter: AuditFilter, after: Sql, page: PageRequest): Sql {
  const { projectId, action, userId, actorType, from, to } = filter;
  const values = [action, userId, actorType].filter((value) => value !== undefined).length;
  const equals = values <= 1 ? equalsRare : equalsAny;
  const rows = sql`
    select * from audit_logs a where true
      ${projectId === null ? noSql : sql`and ${equals(sql`project_id`, projectId)} and exists (select from projects where id = ${projectId})`}
      ${action === undefined ? noSql : sql`and ${equals(sql`action`, action)}`}
      ${userId === undefined ? noSql : sql`and ${equals(sql`user_id`, userId)}`}
      ${actorType === undefined ? noSql : sql`and ${equals(sql`actor_type`, actorType)}`}
      ${projectId === null || values === 0 ? isEver : noSql}
      ${from === undefined ? noSql : sql`and created_at >= ${from}::timestamptz`}
      ${to === undefined ? noSql : sql`and created_at <= ${to}::timestamptz`}${after}`;
  return (values <= 1 ? newestFirst : newestFiltered)(rows, page);
}

/** True for every row. Only with it does PostgreSQL use the indexes of a project without a value, and of a value without a project. */
const isEver: Sql = sql`and created_at > '-infinity'`;

const equalsAny = (column: Sql, value: string): Sql => sql`${column} = ${value}`;

/**
 * In a reused plan, PostgreSQL takes the value for an average one. If a column has few values, it would then read all rows by
 * time and skip those with another value: for a rare value, the whole log. The redundant range makes any value look rare.
 */
const equalsRare = (column: Sql, value: string): Sql =>
  sql`${column} = ${value} and ${column} between ${value} and ${value}`;

/** No row if the admin has never set it. */
export const findRetention: Sql = sql`select value from settings where key = 'audit_retention'`;

/** Allows deleting expired rows in this transaction only. */
export const allowPurge = (retentionDays: number): Sql =>
  sql`select set_config('pakhus.audit_purge_before', (${expiredBefore(retentionDays)})::text, true)`;

const expiredBefore = (retentionDays: number): Sql =>
  sql`now() - make_interval(days => ${retentionDays}::int)`;

/** The oldest expired rows, up to `rowsMax` and those that share a timestamp with the last of them. */
export const deleteExpiredAudit = (retentionDays: number, rowsMax: number): Sql => sql`
  with gone as (delete from audit_logs where created_at <= (
    select max(created_at) from (select created_at from audit_logs
      where created_at < ${expiredBefore(retentionDays)} order by created_at limit ${rowsMax}) oldest) returning id)
  select count(*) as rows from gone`;

/** The name of the partition that was dropped, or null if none has expired as a whole. */
export const dropExpiredPartition = (retentionDays: number): Sql =>
  sql`select drop_audit_partition(${expiredBefore(retentionDays)}) as name`;

/** Whether the partitions by month reach far enough, or the last one must be checked before it is closed. */
export const announceBound: Sql = sql`select announce_audit_bound() as state`;
export const checkBound: Sql = sql`select check_audit_bound()`;
export const extendPartitions: Sql = sql`select extend_audit_logs()`;
