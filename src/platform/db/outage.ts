// Which errors mean that the database is away, and what a caller is told then.
import { outage } from '../../kernel/error.ts';

/** Says of a lost connection that the database is away; other errors stay as they are. */
export const explainOutage = (error: unknown): unknown =>
  isLostConnection(error)
    ? outage('database', 'The database is not available right now: try again in a moment', error)
    : error;

/** SQLSTATE classes 08 (connection), 53 (resources) and 57P0x (shut down), and what sockets say. */
function isLostConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  if (typeof code === 'string')
    return /^(08|53|57P0|ECONN|ENOENT|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN|EACCES)/.test(code);
  return /connection|timeout|terminated|not queryable/i.test(error.message);
}
