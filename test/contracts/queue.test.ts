// The queue of jobs, as its workers rely on it.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/platform/db/postgres.ts';
import { createLogger } from '../../src/platform/log.ts';
import { openQueue } from '../../src/platform/queue/queue.ts';
import { freshDatabase } from '../support/database.ts';

test('queue: a job that takes longer than a lost one would is not given to a second worker', async () => {
  const database = await freshDatabase();
  const log = createLogger('silent');
  const db = openDatabase({ connection: { connectionString: database.url }, log });
  const name = 'slow';
  const queue = await openQueue(
    db,
    log,
    [{ name, retriesMax: 5, retryDelaySeconds: 1, lostAfterSeconds: 2 }],
    true,
  );
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
