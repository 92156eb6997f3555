// Which errors mean that the database is down, and what callers see then.
import { outage, PakhusError } from '../../kernel/error.ts';

/** Turns a lost connection into an outage; other errors pass unchanged. */
export const explainOutage = (error: unknown): unknown =>
  isLostConnection(error)
    ? outage('database', 'The database is not available right now: try again in a moment', error)
    : error;

/** A read-only server, such as a standby. It may be promoted, so this is an outage like any other. */
export class TakesNoWrites extends Error {}

/** A statement was sent but not answered: the server may have executed it, or may still do so. */
class Unanswered extends Error {}

export const unanswered = (cause: unknown): PakhusError =>
  outage(
    'database',
    'The database is not available right now: try again in a moment',
    new Unanswered('a statement was not answered', { cause }),
  );

export const isUnanswered = (error: unknown): boolean =>
  error instanceof PakhusError && error.cause instanceof Unanswered;

/** For a change that may or may not have been made. `details` name what to look for. */
export const outcomeUnknown = (cause: unknown, details: Readonly<Record<string, string>> = {}): PakhusError =>
  new PakhusError(
    'STORAGE_UNAVAILABLE',
    'The database did not confirm the change in time. It may have been made: check before you send it again',
    { details: { part: 'database', outcome: 'unknown', ...details }, headers: { 'retry-after': 2 }, cause },
  );

export const isOutcomeUnknown = (error: unknown): error is PakhusError =>
  error instanceof PakhusError && error.details.outcome === 'unknown';

/**
 * Classes 08 (connection), 28 (authorization), 53 (resources) and 57 (operator intervention), a database that is read
 * only, missing or closed, as during a failover, and timeouts of locks and idle transactions.
 */
const sqlStates = /^(08|28|53|57|25006|25P03|3D000|55000|55P03)/;

const socketCodes =
  /^(ECONN|ENOENT|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|EACCES|EMFILE|EADDRNOTAVAIL)/;

export function isLostConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof TakesNoWrites) return true;
  const code = (error as { code?: unknown }).code;
  if (typeof code === 'string') return sqlStates.test(code) || socketCodes.test(code);
  return /connection|timeout|terminated|not queryable/i.test(error.message);
}

/** The database has undone one of several transactions that waited for each other. */
export const isDeadlock = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === '40P01';

/** A statement took longer than it was allowed to. */
export const isStatementTimeout = (error: unknown): boolean =>
  ((error as Error).cause as { code?: string } | undefined)?.code === '57014';

/** A statement gave up waiting for a lock. */
export const isLockTimeout = (error: unknown): boolean =>
  ((error as Error).cause as { code?: string } | undefined)?.code === '55P03';
