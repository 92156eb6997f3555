// Which files are there for their readers. In SQL, because every statement that finds files asks for it.
import { type Sql, sql } from '../platform/db/sql.ts';

/** From the moment on at which a file expires, unless it is held, nobody sees it any more; a job removes it soon after. */
export const isUnexpired = (files = sql`files`): Sql =>
  sql`(${files}.expires_at is null or greatest(${files}.expires_at, ${files}.retain_until) > now())`;
