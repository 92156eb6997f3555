// Takes the jobs of one queue, several at a time. pg-boss has its own workers, but they do not wait until the outcome of a
// job is stored: if the database is down at that moment, the process ends.
import type PgBoss from 'pg-boss';
import { whileRenewed } from '../../kernel/async/lease.ts';
import { createTurns } from '../../kernel/async/turns.ts';
import type { Database } from '../db/postgres.ts';
import { type Sql, sql } from '../db/sql.ts';
import type { Logger } from '../log.ts';
import type { WakeUp } from './wake-up.ts';

export interface WorkedQueue {
  readonly name: string;
  /** Retries after the first attempt, with exponential back-off; `endless` if the handler itself gives up. */
  readonly retriesMax: number | 'endless';
  /** A job whose worker has not renewed it for this long is given to another worker. */
  readonly lostAfterSeconds: number;
}

export type HandleJob<Data> = (data: Data, signal: AbortSignal) => Promise<void>;

const retryMs = 2_000;
/** The delay doubles this many times; after that, endless retries come once or twice a minute. */
const doublingsMax = 5;

export class QueueWorker<Data> {
  readonly #boss: PgBoss;
  readonly #db: Database;
  readonly #log: Logger;
  readonly #queue: WorkedQueue;
  readonly #handle: HandleJob<Data>;
  readonly #wakeUp: WakeUp;
  readonly #inTurn = createTurns();
  /** The count of the last signal after which the queue was found empty. */
  #emptyAt = -1;

  constructor(
    boss: PgBoss,
    db: Database,
    log: Logger,
    queue: WorkedQueue,
    wakeUp: WakeUp,
    handle: HandleJob<Data>,
  ) {
    this.#boss = boss;
    this.#db = db;
    this.#log = log;
    this.#queue = queue;
    this.#wakeUp = wakeUp;
    this.#handle = handle;
  }

  /** Takes one job after another. Call it once for each job that may run at the same time. */
  async run(stopping: AbortSignal): Promise<void> {
    const wakeUp = this.#wakeUp;
    while (!stopping.aborted) {
      const seen = wakeUp.count;
      try {
        const job = await this.#inTurn(() => this.#take(stopping));
        if (job) await this.#runJob(job, stopping);
        else await wakeUp.wait(seen);
      } catch (error) {
        this.#log.warn({ err: error, queue: this.#queue.name }, 'queue error, retrying');
        await wakeUp.wait(wakeUp.count, retryMs);
      }
    }
  }

  /** A signal wakes all that wait. The first one that finds nothing spares the others a query and a connection. */
  async #take(stopping: AbortSignal): Promise<PgBoss.JobWithMetadata<Data> | undefined> {
    const seen = this.#wakeUp.count;
    if (stopping.aborted || this.#emptyAt === seen) return undefined;
    const [job] = await this.#boss.fetch<Data>(this.#queue.name, { batchSize: 1, includeMetadata: true });
    if (!job) this.#emptyAt = seen;
    return job;
  }

  async #runJob(job: PgBoss.JobWithMetadata<Data>, stopping: AbortSignal): Promise<void> {
    const { name } = this.#queue;
    try {
      await this.#capBackOff(job);
      await this.#runRenewed(job, stopping);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      await this.#boss.fail(name, job.id, { message });
      return;
    }
    await this.#boss.complete(name, job.id);
  }

  /**
   * pg-boss 10 has no maximum delay: the delay grows with the number of retries. So the retry count of endless jobs is
   * held down, before the attempt, because the process may be killed during it.
   */
  async #capBackOff({ id, retryCount }: PgBoss.JobWithMetadata<Data>): Promise<void> {
    const { name, retriesMax } = this.#queue;
    if (retriesMax !== 'endless' || retryCount <= doublingsMax) return;
    await this.#db.query(holdRetriesDown(name, id), 'background');
  }

  /** Renews the job while its handler runs: a slow job must not be given to a second worker. */
  #runRenewed(job: PgBoss.JobWithMetadata<Data>, stopping: AbortSignal): Promise<void> {
    const { name, lostAfterSeconds } = this.#queue;
    return whileRenewed(
      // The job keeps the expiry that it was sent with, possibly by a process with other settings.
      Math.min(lostAfterSeconds, Number(job.expireInSeconds)),
      () => this.#db.query(renewJob(name, job.id), 'background'),
      () => this.#handle(job.data, stopping),
      (error) => this.#log.warn({ err: error, queue: name, job_id: job.id }, 'a job could not be renewed'),
    );
  }
}

const holdRetriesDown = (name: string, id: string): Sql =>
  sql`update pgboss.job set retry_count = ${doublingsMax} where name = ${name} and id = ${id}::uuid`;

/** pg-boss 10 has no heartbeat: it counts from the start of an attempt. */
const renewJob = (name: string, id: string): Sql =>
  sql`update pgboss.job set started_on = now() where name = ${name} and id = ${id}::uuid and state = 'active'`;
