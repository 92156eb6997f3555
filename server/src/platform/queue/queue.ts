// The job queue, in the same database as everything else: a job is sent inside the transaction that causes it, and
// instances share the work. Only this folder knows pg-boss; docs/adr/0012-job-queue.md says what it is used for.
import PgBoss from 'pg-boss';
import { noLockTimeout } from '../db/pool.ts';
import type { Database, Transaction } from '../db/postgres.ts';
import { sql } from '../db/sql.ts';
import type { Logger } from '../log.ts';
import { QueueWatch } from './queue-watch.ts';
import { type HandleJob, QueueWorker, type WorkedQueue } from './queue-worker.ts';
import { WakeUp } from './wake-up.ts';

export interface QueueOptions extends WorkedQueue {
  readonly retryDelaySeconds: number;
}

export interface Queue {
  /** The job exists if, and only if, the transaction commits. Idle workers are notified at once. */
  send(tx: Transaction, name: string, id: string, data: object, priority?: number): Promise<void>;
  /** Works on `concurrency` jobs at a time. A job whose handler throws is retried later. */
  work<Data>(name: string, concurrency: number, handler: HandleJob<Data>): Promise<void>;
  /** Tells handlers to stop, waits for them, and takes no more jobs. */
  stop(): Promise<void>;
}

const channel = 'pakhus_queue';
const startLock = 7_256_488;
/** As good as endless, since the count of such a job is kept low. */
const retryLimitMax = 1_000_000;
/** Ten years: a job does not expire because nobody has taken it yet. */
const retentionMinutes = 5_256_000;

export async function openQueue(db: Database, log: Logger, queues: readonly QueueOptions[]): Promise<Queue> {
  const boss = new PgBoss({
    db: toExecutor(db),
    schedule: false,
    // QueueWatch does it.
    supervise: false,
    archiveCompletedAfterSeconds: 60,
    deleteAfterSeconds: 86_400,
  });
  boss.on('error', (error) => log.warn({ err: error }, 'queue error, retrying'));
  // pg-boss creates its own tables, and fails if several instances do so at once.
  await db.transaction(async (tx) => {
    await tx.query(noLockTimeout);
    await tx.query(sql`select pg_advisory_xact_lock(${startLock})`);
    await boss.start();
    for (const queue of queues) await declare(boss, queue);
    await createOrderIndex(tx);
  }, 'long');
  return new PgBossQueue(boss, db, log, queues);
}

class PgBossQueue implements Queue {
  readonly #boss: PgBoss;
  readonly #db: Database;
  readonly #log: Logger;
  readonly #queues: readonly QueueOptions[];
  readonly #stopping = new AbortController();
  readonly #wakeUps: ReadonlyMap<string, WakeUp>;
  readonly #watch: QueueWatch;
  readonly #workers: Promise<void>[] = [];
  #stopListening: (() => Promise<void>) | null = null;

  constructor(boss: PgBoss, db: Database, log: Logger, queues: readonly QueueOptions[]) {
    this.#boss = boss;
    this.#db = db;
    this.#log = log;
    this.#queues = queues;
    this.#wakeUps = new Map(queues.map(({ name }) => [name, new WakeUp()]));
    this.#watch = new QueueWatch(boss, db, log, () => this.#wakeAll());
  }

  async send(tx: Transaction, name: string, id: string, data: object, priority = 0): Promise<void> {
    await this.#boss.send(name, data, { id, priority, db: toExecutor(tx) });
    await tx.query(sql`select pg_notify(${channel}, ${name})`);
  }

  async work<Data>(name: string, concurrency: number, handle: HandleJob<Data>): Promise<void> {
    const queue = this.#queues.find((one) => one.name === name);
    const wakeUp = this.#wakeUps.get(name);
    if (!queue || !wakeUp) throw new Error(`There is no queue named ${name}`);
    this.#stopListening ??= await this.#db.listen(channel, (sentTo) => this.#wakeUps.get(sentTo)?.signal());
    this.#watch.start();
    const worker = new QueueWorker(this.#boss, this.#db, this.#log, queue, wakeUp, handle);
    for (let n = 0; n < concurrency; n += 1) this.#workers.push(worker.run(this.#stopping.signal));
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('Pakhus is stopping'));
    this.#wakeAll();
    await this.#watch.stop();
    await this.#stopListening?.();
    await Promise.all(this.#workers);
    await this.#boss.stop({ graceful: false, close: false });
  }

  #wakeAll(): void {
    for (const wakeUp of this.#wakeUps.values()) wakeUp.signal();
  }
}

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
  // Settings may have changed since the queue was created.
  await boss.updateQueue(name, { name, ...options });
}

/** Without this index, pg-boss sorts all waiting jobs for every job that it takes. */
async function createOrderIndex(tx: Transaction): Promise<void> {
  const [known] = await tx.query(sql`select where to_regclass('pgboss.job_in_order') is not null`);
  if (known) return;
  await tx.query(sql`create index job_in_order on pgboss.job (name, priority desc, created_on, id)
    where state < 'active'`);
}

/** Runs the statements of pg-boss on our connections. */
const toExecutor = (db: Database | Transaction): PgBoss.Db => ({
  executeSql: async (text, values) => ({
    rows: await db.query({ text, values: values ?? [], name: '' }, 'background'),
  }),
});
