// Statements of kept answers.
import { type Sql, sql } from '../../platform/db/sql.ts';
import type { Authority } from './idempotency.authority.ts';

/** What names one request: its owner, method, path and key. */
export interface RequestName {
  /** The project, or the nil UUID for the admin. */
  readonly ownerId: string;
  readonly id: Buffer;
}

export interface KeptRow {
  readonly content: Buffer;
  readonly authority: Authority;
  readonly status: number;
  readonly answer: Buffer;
  readonly key_id: string;
}

export const keptHours = 24;

export const findKept = ({ ownerId, id }: RequestName): Sql => sql`
  select content, authority, status, answer, key_id from idempotency_keys
  where owner_id = ${ownerId} and id = ${id} and created_at > now() - make_interval(hours => ${keptHours}::int)`;

/** No row if there is a younger answer already. */
export const insertKept = ({ ownerId, id }: RequestName, row: KeptRow): Sql => sql`
  insert into idempotency_keys (owner_id, id, content, authority, status, answer, key_id)
  values (${ownerId}, ${id}, ${row.content}, ${JSON.stringify(row.authority)}::jsonb, ${row.status}, ${row.answer}, ${row.key_id})
  on conflict (owner_id, id) do update set content = excluded.content, authority = excluded.authority,
    status = excluded.status, answer = excluded.answer, key_id = excluded.key_id, created_at = excluded.created_at
    where idempotency_keys.created_at <= now() - make_interval(hours => ${keptHours}::int)
  returning status`;

/** Part of deleting a project. */
export const deleteAnswersOf = (projectId: string): Sql =>
  sql`delete from idempotency_keys where owner_id = ${projectId}`;

export const deleteExpiredAnswers = (rowsMax: number): Sql => sql`
  with gone as (delete from idempotency_keys where (owner_id, id) in (
    select owner_id, id from idempotency_keys where created_at <= now() - make_interval(hours => ${keptHours}::int)
    limit ${rowsMax}) returning id)
  select count(*) as rows from gone`;
