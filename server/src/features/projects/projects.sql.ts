// Statements on projects, with the account of each.
import { newestFirst, type PageRequest } from '../../platform/db/paging.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';

export interface ProjectRow {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly active: boolean;
  readonly rate_limit_max: number | null;
  readonly rate_limit_window: number | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export type ProjectValues = Pick<ProjectRow, 'name' | 'rate_limit_max' | 'rate_limit_window'>;

const withAccount = (projects: Sql): Sql => sql`
  with found as (${projects})
  select found.id, found.name, a.email, found.active, found.rate_limit_max, found.rate_limit_window,
    found.created_at, found.updated_at
  from found join accounts a on a.project_id = found.id
  order by found.created_at desc, found.id desc`;

export const listProjects = (after: Sql, page: PageRequest): Sql =>
  withAccount(newestFirst(sql`select * from projects where true${after}`, page));

export const findProject = (projectId: string): Sql =>
  withAccount(sql`select * from projects where id = ${projectId}`);

export const insertProject = (name: string): Sql =>
  sql`insert into projects (name) values (${name}) returning id`;

export const updateProject = (projectId: string, values: ProjectValues): Sql => sql`
  update projects set name = ${values.name}, rate_limit_max = ${values.rate_limit_max},
    rate_limit_window = ${values.rate_limit_window}, updated_at = now() where id = ${projectId}`;

export const updateProjectActive = (projectId: string, active: boolean): Sql => sql`
  update projects set active = ${active}, updated_at = now() where id = ${projectId}`;

export const deleteProject = (projectId: string): Sql => sql`delete from projects where id = ${projectId}`;
