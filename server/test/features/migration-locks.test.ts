// A migration on a database in use.
import { expect, test } from 'vitest';
import { migrate } from '../../src/platform/db/migrate.ts';
import { openDatabase } from '../../src/platform/db/postgres.ts';
import { createLogger } from '../../src/platform/log.ts';
import { freshDatabase, inTransaction, rowsOf, waitersIn } from '../support/database.ts';
import { until } from '../support/processes.ts';

interface Warning {
  readonly msg: string;
  readonly blockers: readonly { pid: number; state: string; query_start: string }[];
}

test('migrate: a long transaction delays the migration, which is logged and blocks no other requests', async () => {
  const database = await freshDatabase();
  let lines = '';
  const log = createLogger('warn', {
    write: (line) => {
      lines += line;
    },
  });
  const warnings = () =>
    lines
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Warning);
  const db = openDatabase({ connection: { connectionString: database.url }, log });
  try {
    // As before an upgrade: this function comes with triggers, and replacing them blocks writes to files.
    const name = 'note_file_changed.sql';
    await rowsOf(database.url, `delete from applied_functions where name = '${name}'`);
    let migrating: Promise<string[]> = Promise.resolve([]);
    await inTransaction(database.url, async (query) => {
      await query('lock table files in row exclusive mode');
      const { rows } = (await query('select pg_backend_pid() as pid')) as { rows: { pid: number }[] };
      migrating = migrate(db, log);
      await until('the log says who is in the way', async () => warnings().length > 0);
      expect(warnings()[0]?.blockers).toMatchObject([
        { pid: rows[0]?.pid, state: 'idle in transaction', query_start: expect.any(String) },
      ]);
      await until(
        'it waits for nothing between two attempts',
        async () => (await waitersIn(database.url)) === 0,
      );
      expect(await rowsOf(database.url, 'select from files')).toEqual([]);
      await until('it has tried again', async () => warnings().length > 1);
    });
    expect(await migrating).toEqual([name]);
  } finally {
    await db.close();
    await database.drop();
  }
});
