// Connections for one statement or transaction at a time, including those that may wait for a lock. A request waits
// for a bounded time. Its connection stays taken until the server has answered or the connection is given up, so a
// server on which commits hang never gets more than one pool of them.
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { retry } from '../../kernel/async/retry.ts';
import type { Logger } from '../log.ts';
import { confirmCommit } from './commit-outcome.ts';
import type { ConnectionWatch, WatchedConnection } from './connection-watch.ts';
import { explainOutage, isDeadlock, isLostConnection, isUnanswered, unanswered } from './outage.ts';
import { type CurrentServer, type DatabaseTiming, prepareSession, type Session } from './session.ts';
import { Sql, sql } from './sql.ts';

/**
 * `request`: a caller waits, for a bounded time. `background`: nobody waits, so it may take until the connection is
 * given up. `long`: work of minutes; the connection is given up only if the server does not know it any more.
 */
export type Workload = 'request' | 'background' | 'long';

export type Query = <Row>(statement: Sql) => Promise<Row[]>;

export interface PoolDeps {
  readonly config: pg.ClientConfig;
  readonly size: number;
  readonly timing: DatabaseTiming;
  readonly watch: ConnectionWatch;
  readonly server: CurrentServer;
  readonly log: Logger;
  /** Reads on another connection. */
  readonly read: (statement: Sql) => Promise<unknown[]>;
}

interface Lease {
  readonly client: pg.PoolClient;
  readonly session: Session;
  readonly watched: WatchedConnection;
  isNew: boolean;
}

export class Pool {
  readonly #deps: PoolDeps;
  readonly #leases = new WeakMap<pg.ClientBase, Lease>();
  readonly #pool: pg.Pool;

  constructor(deps: PoolDeps) {
    const { config, size, timing, log } = deps;
    this.#deps = deps;
    this.#pool = new pg.Pool({
      ...config,
      max: size,
      idleTimeoutMillis: 60_000,
      // Shorter than the maximum age: a connection may still be leased for a while after this.
      maxLifetimeSeconds: (timing.ageMs * 0.8) / 1000,
      onConnect: (client) => this.#prepare(client as pg.PoolClient),
    });
    // Without a listener, an idle connection that breaks would end the process.
    this.#pool.on('error', (error) => log.warn({ err: error }, 'a database connection was lost'));
    // The pool listens only to idle clients: without this, a connection that breaks inside a transaction would end
    // the process as well. Its user learns of it from the next statement.
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }

  query<Row>(statement: Sql, workload: Workload): Promise<Row[]> {
    return retryDeadlocks(() => this.#query(statement, workload));
  }

  transaction<Result>(work: (query: Query) => Promise<Result>, workload: Workload): Promise<Result> {
    return retryDeadlocks(() => this.#transaction(work, workload));
  }

  get state(): { readonly total: number; readonly idle: number; readonly waiting: number } {
    const { totalCount: total, idleCount: idle, waitingCount: waiting } = this.#pool;
    return { total, idle, waiting };
  }

  end(): Promise<void> {
    return this.#pool.end();
  }

  async #prepare(client: pg.PoolClient): Promise<void> {
    const { timing, server, watch } = this.#deps;
    const session = await prepareSession(client, timeoutSettings(timing), timing);
    server.reached(session);
    const watched = watch.add(client.connection.stream, { session });
    this.#leases.set(client, { client, session, watched, isNew: true });
  }

  /** Skips connections to a server that has been replaced. */
  async #lease(workload: Workload): Promise<Lease> {
    const { server, timing } = this.#deps;
    for (;;) {
      const client = await this.#pool.connect().catch((error: unknown) => {
        throw explainOutage(error);
      });
      const lease = this.#leases.get(client) as Lease;
      if (!lease.isNew && !server.is(lease.session)) {
        client.release(true);
        continue;
      }
      lease.isNew = false;
      lease.watched.allowStuckFor(workload === 'long' ? Number.POSITIVE_INFINITY : timing.abandonMs);
      return lease;
    }
  }

  /** The time limit includes the wait for a connection. */
  #deadline(workload: Workload): number {
    return Date.now() + (workload === 'request' ? this.#deps.timing.writeMs : Number.POSITIVE_INFINITY);
  }

  async #query<Row>(statement: Sql, workload: Workload): Promise<Row[]> {
    const deadline = this.#deadline(workload);
    const lease = await this.#lease(workload);
    const answer = send<Row>(lease, statement);
    releaseAfter(lease, answer);
    return this.#answerBy(deadline, answer);
  }

  async #transaction<Result>(work: (query: Query) => Promise<Result>, workload: Workload): Promise<Result> {
    const deadline = this.#deadline(workload);
    const lease = await this.#lease(workload);
    let result: Result;
    let xid: string;
    try {
      xid = await this.#answerBy(deadline, begin(lease));
      result = await work((statement) => this.#answerBy(deadline, send(lease, statement)));
    } catch (error) {
      await this.#rollBack(lease, error);
      throw error;
    }
    await this.#commit(lease, xid, deadline);
    return result;
  }

  async #commit(lease: Lease, xid: string, deadline: number): Promise<void> {
    const { timing, read } = this.#deps;
    const committed = send(lease, commit);
    releaseAfter(lease, committed);
    try {
      // However long the work may take, a commit has no more time than that of a request.
      await this.#answerBy(Math.min(Math.max(deadline, Date.now()), Date.now() + timing.writeMs), committed);
    } catch (error) {
      if (!isUnanswered(error)) throw error;
      await confirmCommit(read, lease.session, xid, timing.inquiryMs, error);
    }
  }

  /** A transaction without an answer is ended with its connection: without a commit it comes to nothing. */
  async #rollBack(lease: Lease, error: unknown): Promise<void> {
    if (isUnanswered(error)) return lease.client.release(true);
    await this.#answerBy(Date.now() + this.#deps.timing.inquiryMs, send(lease, rollback)).then(
      () => lease.client.release(),
      () => lease.client.release(true),
    );
  }

  /** Ends the wait, not the statement. Uses the watch's shared timer, since every statement needs one. */
  #answerBy<Answer>(deadline: number, answer: Promise<Answer>): Promise<Answer> {
    if (deadline === Number.POSITIVE_INFINITY) return answer;
    return new Promise((resolve, reject) => {
      const onTimeout = () => reject(unanswered(new Error('no answer within the time of a request')));
      const cancel = this.#deps.watch.after(deadline - Date.now(), onTimeout);
      answer.then(resolve, reject).then(cancel);
    });
  }
}

/**
 * Nobody waits for a lock longer than a caller waits for an answer, and a transaction whose process has vanished does
 * not keep its locks for hours. If the server's system allows it, the server stops work whose caller has gone.
 */
const timeoutSettings = ({ writeMs }: DatabaseTiming): string => `
  set lock_timeout = ${Math.ceil(writeMs * 0.75)}; set idle_in_transaction_session_timeout = '60s';
  do $$ begin set client_connection_check_interval = '5s'; exception when others then null; end $$`;

/** For the one transaction at start that waits for other instances, however long they take. */
export const noLockTimeout: Sql = sql`
  select set_config('lock_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true)`;

const attemptsMax = 5;
const backOffMsMax = 20;

/**
 * After a deadlock the database has undone one of the transactions completely, so it can run again. It waits a moment
 * first: at once, it might take the lock again before the other one has woken up.
 */
function retryDeadlocks<Result>(work: () => Promise<Result>): Promise<Result> {
  let attempt = 0;
  return retry(attemptsMax, isDeadlock, () => {
    attempt += 1;
    return attempt === 1 ? work() : delay(backOffMsMax * Math.random()).then(work);
  });
}

async function send<Row>({ client, watched }: Lease, { text, values, name }: Sql): Promise<Row[]> {
  watched.sent();
  try {
    const sent = client.query(
      name ? { text, name, values: values as unknown[] } : { text, values: values as unknown[] },
    );
    return (await sent).rows as Row[];
  } catch (error) {
    throw explainFailure(error);
  } finally {
    watched.answered();
  }
}

/** Resolves to the transaction's id, by which its outcome can be looked up on any connection. */
async function begin({ client, watched }: Lease): Promise<string> {
  watched.sent();
  try {
    const sent = client.query('begin; select pg_current_xact_id()::text as xid');
    // One result per statement, which the types of `pg` do not know.
    const results = (await sent) as unknown as pg.QueryResult<{ xid: string }>[];
    return results[1]?.rows[0]?.xid ?? '';
  } catch (error) {
    throw explainFailure(error);
  } finally {
    watched.answered();
  }
}

const commit = new Sql('commit', [], '');
const rollback = new Sql('rollback', [], '');

function releaseAfter({ client }: Lease, answer: Promise<unknown>): void {
  void answer.then(
    () => client.release(),
    (error: unknown) => client.release(isFatal(error)),
  );
}

/** An error from the server is final; a broken connection says nothing about what was done. */
const explainFailure = (error: unknown): unknown =>
  error instanceof pg.DatabaseError || !isLostConnection(error) ? explainOutage(error) : unanswered(error);

/** Whether the connection is unusable after an error. */
function isFatal(error: unknown): boolean {
  const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return !(reason instanceof pg.DatabaseError) || reason.severity !== 'ERROR';
}
