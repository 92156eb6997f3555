// The database as the rest of the service sees it. Writes and transactions go through a pool (`pool.ts`); single reads
// share a few pipelined connections (`read-connections.ts`). Only this folder knows `pg`.
import pg from 'pg';
import { withTimeout } from '../../kernel/async/time-limit.ts';
import type { Logger } from '../log.ts';
import { ConnectionWatch } from './connection-watch.ts';
import { Listening } from './listen.ts';
import { Pool, type Workload } from './pool.ts';
import { ReadConnections } from './read-connections.ts';
import { currentServer, type DatabaseTiming, defaultTiming } from './session.ts';
import { SessionLocks, type Unlock } from './session-locks.ts';
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
  /** The same for lookups that every request needs, on separate connections without long lists ahead of them. */
  readFirst<Row>(statement: Sql): Promise<Row[]>;
  /**
   * Retries `work` from the start after a deadlock. If the answer to the commit is lost, the outcome is looked up on
   * another connection; if that fails too, it throws an error that `isOutcomeUnknown`.
   */
  transaction<Result>(work: (tx: Transaction) => Promise<Result>, workload?: Workload): Promise<Result>;
  /**
   * Calls `hear` with the payload of every notification on a channel, and reconnects after an outage. Resolves to the
   * function that stops listening.
   */
  listen(channel: string, hear: (payload: string) => void): Promise<() => Promise<void>>;
  /** A lock among all processes that ends with this one, for as long as it takes. Null if somebody else has it. */
  tryLock(name: string): Promise<Unlock | null>;
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
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, toIsoTimestamp);

/** PostgreSQL's text of a timestamp in the format of the API, without a Date object per row. */
function toIsoTimestamp(text: string): string {
  if (!text.endsWith('+00')) return new Date(text).toISOString();
  const fraction = text.slice(19, -3);
  return `${text.slice(0, 10)}T${text.slice(11, 19)}${fraction.padEnd(4, fraction ? '0' : '.000').slice(0, 4)}Z`;
}

/** A silent server does not confirm the end of a connection. */
const closeTimeoutMs = 3_000;

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
  const watch = new ConnectionWatch(config, timing, server, log);
  const shared = { config, timing, watch, server, log };
  const reads = new ReadConnections(readers, shared);
  const firstReads = new ReadConnections(firstReaders, shared);
  const locks = new SessionLocks(shared);
  const listening = new Listening(shared);
  const pool = new Pool({ ...shared, size: poolSize, read: (statement) => reads.read(statement) });

  return {
    query: <Row>(statement: Sql, workload: Workload = 'request') => pool.query<Row>(statement, workload),
    read: <Row>(statement: Sql) => reads.read(statement) as Promise<Row[]>,
    readFirst: <Row>(statement: Sql) => firstReads.read(statement) as Promise<Row[]>,
    transaction: (work, workload = 'request') =>
      pool.transaction((query) => work({ inTransaction: true, query }), workload),
    listen: (channel, hear) => listening.listen(channel, hear),
    tryLock: (name) => locks.tryLock(name),
    pool: () => pool.state,
    async close() {
      await withTimeout(
        closeTimeoutMs,
        Promise.all([pool.end(), reads.close(), firstReads.close(), locks.close()]),
      );
      watch.stop();
    },
  };
}

/** The same database for background work, which has no time limit unless it asks for one. */
export const inBackground = (db: Database): Database => ({
  ...db,
  query: (statement, workload = 'background') => db.query(statement, workload),
  transaction: (work, workload = 'background') => db.transaction(work, workload),
});

/** The database rejected a statement, so nothing of it was done. */
export const isRefusal = (error: unknown): boolean => error instanceof pg.DatabaseError;

/** The name of the violated constraint, or null if the statement failed for another reason. */
export function brokenConstraint(error: unknown): string | null {
  if (!(error instanceof pg.DatabaseError) || !error.code?.startsWith('23')) return null;
  return error.constraint ?? null;
}
