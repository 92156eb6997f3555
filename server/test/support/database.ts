// Databases for tests, and queries on them that bypass the service.
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { until } from './processes.ts';

/** Kept briefly: connecting costs more than most queries. */
const pools = new Map<string, pg.Pool>();

function poolOf(url: string): pg.Pool {
  const known = pools.get(url);
  if (known) return known;
  const pool = new pg.Pool({ connectionString: url, idleTimeoutMillis: 2_000, allowExitOnIdle: true });
  // Expected: tests cut connections and stop servers.
  pool.on('error', () => undefined);
  pools.set(url, pool);
  return pool;
}

const used = new WeakSet<pg.ClientBase>();

export async function onServer(url: string, statement: string): Promise<pg.QueryResult> {
  const client = await poolOf(url).connect();
  const isKept = used.has(client);
  used.add(client);
  try {
    const result = await client.query(statement);
    client.release();
    return result;
  } catch (error) {
    client.release(true);
    // The pooled connection was cut while idle.
    if (isKept && isCut(error)) return onServer(url, statement);
    throw error;
  }
}

const isCut = (error: unknown): boolean => !(error instanceof pg.DatabaseError) || error.code === '57P01';

/** Runs `work` in a transaction that is rolled back afterwards. */
export async function inTransaction(
  url: string,
  work: (query: (statement: string) => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('begin');
    await work((statement) => client.query(statement));
  } finally {
    await client.end();
  }
}

/** Whether a statement waits for a lock in this database. */
export const isSomebodyWaiting = async (url: string): Promise<boolean> => (await waitersIn(url)) > 0;

/** How many statements wait for a lock in this database. */
export async function waitersIn(url: string): Promise<number> {
  const { rows } = await onServer(
    url,
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows.length;
}

/** How many connections the service holds to this database. */
export async function connectionsTo(url: string): Promise<number> {
  const { rows } = await onServer(
    url,
    `select from pg_stat_activity where datname = current_database() and application_name = 'pakhus'`,
  );
  return rows.length;
}

/** The same server, another database. */
export function withDatabase(url: string, database: string): string {
  const [, scheme, authority, query = ''] = /^(\w+:\/\/)([^/]*)\/[^?]*(\?.*)?$/.exec(url) ?? [];
  return `${scheme}${authority}/${database}${query}`;
}

/** A migrated, empty database; dropped by the returned function. */
export async function freshDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  const server = inject('databaseServer');
  const name = `pakhus_test_${randomBytes(6).toString('hex')}`;
  await onServer(server, `create database ${name} template ${inject('templateDatabase')}`);
  return {
    url: withDatabase(server, name),
    drop: () => dropDatabase(server, name),
  };
}

/** Retries, because only a superuser may end an autovacuum that is running in the database. */
export async function dropDatabase(server: string, name: string): Promise<void> {
  await until(`${name} is dropped`, () =>
    onServer(server, `drop database if exists ${name} with (force)`).then(
      () => true,
      () => false,
    ),
  );
}

/** Queries a database directly, bypassing the service. */
export async function rowsOf<Row = Record<string, unknown>>(url: string, statement: string): Promise<Row[]> {
  return (await onServer(url, statement)).rows as Row[];
}

/** Ends all other connections of clients. Only a superuser may end an autovacuum, which can be running as well. */
export async function cutConnections(url: string): Promise<void> {
  await rowsOf(
    url,
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`,
  );
}
