// Sets up every new connection, and finds out which server and server process it has reached and that it accepts writes.
import type pg from 'pg';
import { withTimeout } from '../../kernel/async/time-limit.ts';
import { TakesNoWrites } from './outage.ts';

/** In milliseconds. Together they keep every request below 15 s, however the database fails. */
export interface DatabaseTiming {
  /** For opening a connection, or for getting one from the pool. */
  readonly connectMs: number;
  /** For a read on a shared connection. */
  readonly readMs: number;
  /** For a statement or a whole transaction of a request. */
  readonly writeMs: number;
  /** For finding out whether an unconfirmed change was made. */
  readonly inquiryMs: number;
  /** After this much silence we ask the server whether it still knows the connection. */
  readonly suspiciousMs: number;
  /** After this much silence new reads go to another connection. */
  readonly slowMs: number;
  /** A connection that has been stuck for this long is closed, though the server still knows it. */
  readonly abandonMs: number;
  /** The maximum age of a connection. */
  readonly ageMs: number;
  /** How often all of these are checked. */
  readonly checkMs: number;
}

export const defaultTiming: DatabaseTiming = {
  connectMs: 4_000,
  readMs: 8_000,
  writeMs: 8_000,
  inquiryMs: 2_500,
  suspiciousMs: 3_000,
  slowMs: 1_000,
  abandonMs: 60_000,
  ageMs: 60_000,
  checkMs: 500,
};

/** One process of one server. */
export interface Session {
  readonly pid: number;
  /** When the process started: pids are reused. */
  readonly startedAt: string;
  /** Differs between servers, and between two runs of one server. */
  readonly server: string;
}

/**
 * Names one run of one server, within which nothing committed is ever undone. A server that recovers from a crash keeps
 * its start time but resets its statistics.
 */
export const serverName = `extract(epoch from pg_postmaster_start_time())::text
  || ' ' || coalesce(extract(epoch from pg_stat_get_bgwriter_stat_reset_time())::text, '')`;

const describeSession = `select pid, extract(epoch from backend_start)::text as started_at, ${serverName} as server,
  current_setting('transaction_read_only') = 'on' as read_only, pg_is_in_recovery() as standby from pg_stat_get_activity(pg_backend_pid())`;

interface DescribedSession {
  readonly pid: number;
  readonly started_at: string;
  readonly server: string;
  readonly read_only: boolean;
  readonly standby: boolean;
}

/**
 * Sets the date style that our parsers expect. Settings are sent after connecting, because poolers do not accept them as
 * connection parameters.
 */
export async function prepareSession(
  client: pg.ClientBase,
  settings: string,
  { connectMs }: DatabaseTiming,
): Promise<Session> {
  const text = `set datestyle = 'ISO, YMD'; ${settings}; ${describeSession}`;
  // One result per statement, which the types of `pg` do not know.
  const results = (await withTimeout(
    connectMs,
    client.query(text),
    refuseSilence,
  )) as unknown as pg.QueryResult[];
  const described = results.at(-1)?.rows[0] as DescribedSession | undefined;
  if (!described) throw new Error('the connection has no session on the server');
  if (described.standby)
    throw new TakesNoWrites('the server is a standby, which takes no writes: connect to the primary');
  if (described.read_only)
    throw new TakesNoWrites('the server takes no writes: default_transaction_read_only is on');
  return { pid: described.pid, startedAt: described.started_at, server: described.server };
}

function refuseSilence(): never {
  throw new Error('timeout of a new connection: the server does not answer');
}

/** The server that new connections reach. Connections to any other are no longer used. */
export interface CurrentServer {
  /** A new connection has reached this server. */
  reached(session: Session): void;
  is(session: Session): boolean;
}

export function currentServer(): CurrentServer {
  let name: string | null = null;
  return {
    reached: ({ server }) => {
      name = server;
    },
    is: ({ server }) => name === server,
  };
}
