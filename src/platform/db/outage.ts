// Which errors mean that the database is away, and what a caller is told then.
import { outage } from '../../kernel/error.ts';

/** Says of a lost connection that the database is away; other errors stay as they are. */
export const explainOutage = (error: unknown): unknown =>
  isLostConnection(error)
    ? outage('database', 'The database is not available right now: try again in a moment', error)
    : error;

/**
 * Classes 08 (connection), 28 (not let in), 53 (resources) and 57 (stopped), a database that is read only, not
 * there or closed, as happens while another server takes over, and a wait for a lock, or within a transaction, that
 * has lasted too long.
 */
const sqlStates = /^(08|28|53|57|25006|25P03|3D000|55000|55P03)/;

const socketCodes =
  /^(ECONN|ENOENT|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|EACCES|EMFILE|EADDRNOTAVAIL)/;

function isLostConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  if (typeof code === 'string') return sqlStates.test(code) || socketCodes.test(code);
  return /connection|timeout|terminated|not queryable/i.test(error.message);
}
