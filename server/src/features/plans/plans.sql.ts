// Statements on plans. Changes take the lock on the project's row first.
import { newestFirst, type PageRequest } from '../../platform/db/paging.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';

export interface PlanRow {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly storage_limit: number | null;
  readonly max_file_size: number;
  readonly allowed_mimes: string[];
  readonly max_files: number | null;
  readonly max_spaces: number | null;
  readonly is_default: boolean;
  readonly created_at: string;
  readonly updated_at: string;
}

export type PlanValues = Pick<
  PlanRow,
  'name' | 'description' | 'storage_limit' | 'max_file_size' | 'allowed_mimes' | 'max_files' | 'max_spaces'
>;

const columns = sql`id, name, description, storage_limit, max_file_size, allowed_mimes, max_files, max_spaces, is_default,
  created_at, updated_at`;

export const listPlans = (projectId: string, after: Sql, page: PageRequest): Sql =>
  newestFirst(sql`select ${columns} from plans where project_id = ${projectId}${after}`, page);

export const findPlan = (projectId: string, planId: string): Sql => sql`
  select ${columns} from plans where project_id = ${projectId} and id = ${planId}`;

/** The given plans, and always the default one. */
export const listPlansInForce = (projectId: string, planIds: readonly string[]): Sql => sql`
  select ${columns} from plans where project_id = ${projectId} and (id = any(${planIds}::uuid[]) or is_default)`;

/** The user's own plan, or else the project's default. */
export const findPlanInForce = (projectId: string, userId: string): Sql => sql`
  select coalesce(u.plan_id, (select id from plans where project_id = ${projectId} and is_default)) as plan_id
  from users u where u.project_id = ${projectId} and u.id = ${userId}`;

export const insertPlan = (projectId: string, plan: PlanValues): Sql => sql`
  insert into plans (project_id, name, description, storage_limit, max_file_size, allowed_mimes, max_files, max_spaces,
    is_default)
  values (${projectId}, ${plan.name}, ${plan.description}, ${plan.storage_limit}, ${plan.max_file_size},
    ${plan.allowed_mimes}, ${plan.max_files}, ${plan.max_spaces}, not exists (select from plans where project_id = ${projectId}))
  returning ${columns}`;

export const updatePlan = (projectId: string, planId: string, plan: PlanValues): Sql => sql`
  update plans set name = ${plan.name}, description = ${plan.description}, storage_limit = ${plan.storage_limit},
    max_file_size = ${plan.max_file_size}, allowed_mimes = ${plan.allowed_mimes}, max_files = ${plan.max_files},
    max_spaces = ${plan.max_spaces}, updated_at = now()
  where project_id = ${projectId} and id = ${planId} returning ${columns}`;

export const deletePlan = (projectId: string, planId: string): Sql => sql`
  delete from plans where project_id = ${projectId} and id = ${planId} returning ${columns}`;

/** A user without a plan, which therefore has the default one. */
export const findFollower = (projectId: string): Sql => sql`
  select from users where project_id = ${projectId} and plan_id is null limit 1`;

/** A separate step before `markDefault`: the unique index is checked row by row. */
export const unmarkDefault = (projectId: string): Sql => sql`
  update plans set is_default = false, updated_at = now() where project_id = ${projectId} and is_default
  returning id`;

export const markDefault = (projectId: string, planId: string): Sql => sql`
  update plans set is_default = true, updated_at = now()
  where project_id = ${projectId} and id = ${planId} returning ${columns}`;

export const markOldestDefault = (projectId: string): Sql => sql`
  update plans set is_default = true, updated_at = now()
  where id = (select id from plans where project_id = ${projectId} order by created_at, id limit 1)
    and project_id = ${projectId}
    and not exists (select from plans where project_id = ${projectId} and is_default)`;
