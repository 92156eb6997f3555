// The database as everybody else sees it. Writes and transactions go through a pool (`pool.ts`); single reads share a
// few pipelined connections (`lanes.ts`). Only this folder knows `pg`.
import pg from 'pg';
import { withTimeout } from '../../kernel/async/time-limit.ts';
import type { Logger } from '../log.ts';
import { openLanes } from './lanes.ts';
import { listenOn } from './listen.ts';
import { openPool, type Workload } from './pool.ts';
import { currentServer, type DatabaseTiming, defaultTiming } from './session.ts';
import { watchForSilence } from './silence.ts';
import type { Sql } from './sql.ts';

export interface Queryable {
  /** Runs one statement and resolves to its rows. */
  query<Row>(statement: Sql): Promise<Row[]>;
}

export interface Transaction extends Queryable {
  readonly inTransaction: true;
}

export interface Database extends Queryable {
  query<Row>(statement: Sql, workload?: Workload): Promise<Row[]>;
  /** Like `query`, for statements that only read and never wait for a lock. */
  read<Row>(statement: Sql): Promise<Row[]>;
  /** The same for look-ups that every request needs: on connections of their own, where no long list is in front of them. */
  readFirst<Row>(statement: Sql): Promise<Row[]>;
  /**
   * `work` is done again from the start where the database undid it to end a deadlock. Where the answer to the commit
   * is lost, the outcome is asked for on another connection; `isOutcomeUnknown` if that fails as well.
   */
  transaction<Result>(work: (tx: Transaction) => Promise<Result>, workload?: Workload): Promise<Result>;
  /**
   * Calls `hear` with the payload of every notification on a channel, for as long as the database is there, and
   * again when it is back. Resolves to the function that ends it.
   */
  listen(channel: string, hear: (payload: string) => void): Promise<() => Promise<void>>;
  /** How busy the pool is. */
  pool(): PoolState;
  close(): Promise<void>;
}

export interface PoolState {
  readonly total: number;
  readonly idle: number;
  /** Statements that wait for a connection. */
  readonly waiting: number;
}

export type Connection =
  | { readonly connectionString: string }
  | {
      readonly host: string;
      readonly port: number;
      readonly user: string;
      readonly database: string;
      readonly password?: string;
    };

export interface DatabaseOptions {
  readonly connection: Connection;
  readonly log: Logger;
  readonly poolSize?: number;
  readonly readers?: number;
  readonly firstReaders?: number;
  /** Instead of the defaults. */
  readonly timing?: Partial<DatabaseTiming> | undefined;
}

pg.types.setTypeParser(pg.types.builtins.INT8, Number);
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, isoOfTimestamp);

/** PostgreSQL's own text of a timestamp, as the API prints it; no Date object for every row. */
function isoOfTimestamp(text: string): string {
  if (!text.endsWith('+00')) return new Date(text).toISOString();
  const fraction = text.slice(19, -3);
  return `${text.slice(0, 10)}T${text.slice(11, 19)}${fraction.padEnd(4, fraction ? '0' : '.000').slice(0, 4)}Z`;
}

/** A server that has fallen silent does not even say goodbye. */
const closePatienceMs = 3_000;

export function openDatabase(options: DatabaseOptions): Database {
  const { connection, log, poolSize = 32, readers = 4, firstReaders = 1 } = options;
  const timing = { ...defaultTiming, ...options.timing };
  const config: pg.ClientConfig = {
    ...connection,
    connectionTimeoutMillis: timing.connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: 'pakhus',
  };
  const server = currentServer();
  const silence = watchForSilence(config, timing, server, log);
  const shared = { config, timing, silence, server, log };
  const lanes = openLanes(readers, shared);
  const firstLanes = openLanes(firstReaders, shared);
  const pool = openPool({ ...shared, size: poolSize, read: lanes.read });

  return {
    query: <Row>(statement: Sql, workload: Workload = 'request') => pool.query<Row>(statement, workload),
    read: <Row>(statement: Sql) => lanes.read(statement) as Promise<Row[]>,
    readFirst: <Row>(statement: Sql) => firstLanes.read(statement) as Promise<Row[]>,
    transaction: (work, workload = 'request') =>
      pool.transaction((query) => work({ inTransaction: true, query }), workload),
    listen: (channel, hear) => listenOn(shared, channel, hear),
    pool: () => pool.state,
    async close() {
      await withTimeout(closePatienceMs, Promise.all([pool.end(), lanes.close(), firstLanes.close()]));
      silence.stop();
    },
  };
}

/** The same database for work that nobody waits for: it takes the time that it takes, unless it says otherwise. */
export const inBackground = (db: Database): Database => ({
  ...db,
  query: (statement, workload = 'background') => db.query(statement, workload),
  transaction: (work, workload = 'background') => db.transaction(work, workload),
});

/** The database has said no to a statement, of which nothing is done then. */
export const isRefusal = (error: unknown): boolean => error instanceof pg.DatabaseError;

/** The name of the constraint that a statement broke, or null when it failed for another reason. */
export function brokenConstraint(error: unknown): string | null {
  if (!(error instanceof pg.DatabaseError) || !error.code?.startsWith('23')) return null;
  return error.constraint ?? null;
}
