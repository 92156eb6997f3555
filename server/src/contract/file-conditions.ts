// Conditions on files that the statements of several features share.
import { noSql, type Sql, sql } from '../platform/db/sql.ts';
import type { SpaceFilter } from './file.ts';

/** Nobody sees a file once it has expired, unless it is held; a job removes it soon after. */
export const isUnexpired = (files = sql`files`): Sql =>
  sql`(${files}.expires_at is null or greatest(${files}.expires_at, ${files}.retain_until) > now())`;

export function inSpace(space: SpaceFilter): Sql {
  if (space === 'all') return noSql;
  return space === 'none' ? sql` and space_id is null` : sql` and space_id = ${space.spaceId}`;
}
