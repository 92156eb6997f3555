// The queue of jobs, in the same database as everything else: a job is sent within the transaction that it
// follows from, and instances share the work. The only file that knows pg-boss.
import PgBoss from 'pg-boss';
import { whileRenewed } from '../../kernel/async/lease.ts';
import { noLockTimeout } from '../db/pool.ts';
import type { Database, Transaction } from '../db/postgres.ts';
import { type Sql, sql } from '../db/sql.ts';
import type { Logger } from '../log.ts';

export interface QueueOptions {
  readonly name: string;
  /** Retries after the first try, with growing waits in between; `endless` where the handler itself gives up. */
  readonly retriesMax: number | 'endless';
  readonly retryDelaySeconds: number;
  /** A job that was not heard of for longer has lost its worker and is given to another. */
  readonly lostAfterSeconds: number;
}

export interface Queue {
  /** The job exists if, and only if, the transaction commits. An idle worker hears of it at once. */
  send(tx: Transaction, name: string, id: string, data: object, priority?: number): Promise<void>;
  /** Works on `concurrency` jobs at a time. A handler that throws has its job tried again later. */
  work<Data>(
    name: string,
    concurrency: number,
    handler: (data: Data, signal: AbortSignal) => Promise<void>,
  ): Promise<void>;
  /** Tells handlers to stop, waits for them, and takes no more jobs. */
  stop(): Promise<void>;
}

const channel = 'pakhus_queue';
const startLock = 7_256_488;
const pollMs = 2_000;
/** As good as endless, since the count is held down. */
const retryLimitMax = 1_000_000;
/** The wait doubles this many times; after that, endless retries come once or twice a minute. */
const doublingsMax = 5;

export async function openQueue(
  db: Database,
  log: Logger,
  queues: readonly QueueOptions[],
  supervise: boolean,
): Promise<Queue> {
  const boss = new PgBoss({
    db: executorOf(db),
    schedule: false,
    supervise,
    maintenanceIntervalSeconds: 5,
    archiveCompletedAfterSeconds: 60,
    deleteAfterSeconds: 86_400,
  });
  boss.on('error', (error) => log.warn({ err: error }, 'the queue stumbled; it goes on'));
  // pg-boss makes its own tables, and stumbles when several instances do so at once.
  await db.transaction(async (tx) => {
    await tx.query(noLockTimeout);
    await tx.query(sql`select pg_advisory_xact_lock(${startLock})`);
    await boss.start();
    for (const queue of queues) await declare(boss, queue);
    await indexOrder(tx);
  }, 'long');
  const stopping = new AbortController();
  const bell = createBell();
  const loops: Promise<void>[] = [];
  let stopListening: (() => Promise<void>) | null = null;

  return {
    async send(tx, name, id, data, priority = 0) {
      await boss.send(name, data, { id, priority, db: executorOf(tx) });
      await tx.query(sql`select pg_notify(${channel}, ${name})`);
    },
    async work(name, concurrency, handler) {
      stopListening ??= await db.listen(channel, bell.ring);
      for (let n = 0; n < concurrency; n += 1)
        loops.push(
          workLoop(
            boss,
            log,
            name,
            bell,
            stopping.signal,
            paced(db, queues, name, renewed(db, log, queues, name, handler)),
          ),
        );
    },
    async stop() {
      stopping.abort(new Error('Pakhus is stopping'));
      bell.ring();
      await stopListening?.();
      await Promise.all(loops);
      await boss.stop({ graceful: false, close: false });
    },
  };
}

/**
 * Takes one job after the other. pg-boss has workers of its own, but does not wait for its note of how a job
 * ended: a database that is away at that moment would end the process.
 */
async function workLoop<Data>(
  boss: PgBoss,
  log: Logger,
  name: string,
  bell: Bell,
  stopping: AbortSignal,
  handler: JobHandler<Data>,
): Promise<void> {
  while (!stopping.aborted) {
    const heard = bell.count();
    try {
      const [job] = await boss.fetch<Data>(name, { batchSize: 1, includeMetadata: true });
      if (job) await runJob(boss, name, job, handler, stopping);
      else await bell.wait(heard, pollMs);
    } catch (error) {
      log.warn({ err: error, queue: name }, 'the queue stumbled; it goes on');
      await bell.wait(bell.count(), pollMs);
    }
  }
}

async function runJob<Data>(
  boss: PgBoss,
  name: string,
  job: PgBoss.JobWithMetadata<Data>,
  handler: JobHandler<Data>,
  stopping: AbortSignal,
): Promise<void> {
  try {
    await handler(job, stopping);
  } catch (error) {
    await boss.fail(name, job.id, { message: error instanceof Error ? error.message : String(error) });
    return;
  }
  await boss.complete(name, job.id);
}

type JobHandler<Data> = (job: PgBoss.JobWithMetadata<Data>, stopping: AbortSignal) => Promise<void>;

/** Keeps the count of an endless job's retries from growing, and so the wait for the next one. */
function paced<Data>(
  db: Database,
  queues: readonly QueueOptions[],
  name: string,
  handler: JobHandler<Data>,
): JobHandler<Data> {
  if (queues.find((queue) => queue.name === name)?.retriesMax !== 'endless') return handler;
  return async (job, stopping) => {
    // Before the try: its process may be killed in it.
    if (job.retryCount > doublingsMax) await db.query(holdRetriesDown(name, job.id), 'background');
    await handler(job, stopping);
  };
}

const holdRetriesDown = (name: string, id: string): Sql =>
  sql`update pgboss.job set retry_count = ${doublingsMax} where name = ${name} and id = ${id}::uuid`;

/** Says now and then that the job still has its worker: one that takes long must not be given to a second. */
function renewed<Data>(
  db: Database,
  log: Logger,
  queues: readonly QueueOptions[],
  name: string,
  handler: (data: Data, signal: AbortSignal) => Promise<void>,
): JobHandler<Data> {
  const { lostAfterSeconds = 60 } = queues.find((queue) => queue.name === name) ?? {};
  return ({ id, data, expireInSeconds }, stopping) =>
    whileRenewed(
      // What the job was sent with counts: another process, or an earlier setting, may have been of another mind.
      Math.min(lostAfterSeconds, Number(expireInSeconds)),
      () => db.query(renewJob(name, id), 'background'),
      () => handler(data, stopping),
      (error) =>
        log.warn({ err: error, queue: name, job_id: id }, 'a job could not say that it is under way'),
    );
}

/** pg-boss counts from the start of a try, and has no word for a worker that is still at it. */
const renewJob = (name: string, id: string): Sql =>
  sql`update pgboss.job set started_on = now() where name = ${name} and id = ${id}::uuid and state = 'active'`;

/** Wakes everyone who waits for work. */
interface Bell {
  readonly ring: () => void;
  /** How often it has rung: a ring while nobody waited is not lost on whoever compares. */
  count(): number;
  /** Waits for a ring beyond `heard`, or for the time. */
  wait(heard: number, milliseconds: number): Promise<void>;
}

function createBell(): Bell {
  const waiting = new Set<() => void>();
  let rings = 0;
  return {
    ring: () => {
      rings += 1;
      for (const wake of waiting) wake();
    },
    count: () => rings,
    wait: (heard, milliseconds) =>
      new Promise((resolve) => {
        if (rings !== heard) return resolve();
        const wake = () => {
          clearTimeout(timer);
          waiting.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, milliseconds);
        waiting.add(wake);
      }),
  };
}

/** Ten years: a job that nobody has taken yet is no less wanted for having waited. */
const retentionMinutes = 5_256_000;

async function declare(
  boss: PgBoss,
  { name, retriesMax, retryDelaySeconds, lostAfterSeconds }: QueueOptions,
): Promise<void> {
  const options = {
    retryLimit: retriesMax === 'endless' ? retryLimitMax : retriesMax,
    retryDelay: retryDelaySeconds,
    retryBackoff: true,
    expireInSeconds: lostAfterSeconds,
    retentionMinutes,
  };
  await boss.createQueue(name, { name, ...options });
  // Settings may have changed since the queue was made.
  await boss.updateQueue(name, { name, ...options });
}

/** For every job that it takes, pg-boss would sort all that wait. In this order it finds the next one at once. */
async function indexOrder(tx: Transaction): Promise<void> {
  const [known] = await tx.query(sql`select where to_regclass('pgboss.job_in_order') is not null`);
  if (known) return;
  await tx.query(sql`create index job_in_order on pgboss.job (name, priority desc, created_on, id)
    where state < 'active'`);
}

/** pg-boss runs its own statements, on our connections. */
const executorOf = (runner: Database | Transaction): PgBoss.Db => ({
  executeSql: async (text, values) => ({
    rows: await runner.query({ text, values: values ?? [], name: '' }, 'background'),
  }),
});
