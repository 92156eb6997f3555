// Keyset paging: a page starts after the last row of the previous one, so that every page costs the same.
import type { CursorCodec, Position } from '../../kernel/cursor.ts';
import { constantSql, noSql, type Sql, sql } from './sql.ts';

/** Rows on the largest page. */
export const pageMax = 100;

interface Ordered {
  readonly id: string;
  readonly created_at: string;
}

interface Codec {
  readonly cursors: CursorCodec;
}

export interface PageRequest {
  readonly limit: number;
  readonly cursor?: string;
}

/** The condition that continues a list ordered by created_at, then id, newest first. */
export function afterCursor({ cursors }: Codec, list: string, cursor: string | undefined): Sql {
  if (cursor === undefined) return noSql;
  return afterPosition(cursors.decode(list, cursor));
}

export const afterPosition = ([createdAt, id]: Position): Sql =>
  sql` and (created_at, id) < (${createdAt}::timestamptz, ${id}::uuid)`;

/** What the inner limit of a list is, and why: see newestFirst. */
export const largestPage = constantSql(pageMax + 1);

/**
 * Reads one row more than the page holds, to see whether another page follows. The inner limit is a constant because
 * PostgreSQL cannot estimate one that is a parameter, and then plans the statement again on every call.
 */
export const newestFirst = (rows: Sql, { limit }: PageRequest): Sql => sql`
  select * from (${rows} order by created_at desc, id desc limit ${largestPage}) newest
  limit ${limit + 1}`;

/** For filtered lists: the best plan depends on the values of the filter, so planning each call is right. */
export const newestFiltered = (rows: Sql, { limit }: PageRequest): Sql => sql`
  ${rows} order by created_at desc, id desc limit ${limit + 1}`;

export function toPage<Row extends Ordered>(
  { cursors }: Codec,
  list: string,
  rows: readonly Row[],
  limit: number,
): { rows: readonly Row[]; next_cursor: string | null } {
  if (rows.length <= limit) return { rows, next_cursor: null };
  const kept = rows.slice(0, limit);
  const last = kept[limit - 1] as Row;
  return { rows: kept, next_cursor: cursors.encode(list, [last.created_at, last.id]) };
}
