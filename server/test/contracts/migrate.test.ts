// Which databases a release accepts: its own, those of earlier releases, and no newer ones.
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { isMigrated, migrate } from '../../src/platform/db/migrate.ts';
import { type Database, openDatabase } from '../../src/platform/db/postgres.ts';
import { createLogger } from '../../src/platform/log.ts';
import { dropDatabase, onServer, rowsOf, withDatabase } from '../support/database.ts';

const log = createLogger('silent');
const server = inject('databaseServer');
let name: string;
let url: string;
let db: Database;

beforeEach(async () => {
  name = `pakhus_migrate_${randomBytes(6).toString('hex')}`;
  url = withDatabase(server, name);
  await onServer(server, `create database ${name} template template0`);
  db = openDatabase({ connection: { connectionString: url }, log });
});
afterEach(async () => {
  await db.close();
  await dropDatabase(server, name);
});

test('an empty database is migrated by one of several instances that start at once', async () => {
  expect(await isMigrated(db)).toBe(false);
  const others = [1, 2].map(() => openDatabase({ connection: { connectionString: url }, log }));
  const applied = await Promise.all([db, ...others].map((one) => migrate(one, log)));
  await Promise.all(others.map((one) => one.close()));
  expect(applied.filter((names) => names.length > 0)).toHaveLength(1);
  expect(applied.flat()).toContain('0001_baseline.sql');
  expect(await isMigrated(db)).toBe(true);
});

test('a function whose text has changed is applied again, and nothing else', async () => {
  await migrate(db, log);
  await rowsOf(url, "update applied_functions set sha256 = 'of another text' where name = 'store_file.sql'");
  expect(await isMigrated(db)).toBe(false);
  expect(await migrate(db, log)).toEqual(['store_file.sql']);
  expect(await isMigrated(db)).toBe(true);
});

test('a database of a newer release is refused and left as it is', async () => {
  await migrate(db, log);
  await rowsOf(url, "insert into migrations (name) values ('9999_from_the_future.sql')");
  await rowsOf(url, "update applied_functions set sha256 = 'of a newer text'");
  await expect(migrate(db, log)).rejects.toThrow(
    /newer release \(9999_from_the_future\.sql\): run that release/,
  );
  expect(await isMigrated(db)).toBe(false);
  const kept = await rowsOf(url, "select from applied_functions where sha256 = 'of a newer text'");
  expect(kept.length).toBeGreaterThan(0);
});
