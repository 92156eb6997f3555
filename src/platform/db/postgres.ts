// The only file that knows `pg`. Writes and transactions go through a pool; single reads share a few
// pipelined connections, where they cost half as much. A transaction never runs on a pipelined connection,
// nor does anything that waits for a row lock: whatever is behind it would wait as well.
import pg from 'pg';
import { waitAtMost } from '../../kernel/patience.ts';
import { inTries } from '../../kernel/tries.ts';
import { atEndOfTurn } from '../../kernel/turn.ts';
import type { Logger } from '../log.ts';
import { explainOutage } from './outage.ts';
import { readPrepared } from './prepared-read.ts';
import { type Line, type SilenceWatch, watchForSilence } from './silence.ts';
import { Sql, sql } from './sql.ts';

export interface Queryable {
  /** Runs one statement and resolves to its rows. */
  query<Row>(statement: Sql): Promise<Row[]>;
}

export interface Transaction extends Queryable {
  readonly inTransaction: true;
}

export interface Database extends Queryable {
  /** Like `query`, for statements that only read and never wait for a lock. */
  read<Row>(statement: Sql): Promise<Row[]>;
  /** `work` is done again from the start where the database undid it to end a deadlock. */
  transaction<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result>;
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
}

pg.types.setTypeParser(pg.types.builtins.INT8, Number);
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, isoOfTimestamp);

/** PostgreSQL's own text of a timestamp, as the API prints it; no Date object for every row. */
function isoOfTimestamp(text: string): string {
  if (!text.endsWith('+00')) return new Date(text).toISOString();
  const fraction = text.slice(19, -3);
  return `${text.slice(0, 10)}T${text.slice(11, 19)}${fraction.padEnd(4, fraction ? '0' : '.000').slice(0, 4)}Z`;
}

export function openDatabase({ connection, log, poolSize = 32, readers = 4 }: DatabaseOptions): Database {
  const common = {
    ...connection,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: 'pakhus',
  };
  const pool = new pg.Pool({
    ...common,
    max: poolSize,
    idleTimeoutMillis: 60_000,
    onConnect: (client) => prepareSession(client, poolLimits),
  });
  // Without a listener, a connection that breaks while it is idle would end the process.
  pool.on('error', (error) => log.warn({ err: error }, 'a database connection was lost'));
  const silence = watchForSilence(common, log);
  const lines = new WeakMap<pg.ClientBase, Line>();
  pool.on('connect', (client) => {
    lines.set(client, silence.watch(client.connection.stream));
    // The pool listens only while it has the client: without this, one that breaks in the middle of a transaction
    // would end the process as well. Whoever has it hears of it from its next statement.
    client.on('error', () => undefined);
  });
  pool.on('acquire', (client) => lines.get(client)?.asked());
  pool.on('release', (_error, client) => lines.get(client)?.answered());
  const lanes = Array.from({ length: readers }, () => pipelinedLane(common, log, silence));
  let laneIndex = 0;
  let turnHasLane = false;
  /** Reads of one turn of the event loop share a lane, and with it one write; the next turn takes the next. */
  const laneOfTurn = (): Lane => {
    if (!turnHasLane) {
      turnHasLane = true;
      laneIndex = (laneIndex + 1) % lanes.length;
      atEndOfTurn(() => {
        turnHasLane = false;
      });
    }
    return lanes[laneIndex] as Lane;
  };

  return {
    query: (statement) => untangled(() => run(pool, statement)),
    read: <Row>(statement: Sql) => laneOfTurn().read(statement) as Promise<Row[]>,
    transaction: (work) => untangled(() => runTransaction(pool, work)),
    listen: (channel, hear) => listenOn(common, log, channel, hear),
    pool: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    async close() {
      silence.stop();
      await waitAtMost(closePatienceMs, Promise.all([pool.end(), ...lanes.map((lane) => lane.close())]));
    },
  };
}

/**
 * Times are written as they are read here, whatever the server's own habit is. Set when connected, and not asked for
 * by it: poolers between take no such wish.
 */
const prepareSession = (client: pg.ClientBase, limits: string): Promise<unknown> =>
  client.query(`set datestyle = 'ISO, YMD'; ${limits}`).catch(() => undefined);

/**
 * Nobody waits for a lock for longer than a caller does, and a transaction whose process is gone without a word does
 * not hold its locks for hours.
 */
const poolLimits = `set lock_timeout = '10s'; set idle_in_transaction_session_timeout = '60s'`;

/** For the one transaction of a start that waits for other instances, however long they take. */
export const endlessPatience: Sql = sql`
  select set_config('lock_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true)`;

/** A server that has fallen silent does not even say goodbye. */
const closePatienceMs = 3_000;

const triesMax = 5;

/**
 * Of two transactions that wait for each other, the database undoes one. All of it is undone, so it may simply
 * be done again.
 */
const untangled = <Result>(work: () => Promise<Result>): Promise<Result> =>
  inTries(triesMax, isDeadlock, work);

const isDeadlock = (error: unknown): boolean => error instanceof pg.DatabaseError && error.code === '40P01';

async function runTransaction<Result>(
  pool: pg.Pool,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  const client = await explained(() => pool.connect());
  let broken: Error | undefined;
  try {
    await run(client, begin);
    const result = await work({ inTransaction: true, query: (statement) => run(client, statement) });
    await run(client, commit);
    return result;
  } catch (error) {
    await run(client, rollback).catch((lost: Error) => {
      broken = lost;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

const begin = new Sql('begin', [], '');
const commit = new Sql('commit', [], '');
const rollback = new Sql('rollback', [], '');

interface Runner {
  query(config: { text: string; values: unknown[]; name?: string }): Promise<{ rows: unknown[] }>;
}

async function run<Row>(runner: Runner, { text, values, name }: Sql): Promise<Row[]> {
  const result = await explained(() =>
    runner.query(name ? { text, name, values: values as unknown[] } : { text, values: values as unknown[] }),
  );
  return result.rows as Row[];
}

/** Says of a lost connection that the database is away; other errors pass as they are. */
async function explained<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw explainOutage(error);
  }
}

interface Lane {
  read(statement: Sql): Promise<unknown[]>;
  close(): Promise<void>;
}

interface OpenLane {
  readonly client: pg.Client;
  readonly line: Line;
}

/** Whatever is behind a read on its lane waits for it, so none may take longer than this. */
const readPatienceMs = 30_000;

/**
 * For the server to give up when we do. One that went on waiting for an operator's lock on a table would keep its
 * connection, beside the new one that we open, until there are no more.
 */
const laneLimits = `set lock_timeout = '2s'; set statement_timeout = ${readPatienceMs}`;

/** One pipelined connection that is opened when first needed and again after it was lost. */
function pipelinedLane(options: pg.ClientConfig, log: Logger, silence: SilenceWatch): Lane {
  let opening: Promise<OpenLane> | null = null;
  let open: OpenLane | null = null;
  const forget = () => {
    opening = null;
    open = null;
  };
  const connect = async (): Promise<OpenLane> => {
    const client = new pg.Client({ ...options, pipeline: true } as pg.ClientConfig);
    const forgetThis = () => {
      if (open?.client === client) forget();
    };
    client.on('error', (error) => {
      log.warn({ err: error }, 'a database connection was lost');
      forgetThis();
    });
    client.on('end', forgetThis);
    await explained(() => client.connect());
    await prepareSession(client, laneLimits);
    open = { client, line: silence.watch(client.connection.stream, readPatienceMs) };
    return open;
  };
  const opened = (): Promise<OpenLane> => {
    if (!opening) {
      opening = connect();
      opening.catch(forget);
    }
    return opening;
  };
  return {
    // Not async: a promise more for every read would cost more than the lane itself.
    read: (statement) =>
      open
        ? readPrepared(open.client, open.line, statement)
        : opened().then(({ client, line }) => readPrepared(client, line, statement)),
    async close() {
      const last = await opening?.catch(() => null);
      await last?.client.end().catch(() => undefined);
    },
  };
}

const listenAgainMs = 1_000;

async function listenOn(
  options: pg.ClientConfig,
  log: Logger,
  channel: string,
  hear: (payload: string) => void,
): Promise<() => Promise<void>> {
  let ended = false;
  let current: pg.Client | undefined;
  /** Resolves, once it listens, to the promise that the connection has ended. */
  const connect = async (): Promise<{ lost: Promise<unknown> }> => {
    const client = new pg.Client(options);
    current = client;
    client.on('error', (error) => log.warn({ err: error }, 'the listening database connection was lost'));
    client.on('notification', ({ payload = '' }) => hear(payload));
    const lost = new Promise<void>((resolve) => client.on('end', () => resolve()));
    try {
      await client.connect();
      await client.query(`listen ${channel}`);
    } catch (error) {
      // One that is connected and may not listen, as to a standby, would stay connected for ever.
      await client.end().catch(() => undefined);
      throw error;
    }
    return { lost };
  };
  const keep = async (connection: { lost: Promise<unknown> } | null) => {
    await connection?.lost;
    while (!ended) {
      await new Promise((resolve) => setTimeout(resolve, listenAgainMs).unref());
      const next = await connect().catch(() => null);
      await next?.lost;
    }
  };
  void keep(await connect());
  return async () => {
    ended = true;
    if (current)
      await waitAtMost(
        closePatienceMs,
        current.end().catch(() => undefined),
      );
  };
}

/** The database has said no to a statement, of which nothing is done then. */
export const isRefusal = (error: unknown): boolean => error instanceof pg.DatabaseError;

/** The name of the constraint that a statement broke, or null when it failed for another reason. */
export function brokenConstraint(error: unknown): string | null {
  if (!(error instanceof pg.DatabaseError) || !error.code?.startsWith('23')) return null;
  return error.constraint ?? null;
}
