// Checks at start that the server is new enough and that a connection is a session. A pooler that shares server
// connections mixes up prepared statements, settings and notifications: it looks ready, then fails every other request.
import pg from 'pg';
import { explainOutage } from './outage.ts';
import type { Connection, Queryable } from './postgres.ts';
import { defaultTiming } from './session.ts';
import { sql } from './sql.ts';

const oldestServer = 140_000;

export async function refuseOldServer(db: Queryable): Promise<void> {
  const [row] = await db.query<{ version: string }>(
    sql`select current_setting('server_version_num') as version`,
  );
  if (Number(row?.version) < oldestServer)
    throw new Error(`PostgreSQL 14 or newer is needed, but the server is ${row?.version}`);
}

const notSessions =
  'DATABASE_URL leads to a connection pooler that is not in session mode: set pool_mode = session (PgBouncer), or name the PostgreSQL server itself';

const tooFewConnections =
  'DATABASE_URL: the first connections work, but the next ones get no answer. A process of Pakhus needs up to 50: raise max_connections, or default_pool_size of PgBouncer';

/**
 * In session mode a client keeps one server process while it is connected. Otherwise an idle client loses its process to
 * the next one, and gets another while that one is in a transaction.
 */
export async function refuseSharedSessions(connection: Connection): Promise<void> {
  const clients = [createClient(connection), createClient(connection)] as const;
  let shared: boolean;
  try {
    for (const client of clients) await client.connect();
    shared = await areShared(...clients);
  } catch (error) {
    if (/timeout/i.test((error as Error).message)) throw new Error(tooFewConnections, { cause: error });
    throw explainOutage(error);
  } finally {
    for (const client of clients) client.connection.stream.destroy();
  }
  if (shared) throw new Error(notSessions);
}

async function areShared(first: pg.Client, second: pg.Client): Promise<boolean> {
  const seen = [await fetchPid(first), await fetchPid(first)];
  try {
    await second.query('begin');
  } catch (error) {
    if (isStatementMode(error)) return true;
    throw error;
  }
  const others = [await fetchPid(second)];
  // With a single process for both, the first client would wait for the end of this transaction.
  if (others[0] === seen[0]) return true;
  seen.push(await fetchPid(first));
  await second.query('commit');
  others.push(await fetchPid(second), await fetchPid(second));
  seen.push(await fetchPid(first));
  return new Set(seen).size > 1 || new Set(others).size > 1;
}

/** PgBouncer in statement mode rejects transactions with this code. */
const isStatementMode = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === '08P01';

function createClient(connection: Connection): pg.Client {
  const client = new pg.Client({
    ...connection,
    connectionTimeoutMillis: defaultTiming.connectMs,
    query_timeout: defaultTiming.readMs,
    application_name: 'pakhus',
  });
  client.on('error', () => undefined);
  return client;
}

async function fetchPid(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid;
}
