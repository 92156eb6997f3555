// What an export of the database takes of the queue: its tables, made by pg-boss's own statements, its queues, and the
// jobs that are still to be done. Those that have ended are left behind.
import PgBoss from 'pg-boss';
import type { ForeignTables } from '../db/export.ts';
import { sql } from '../db/sql.ts';

export const queueTables: ForeignTables = {
  async schema(db) {
    const [found] = await db.query(sql`select where to_regclass('pgboss.queue') is not null`);
    if (!found) return null;
    const queues = await db.query<{ statement: string }>(sql`
      select format('select pgboss.create_queue(%L, %L);', name, json_build_object('policy', policy,
        'retryLimit', retry_limit, 'retryDelay', retry_delay, 'retryBackoff', retry_backoff,
        'expireInSeconds', expire_seconds, 'retentionMinutes', retention_minutes)) as statement
      from pgboss.queue order by name`);
    return [constructionPlan(), ...queues.map(({ statement }) => statement)].join('\n');
  },
  tables: [{ name: 'pgboss.job', where: `state < 'completed'` }],
};

/** pg-boss writes a transaction of its own, and ours would end with it. */
function constructionPlan(): string {
  const [, statements] = /^\s*BEGIN;(.*)COMMIT;?\s*$/s.exec(PgBoss.getConstructionPlans('pgboss')) ?? [];
  if (statements === undefined) throw new Error('pg-boss makes its tables in an unknown way');
  return statements;
}
