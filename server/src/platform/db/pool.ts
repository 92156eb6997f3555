// Connections that one statement or one transaction has to itself, and with it whatever may wait for a lock. A request
// waits for a bounded time; its connection stays taken until the server has answered or the connection is given up, so
// that a server on which commits hang gets no more than a pool of them.
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { retry } from '../../kernel/async/retry.ts';
import { withTimeout } from '../../kernel/async/time-limit.ts';
import type { Logger } from '../log.ts';
import { explainOutage, isLostConnection, isUnanswered, outcomeUnknown, unanswered } from './outage.ts';
import {
  type CurrentServer,
  type DatabaseTiming,
  prepareSession,
  type Session,
  serverName,
} from './session.ts';
import type { Line, SilenceWatch } from './silence.ts';
import { Sql, sql } from './sql.ts';

/**
 * `request`: somebody waits, for a bounded time. `background`: nobody does, so it may take until the connection is
 * given up. `long`: the same, for work of minutes; only a connection that the server does not know is given up.
 */
export type Workload = 'request' | 'background' | 'long';

export interface Pool {
  query<Row>(statement: Sql, workload: Workload): Promise<Row[]>;
  transaction<Result>(work: (query: Query) => Promise<Result>, workload: Workload): Promise<Result>;
  readonly state: { readonly total: number; readonly idle: number; readonly waiting: number };
  end(): Promise<void>;
}

type Query = <Row>(statement: Sql) => Promise<Row[]>;

interface PoolDeps {
  readonly config: pg.ClientConfig;
  readonly size: number;
  readonly timing: DatabaseTiming;
  readonly silence: SilenceWatch;
  readonly server: CurrentServer;
  readonly log: Logger;
  /** Reads on another connection. */
  readonly read: (statement: Sql) => Promise<unknown[]>;
}

interface Lent {
  readonly client: pg.PoolClient;
  readonly session: Session;
  readonly line: Line;
  isNew: boolean;
}

export function openPool(deps: PoolDeps): Pool {
  const { config, size, timing, silence, server, log } = deps;
  const sessions = new WeakMap<pg.ClientBase, Lent>();
  const pool = new pg.Pool({
    ...config,
    max: size,
    idleTimeoutMillis: 60_000,
    // Whoever has it then may keep it for a while.
    maxLifetimeSeconds: (timing.ageMs * 0.8) / 1000,
    onConnect: async (connected) => {
      const client = connected as pg.PoolClient;
      const session = await prepareSession(client, limitsOf(timing), timing);
      server.reached(session);
      const line = silence.watch(client.connection.stream, { session });
      sessions.set(client, { client, session, line, isNew: true });
    },
  });
  // Without a listener, a connection that breaks while it is idle would end the process.
  pool.on('error', (error) => log.warn({ err: error }, 'a database connection was lost'));
  // The pool listens only while it has the client: without this, one that breaks in the middle of a transaction
  // would end the process as well. Whoever has it hears of it from its next statement.
  pool.on('connect', (client) => client.on('error', () => undefined));

  /** Passes over connections to a server that has been replaced. */
  const lend = async (workload: Workload): Promise<Lent> => {
    for (;;) {
      const client = await pool.connect().catch((error: unknown) => {
        throw explainOutage(error);
      });
      const lent = sessions.get(client) as Lent;
      if (!lent.isNew && !server.is(lent.session)) {
        client.release(true);
        continue;
      }
      lent.isNew = false;
      lent.line.mayBeStuckFor(workload === 'long' ? Number.POSITIVE_INFINITY : timing.abandonMs);
      return lent;
    }
  };
  const giveBackAfter = ({ client }: Lent, answer: Promise<unknown>) =>
    void answer.then(
      () => client.release(),
      (error: unknown) => client.release(isFatal(error)),
    );
  const waitMsFor = (workload: Workload) =>
    workload === 'request' ? timing.writeMs : Number.POSITIVE_INFINITY;

  const query = async <Row>(statement: Sql, workload: Workload): Promise<Row[]> => {
    // Waiting for a connection counts as well.
    const endAt = Date.now() + waitMsFor(workload);
    const lent = await lend(workload);
    const answer = send<Row>(lent, statement);
    giveBackAfter(lent, answer);
    return answerWithin(silence, endAt - Date.now(), answer);
  };

  const transaction = async <Result>(
    work: (query: Query) => Promise<Result>,
    workload: Workload,
  ): Promise<Result> => {
    const endAt = Date.now() + waitMsFor(workload);
    const lent = await lend(workload);
    const within = <Row>(statement: Sql) =>
      answerWithin(silence, endAt - Date.now(), send<Row>(lent, statement));
    let result: Result;
    let xid: string;
    try {
      xid = await begin(lent, (answer) => answerWithin(silence, endAt - Date.now(), answer));
      result = await work(within);
    } catch (error) {
      await rollBack(lent, error, silence, timing);
      throw error;
    }
    const committed = send(lent, commit);
    giveBackAfter(lent, committed);
    try {
      // However long the work may take, a commit takes no longer than any other.
      await answerWithin(silence, Math.min(Math.max(endAt - Date.now(), 0), timing.writeMs), committed);
    } catch (error) {
      if (!isUnanswered(error)) throw error;
      await confirmCommit(deps, lent.session, xid, error);
    }
    return result;
  };

  return {
    query: (statement, workload) => untangled(() => query(statement, workload)),
    transaction: (work, workload) => untangled(() => transaction(work, workload)),
    get state() {
      return { total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount };
    },
    end: () => pool.end(),
  };
}

/**
 * Nobody waits for a lock for longer than a caller does, and a transaction whose process is gone without a word does
 * not hold its locks for hours. Where the server's system allows it, the server stops work whose caller has gone.
 */
const limitsOf = ({ writeMs }: DatabaseTiming): string => `
  set lock_timeout = ${Math.ceil(writeMs * 0.75)}; set idle_in_transaction_session_timeout = '60s';
  do $$ begin set client_connection_check_interval = '5s'; exception when others then null; end $$`;

/** For the one transaction of a start that waits for other instances, however long they take. */
export const noLockTimeout: Sql = sql`
  select set_config('lock_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true)`;

const triesMax = 5;
const untangleMsMax = 20;

/**
 * Of two transactions that wait for each other, the database undoes one. All of it is undone, so it may simply be done
 * again, a moment later: at once it might take the lock before the other one has woken up, and so on.
 */
function untangled<Result>(work: () => Promise<Result>): Promise<Result> {
  let tries = 0;
  return retry(triesMax, isDeadlock, () => {
    tries += 1;
    return tries === 1 ? work() : delay(untangleMsMax * Math.random()).then(work);
  });
}

const isDeadlock = (error: unknown): boolean => error instanceof pg.DatabaseError && error.code === '40P01';

async function send<Row>({ client, line }: Lent, { text, values, name }: Sql): Promise<Row[]> {
  line.asked();
  try {
    const sent = client.query(
      name ? { text, name, values: values as unknown[] } : { text, values: values as unknown[] },
    );
    return (await sent).rows as Row[];
  } catch (error) {
    throw explainFailure(error);
  } finally {
    line.answered();
  }
}

/** What the server says is its last word; a connection that breaks says nothing of what was done. */
const explainFailure = (error: unknown): unknown =>
  error instanceof pg.DatabaseError || !isLostConnection(error) ? explainOutage(error) : unanswered(error);

/** Whether the connection is of no more use after an error. */
function isFatal(error: unknown): boolean {
  const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return !(reason instanceof pg.DatabaseError) || reason.severity !== 'ERROR';
}

/** Ends the waiting, not the statement. */
function answerWithin<Answer>(
  silence: SilenceWatch,
  milliseconds: number,
  answer: Promise<Answer>,
): Promise<Answer> {
  if (milliseconds === Number.POSITIVE_INFINITY) return answer;
  return new Promise((resolve, reject) => {
    const late = () => reject(unanswered(new Error('no answer within the time of a request')));
    const isAnswered = silence.after(milliseconds, late);
    answer.then(resolve, reject).then(isAnswered);
  });
}

/** Resolves to the transaction's id, by which its outcome can be asked for on any connection. */
async function begin(
  { client, line }: Lent,
  within: <Answer>(answer: Promise<Answer>) => Promise<Answer>,
): Promise<string> {
  line.asked();
  const sent = client
    .query('begin; select pg_current_xact_id()::text as xid')
    .catch((error: unknown) => {
      throw explainFailure(error);
    })
    .finally(() => line.answered());
  // One result for each statement, which the types of `pg` do not know.
  const results = (await within(sent)) as unknown as pg.QueryResult<{ xid: string }>[];
  return results[1]?.rows[0]?.xid ?? '';
}

const commit = new Sql('commit', [], '');
const rollback = new Sql('rollback', [], '');

/** A transaction that got no answer is ended with its connection: without a commit it comes to nothing. */
async function rollBack(
  lent: Lent,
  error: unknown,
  silence: SilenceWatch,
  { inquiryMs }: DatabaseTiming,
): Promise<void> {
  if (isUnanswered(error)) return lent.client.release(true);
  const undone = answerWithin(silence, inquiryMs, send(lent, rollback));
  await undone.then(
    () => lent.client.release(),
    () => lent.client.release(true),
  );
}

const askAgainMs = 100;

/** Resolves if the transaction has been committed although nobody said so; says otherwise what is known. */
async function confirmCommit(
  { timing, read }: PoolDeps,
  { server }: Session,
  xid: string,
  error: unknown,
): Promise<void> {
  const giveUpAt = Date.now() + timing.inquiryMs;
  while (Date.now() < giveUpAt) {
    const status = await withTimeout(giveUpAt - Date.now(), statusOf(read, server, xid), () => 'unknown');
    if (status === 'committed') return;
    // It was sent, and came to nothing: the caller may do it again.
    if (status === 'aborted') throw explainOutage(new Error('the connection was lost before the commit'));
    await delay(askAgainMs);
  }
  throw outcomeUnknown(error);
}

interface StatusRow {
  readonly status: string | null;
  readonly same_server: boolean;
}

/**
 * A server that has taken over, or has recovered from a crash, may have given the same id to another transaction. That
 * ours did not survive is certain there if the id is unknown or aborted; that it did is not.
 */
async function statusOf(
  read: PoolDeps['read'],
  server: string,
  xid: string,
): Promise<'committed' | 'aborted' | 'unknown'> {
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
