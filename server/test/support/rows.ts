// Rows made directly in the database, for tests of statements and functions.
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Sql } from '../../src/platform/db/sql.ts';

export function createRows(client: () => pg.Client) {
  const idOf = async (statement: string, values: unknown[]): Promise<string> =>
    (await client().query(`${statement} returning id`, values)).rows[0].id;
  return {
    run: async ({ text, values }: Sql) => (await client().query(text, [...values])).rows,
    newProject: () => idOf('insert into projects (name) values ($1)', ['p']),
    newPlan: (project: string, limit: number) =>
      idOf('insert into plans (project_id, name, storage_limit, max_file_size) values ($1, $2, $3, 1000)', [
        project,
        randomUUID(),
        limit,
      ]),
    newUser: (project: string, plan: string | null = null, active = true) =>
      idOf('insert into users (project_id, external_id, plan_id, active) values ($1, $2, $3, $4)', [
        project,
        randomUUID(),
        plan,
        active,
      ]),
    newSpace: (project: string, user: string, limit: number | null = null, active = true) =>
      idOf(
        'insert into spaces (project_id, user_id, external_id, name, limit_bytes, active) values ($1, $2, $3, $3, $4, $5)',
        [project, user, randomUUID(), limit, active],
      ),
  };
}
