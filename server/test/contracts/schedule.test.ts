// Guarantees of the schedule of periodic tasks.
import { expect, test } from 'vitest';
import type { Deps } from '../../src/contract/deps.ts';
import type { PeriodicTask } from '../../src/contract/job.ts';
import { startSchedule } from '../../src/jobs/schedule.ts';
import { type Database, openDatabase } from '../../src/platform/db/postgres.ts';
import { createLogger } from '../../src/platform/log.ts';
import { connectionsTo, freshDatabase } from '../support/database.ts';

test('schedule: tasks that are due together are claimed together, and run once among all instances', async () => {
  const database = await freshDatabase();
  const log = createLogger('silent');
  const instances = [1, 2].map(() => openDatabase({ connection: { connectionString: database.url }, log }));
  const runs = new Map<string, number>();
  const tasks = Array.from({ length: 20 }, (_, n): PeriodicTask => {
    const name = `task ${n}`;
    return {
      name,
      everySeconds: () => 3_600,
      run: async () => void runs.set(name, (runs.get(name) ?? 0) + 1),
    };
  });
  let claims = 0;
  const counted = (db: Database): Database => ({
    ...db,
    query: (...statement) => {
      claims += 1;
      return db.query(...statement);
    },
  });
  const schedules = instances.map((db) => startSchedule({ db: counted(db), log } as Deps, tasks));
  try {
    await expect.poll(() => runs.size).toBe(tasks.length);
    expect(claims).toBe(instances.length);
    expect(await connectionsTo(database.url)).toBeLessThanOrEqual(2 * instances.length);
    for (const schedule of schedules) await schedule.stop();
    expect([...runs.values()]).toEqual(tasks.map(() => 1));
  } finally {
    for (const db of instances) await db.close();
    await database.drop();
  }
});
