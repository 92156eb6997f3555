// Counts the statements that a request costs, in the log of a database that was started with these settings.
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const folder = 'statements';
const file = 'all.log';

export const countingSettings = {
  log_statement: 'all',
  logging_collector: 'on',
  log_directory: folder,
  log_filename: file,
  log_rotation_age: '0',
  log_rotation_size: '0',
};

/** The collector of PostgreSQL writes soon after. */
const settleMs = 500;

/**
 * Resolves to the statements for one of `times` calls of `work`, one call after the other. `dataDir` is the folder of the
 * database. What runs less often than every other call is background work. Statements inside functions do not count: they
 * cost no round trip.
 */
export async function statementsPer(dataDir, times, work) {
  const log = join(dataDir, 'postgres', 'cluster', 'data', folder, file);
  await delay(settleMs);
  const { size } = await stat(log);
  for (let n = 0; n < times; n++) await work(n);
  await delay(settleMs);
  const added = (await readFile(log)).subarray(size).toString();
  const counts = new Map();
  for (const [, statement] of added.matchAll(/ LOG: +((?:execute [^:]+|statement): .*)/g))
    counts.set(statement, (counts.get(statement) ?? 0) + 1);
  const often = [...counts.values()].filter((count) => count >= times / 2);
  return often.reduce((sum, count) => sum + count, 0) / times;
}
