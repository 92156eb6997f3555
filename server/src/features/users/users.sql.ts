// Statements on end-users.
import { newestFirst, type PageRequest } from '../../platform/db/paging.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';

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
