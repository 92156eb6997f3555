// Statements that read and purge audit rows, and that keep their partitions by month. The database refuses updates.
import type { Position } from '../../kernel/cursor.ts';
import { afterPosition, newestFiltered, type PageRequest } from '../../platform/db/paging.ts';
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
export const listAudit = (filter: AuditFilter, after: Position | null, page: PageRequest): Sql => sql`
  with found as (${hasIndex(filter) ? pageByIndex(filter, after, page) : pageBySearch(filter, after, page)})
  select found.id, p.id as project_id, actor_type, actor_id, actor_key_id, user_id, action, resource_type,
    resource_id, ip_address, user_agent, metadata, found.created_at
  from found left join projects p on p.id = found.project_id
  order by found.created_at desc, found.id desc`;

/** Whether an index has the order of this list, so that a page costs the same however rare the values are. */
const hasIndex = ({ action, userId, actorType }: AuditFilter): boolean =>
  actorType === undefined || (action === undefined && userId === undefined);

const first: Position = ['infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff'];

function pageByIndex(filter: AuditFilter, after: Position | null, { limit }: PageRequest): Sql {
  const { projectId, action, userId, actorType, from, to } = filter;
  const [beforeTime, beforeId] = after ?? first;
  const args = sql`${projectId}::uuid, ${userId ?? null}::uuid, ${action ?? null}::text, ${actorType ?? null}::text,
      ${from ?? '-infinity'}::timestamptz, ${to ?? 'infinity'}::timestamptz,
      ${beforeTime}::timestamptz, ${beforeId}::uuid, ${limit + 1}::int`;
  return projectId === null
    ? sql`select * from audit_page(${args})`
    : sql`select * from audit_page(${args}) where exists (select from projects where id = ${projectId})`;
}

/** By a kind of actor and more. The best index depends on which of the values is rare, so planning each call is right. */
function pageBySearch(filter: AuditFilter, after: Position | null, page: PageRequest): Sql {
  const { projectId, action, userId, actorType, from, to } = filter;
  return newestFiltered(
    sql`select * from audit_logs a where actor_type = ${actorType}
      ${projectId === null ? isEver : sql`and project_id = ${projectId} and exists (select from projects where id = ${projectId})`}
      ${action === undefined ? noSql : sql`and action = ${action}`}
      ${userId === undefined ? noSql : sql`and user_id = ${userId}`}
      ${from === undefined ? noSql : sql`and created_at >= ${from}::timestamptz`}
      ${to === undefined ? noSql : sql`and created_at <= ${to}::timestamptz`}
      ${after === null ? noSql : afterPosition(after)}`,
    page,
  );
}

/** True for every row. Only with it does PostgreSQL use the indexes of all projects by a value: see migration 0004. */
const isEver: Sql = sql`and created_at > '-infinity'`;

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
