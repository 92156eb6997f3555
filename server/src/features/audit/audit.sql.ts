// Statements that read and purge audit rows. The database refuses updates.
import { newestFiltered, type PageRequest } from '../../platform/db/paging.ts';
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
  with found as (${newestFiltered(
    sql`
    select * from audit_logs a where true
      ${filter.projectId === null ? noSql : sql`and project_id = ${filter.projectId} and exists (select from projects where id = ${filter.projectId})`}
      ${filter.action === undefined ? noSql : sql`and action = ${filter.action}`}
      ${filter.userId === undefined ? noSql : sql`and user_id = ${filter.userId}`}
      ${filter.actorType === undefined ? noSql : sql`and actor_type = ${filter.actorType}`}
      ${filter.from === undefined ? noSql : sql`and created_at >= ${filter.from}::timestamptz`}
      ${filter.to === undefined ? noSql : sql`and created_at <= ${filter.to}::timestamptz`}${after}`,
    page,
  )})
  select found.id, p.id as project_id, actor_type, actor_id, actor_key_id, user_id, action, resource_type,
    resource_id, ip_address, user_agent, metadata, found.created_at
  from found left join projects p on p.id = found.project_id
  order by found.created_at desc, found.id desc`;

/** No row if the admin has never set it. */
export const findRetention: Sql = sql`select value from settings where key = 'audit_retention'`;

/** Allows deleting audit rows in this transaction only. */
export const allowPurge: Sql = sql`select set_config('pakhus.audit_purge', 'on', true)`;

/** By ctid, which is stable because audit rows are never updated. */
export const deleteExpiredAudit = (retentionDays: number, rowsMax: number): Sql => sql`
  delete from audit_logs where ctid = any(array(
    select ctid from audit_logs where created_at < now() - make_interval(days => ${retentionDays}::int)
    order by created_at limit ${rowsMax}))
  returning id`;
