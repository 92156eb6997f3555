// One PostgreSQL for the whole run: the server in DATABASE_URL, or the embedded one. Each test file creates its own databases
// on it, copied from a template that is migrated here.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildIfStale } from '../../../scripts/build.mjs';
import { startEmbeddedPostgres } from '../../src/platform/db/embedded.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { openDatabase } from '../../src/platform/db/postgres.ts';
import { createLogger } from '../../src/platform/log.ts';
import { dropDatabase, onServer, withDatabase } from './database.ts';

const partitionScript = new URL('../../db/optional/partition-files.sql', import.meta.url);

declare module 'vitest' {
  interface ProvidedContext {
    /** A server on which tests create databases. */
    databaseServer: string;
    /** A migrated, empty database to copy. */
    templateDatabase: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await buildIfStale('server');
  const server = process.env.DATABASE_URL
    ? { url: process.env.DATABASE_URL, stop: async () => undefined }
    : await embeddedServer();
  const template = `pakhus_template_${process.pid}`;
  await onServer(server.url, `create database ${template}`);
  const log = createLogger('silent');
  const db = openDatabase({ connection: { connectionString: withDatabase(server.url, template) }, log });
  await migrate(db, log);
  if (process.env.TEST_PARTITIONED) {
    // What docs/scaling.md describes, done to every database of the run.
    await onServer(withDatabase(server.url, template), await readFile(partitionScript, 'utf8'));
    await migrate(db, log);
  }
  await db.close();
  project.provide('databaseServer', server.url);
  project.provide('templateDatabase', template);
  return async () => {
    await dropDatabase(server.url, template);
    await server.stop();
  };
}

async function embeddedServer(): Promise<{ url: string; stop: () => Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'pakhus-test-'));
  const embedded = await startEmbeddedPostgres({
    dataDir,
    log: createLogger('silent'),
    // No test cuts the power, and every commit of the run would wait for the disk.
    settings: { max_connections: '800', fsync: 'off' },
  });
  const { host, port, user, password, database } = embedded.connection;
  return {
    url: `postgres://${user}:${encodeURIComponent(password)}@/${database}?host=${encodeURIComponent(host)}&port=${port}`,
    stop: async () => {
      await embedded.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
