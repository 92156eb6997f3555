// The queue of jobs, in the same database as everything else: a job is sent within the transaction that it
// follows from, and instances share the work. The only file that knows pg-boss.
import PgBoss from 'pg-boss';
import type { Database, Transaction } from '../db/postgres.ts';
import { type Sql, sql } from '../db/sql.ts';
import type { Logger } from '../log.ts';

export interface QueueOptions {
  readonly name: string;
  /** Tries beyond the first; the wait between them grows. */
  readonly retriesMax: number;
  readonly retryDelaySeconds: number;
  /** A job that has been running for longer has lost its worker and is given to another. */
  readonly lostAfterSeconds: number;
}

export interface Queue {
  /** The job exists if, and only if, the transaction commits. An idle worker hears of it at once. */
  send(tx: Transaction, name: string, id: string, data: object): Promise<void>;
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
const pollSeconds = 2;
const stopWithinMs = 25_000;

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
    await tx.query(sql`select pg_advisory_xact_lock(${startLock})`);
    await boss.start();
    for (const queue of queues) await declare(boss, queue);
  });
  const workers = new Map<string, string[]>();
  const stopping = new AbortController();
  const wake = (name: string) => {
    for (const id of workers.get(name) ?? []) boss.notifyWorker(id);
  };
  let stopListening: (() => Promise<void>) | null = null;

  return {
    async send(tx, name, id, data) {
      await boss.send(name, data, { id, db: executorOf(tx) });
      await tx.query(sql`select pg_notify(${channel}, ${name})`);
    },
    async work<Data>(
      name: string,
      concurrency: number,
      handler: (data: Data, signal: AbortSignal) => Promise<void>,
    ) {
      stopListening ??= await db.listen(channel, wake);
      const ids: string[] = [];
      workers.set(name, ids);
      for (let n = 0; n < concurrency; n += 1) {
        const run = async (jobs: PgBoss.Job<Data>[]) => {
          for (const job of jobs) await handler(job.data, stopping.signal);
          // Whoever was busy when a job was announced looks again.
          wake(name);
        };
        ids.push(await boss.work<Data>(name, { batchSize: 1, pollingIntervalSeconds: pollSeconds }, run));
      }
    },
    async stop() {
      stopping.abort(new Error('Pakhus is stopping'));
      await stopListening?.();
      await boss.stop({ graceful: true, wait: true, close: false, timeout: stopWithinMs });
    },
  };
}

async function declare(
  boss: PgBoss,
  { name, retriesMax, retryDelaySeconds, lostAfterSeconds }: QueueOptions,
): Promise<void> {
  const options = {
    retryLimit: retriesMax,
    retryDelay: retryDelaySeconds,
    retryBackoff: true,
    expireInSeconds: lostAfterSeconds,
  };
  await boss.createQueue(name, { name, ...options });
  // Settings may have changed since the queue was made.
  await boss.updateQueue(name, { name, ...options });
}

/** pg-boss runs its own statements, on our connections. */
const executorOf = (runner: { query<Row>(statement: Sql): Promise<Row[]> }): PgBoss.Db => ({
  executeSql: async (text, values) => ({
    rows: await runner.query({ text, values: values ?? [], name: '' }),
  }),
});
