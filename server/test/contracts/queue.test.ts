// Guarantees of the job queue.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/platform/db/postgres.ts';
import { sql } from '../../src/platform/db/sql.ts';
import { createLogger } from '../../src/platform/log.ts';
import { openQueue } from '../../src/platform/queue/queue.ts';
import { connectionsTo, freshDatabase } from '../support/database.ts';

test('queue: a running job that exceeds the timeout for lost jobs is not given to a second worker', async () => {
  const database = await freshDatabase();
  const log = createLogger('silent');
  const db = openDatabase({ connection: { connectionString: database.url }, log });
  const name = 'slow';
  const queue = await openQueue(db, log, [
    { name, retriesMax: 5, retryDelaySeconds: 1, lostAfterSeconds: 2 },
  ]);
  try {
    let begun = 0;
    let ended = 0;
    await queue.work(name, 2, async () => {
      begun += 1;
      await pause(9_000);
      ended += 1;
    });
    await db.transaction((tx) => queue.send(tx, name, randomUUID(), {}));
    await expect.poll(() => ended).toBe(1);
    await pause(3_000);
    expect(begun).toBe(1);
  } finally {
    await queue.stop();
    await db.close();
    await database.drop();
  }
});

test('queue: a job with unlimited retries is retried within two minutes, after any number of failures', async () => {
  const database = await freshDatabase();
  const log = createLogger('silent');
  const db = openDatabase({ connection: { connectionString: database.url }, log });
  const name = 'stubborn';
  const queue = await openQueue(db, log, [
    { name, retriesMax: 'endless', retryDelaySeconds: 1, lostAfterSeconds: 60 },
  ]);
  try {
    const id = randomUUID();
    await db.transaction((tx) => queue.send(tx, name, id, {}));
    await db.query(sql`update pgboss.job set state = 'retry', retry_count = 5000 where id = ${id}::uuid`);
    let tries = 0;
    await queue.work(name, 1, async () => {
      tries += 1;
      throw new Error('not this time');
    });
    await expect.poll(() => tries).toBe(1);
    const job = () =>
      db.query<{ state: string; soon: boolean }>(sql`
        select state::text, start_after < now() + interval '2 minutes' as soon from pgboss.job where id = ${id}::uuid`);
    await expect.poll(job).toEqual([{ state: 'retry', soon: true }]);
  } finally {
    await queue.stop();
    await db.close();
    await database.drop();
  }
});

test('queue: idle workers share a connection, and all of them take jobs', async () => {
  const database = await freshDatabase();
  const log = createLogger('silent');
  const db = openDatabase({ connection: { connectionString: database.url }, log });
  const name = 'crowded';
  const workers = 16;
  const queue = await openQueue(db, log, [
    { name, retriesMax: 0, retryDelaySeconds: 1, lostAfterSeconds: 60 },
  ]);
  try {
    let begun = 0;
    await queue.work(name, workers, async () => {
      begun += 1;
      await expect.poll(() => begun === 1 || begun === 1 + workers).toBe(true);
    });
    const send = () => db.transaction((tx) => queue.send(tx, name, randomUUID(), {}));
    await send();
    await expect.poll(() => begun).toBe(1);
    // One to listen; of the others, each asks for jobs, sends one, completes one or looks for lost ones.
    expect(await connectionsTo(database.url)).toBeLessThanOrEqual(6);
    for (let n = 0; n < workers; n += 1) await send();
    await expect.poll(() => begun).toBe(1 + workers);
  } finally {
    await queue.stop();
    await db.close();
    await database.drop();
  }
});
