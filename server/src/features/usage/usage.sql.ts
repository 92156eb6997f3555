// Statements on the usage of users by day. Database functions keep it (keep_usage) and read it (usage_page).
import { type Sql, sql } from '../../platform/db/sql.ts';

export interface UsageRange {
  /** UTC dates, both included. */
  readonly from: string;
  readonly to: string;
  /** Begins after this user of the first day. */
  readonly afterUser: string | null;
  /** Only this user. */
  readonly userId: string | null;
}

export interface UsagePageRow {
  /** JSON objects with commas between them, or lines of CSV. */
  readonly rows: string;
  /** Where the next page begins; null after the last one. */
  readonly next_day: string | null;
  readonly next_user: string | null;
}

export const readUsagePage = (
  projectId: string,
  { from, to, afterUser, userId }: UsageRange,
  format: 'json' | 'csv',
  rowsMax: number,
): Sql => sql`
  select rows_text as rows, to_char(next_day, 'YYYY-MM-DD') as next_day, next_user
  from usage_page(${projectId}::uuid, ${from}::date, ${to}::date, ${afterUser}::uuid, ${userId}::uuid, ${rowsMax}::int,
    ${format === 'csv'}::boolean)`;

export const deleteOldUsage = (before: string, rowsMax: number): Sql => sql`
  delete from usage_days where ctid = any(array(
    select ctid from usage_days where until < ${before}::date limit ${rowsMax})) returning until`;

export const deleteOldDownloads = (before: string, rowsMax: number): Sql => sql`
  delete from usage_downloads where ctid = any(array(
    select ctid from usage_downloads where date < ${before}::date limit ${rowsMax})) returning date`;
