// Finds out whether a transaction was committed if the answer to its commit was lost.
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { withTimeout } from '../../kernel/async/time-limit.ts';
import { explainOutage, outcomeUnknown } from './outage.ts';
import { type Session, serverName } from './session.ts';
import { Sql, sql } from './sql.ts';

type Read = (statement: Sql) => Promise<unknown[]>;
type Outcome = 'committed' | 'aborted' | 'unknown';

const askAgainMs = 100;

/** Resolves if the transaction was committed although the answer was lost; otherwise throws what is known. */
export async function confirmCommit(
  read: Read,
  { server }: Session,
  xid: string,
  timeoutMs: number,
  error: unknown,
): Promise<void> {
  const giveUpAt = Date.now() + timeoutMs;
  while (Date.now() < giveUpAt) {
    const asked = findOutcome(read, server, xid);
    const outcome = await withTimeout(giveUpAt - Date.now(), asked, () => 'unknown' as const);
    if (outcome === 'committed') return;
    // The commit never took effect: the caller may repeat the work.
    if (outcome === 'aborted') throw explainOutage(new Error('the connection was lost before the commit'));
    await delay(askAgainMs);
  }
  throw outcomeUnknown(error);
}

interface StatusRow {
  readonly status: string | null;
  readonly same_server: boolean;
}

/**
 * A server that has taken over, or has recovered from a crash, may have given the same id to another transaction. If
 * the id is unknown or aborted there, ours did not survive; if it is committed there, we cannot tell.
 */
async function findOutcome(read: Read, server: string, xid: string): Promise<Outcome> {
  try {
    const [row] = (await read(findStatus(server, xid))) as StatusRow[];
    if (row?.status === 'committed') return row.same_server ? 'committed' : 'unknown';
    return row?.status === 'aborted' ? 'aborted' : 'unknown';
  } catch (error) {
    return isFutureId(error) ? 'aborted' : 'unknown';
  }
}

const nameOfServer = new Sql(serverName, [], 'serverName');

const findStatus = (server: string, xid: string): Sql => sql`
  select pg_xact_status(${xid}::xid8) as status, ${nameOfServer} = ${server} as same_server`;

const isFutureId = (error: unknown): boolean => error instanceof pg.DatabaseError && error.code === '22023';
