// Keyset paging: a page begins after the last row of the page before, so that every page costs the same.
import type { Position } from '../kernel/cursor.ts';
import { constantSql, noSql, type Sql, sql } from '../platform/db/sql.ts';
import type { Deps } from './deps.ts';
import { pageMax } from './wire.ts';

interface Ordered {
  readonly id: string;
  readonly created_at: string;
}

export interface PageRequest {
  readonly limit: number;
  readonly cursor?: string;
}

/** The condition that continues a list ordered by created_at, then id, newest first. */
export function afterCursor(deps: Deps, list: string, cursor: string | undefined): Sql {
  if (cursor === undefined) return noSql;
  return afterPosition(deps.cursors.decode(list, cursor));
}

export const afterPosition = ([createdAt, id]: Position): Sql =>
  sql` and (created_at, id) < (${createdAt}::timestamptz, ${id}::uuid)`;

const largestPage = constantSql(pageMax + 1);

/**
 * One row more than the page holds, to know whether another page follows. A limit that is a parameter tells
 * PostgreSQL nothing: fearing that it is large, it plans the statement anew for every call. The inner one is known.
 */
export const newestFirst = (rows: Sql, { limit }: PageRequest): Sql => sql`
  select * from (${rows} order by created_at desc, id desc limit ${largestPage}) newest
  limit ${limit + 1}`;

/**
 * The same of what a filter leaves over: how many rows it has to look at depends on its values, and so does the best
 * plan.
 */
export const newestFiltered = (rows: Sql, { limit }: PageRequest): Sql => sql`
  ${rows} order by created_at desc, id desc limit ${limit + 1}`;

export function pageOf<Row extends Ordered>(
  deps: Deps,
  list: string,
  rows: readonly Row[],
  limit: number,
): { rows: readonly Row[]; next_cursor: string | null } {
  if (rows.length <= limit) return { rows, next_cursor: null };
  const kept = rows.slice(0, limit);
  const last = kept[limit - 1] as Row;
  return { rows: kept, next_cursor: deps.cursors.encode(list, [last.created_at, last.id]) };
}
