// Opens the configured database: a PostgreSQL server, or the embedded one below DATA_DIR.
import { setTimeout as delay } from 'node:timers/promises';
import type { Undo } from './app.undo.ts';
import type { Settings } from './contract/settings.ts';
import { PakhusError, reasonOf } from './kernel/error.ts';
import { joinEmbeddedPostgres, startEmbeddedPostgres } from './platform/db/embedded.ts';
import { type Connection, type Database, openDatabase } from './platform/db/postgres.ts';
import type { DatabaseTiming } from './platform/db/session.ts';
import { sql } from './platform/db/sql.ts';
import { refuseOldServer, refuseSharedSessions } from './platform/db/start-checks.ts';
import type { Logger } from './platform/log.ts';

/** No other server takes the place of the embedded one, so its connections need not be replaced to find out. */
const embeddedTiming: Partial<DatabaseTiming> = { ageMs: 600_000 };

const reachableWithinMs = 30_000;
const retryDelayMsMax = 3_000;

export async function openConfiguredDatabase(
  settings: Settings,
  log: Logger,
  undo: Undo[],
  signal?: AbortSignal,
  timing?: Partial<DatabaseTiming>,
): Promise<Database> {
  const connection = await openConnection(settings, log, undo, startEmbeddedPostgres);
  return openReachable(connection, log, undo, signal, timing);
}

/** Alongside a service that may be running, for work that does not interfere with it. */
export async function joinConfiguredDatabase(
  settings: Settings,
  log: Logger,
  undo: Undo[],
): Promise<{ readonly db: Database; readonly connection: Connection }> {
  const connection = await openConnection(settings, log, undo, joinEmbeddedPostgres);
  return { connection, db: await openReachable(connection, log, undo) };
}

/**
 * Retries a start that the database interrupted. A server that answered the first statement may still refuse a later
 * one, because it has no connections left or because it restarts.
 */
export async function retryingOutages<Result>(
  start: () => Promise<Result>,
  log: Logger,
  signal: AbortSignal | undefined,
): Promise<Result> {
  const giveUpAt = Date.now() + reachableWithinMs;
  for (let waitMs = 500; ; waitMs = Math.min(waitMs * 2, retryDelayMsMax)) {
    try {
      return await start();
    } catch (error) {
      if (!isDatabaseOutage(error) || Date.now() + waitMs > giveUpAt) throw error;
      log.warn({ err: error, retry_in_ms: waitMs }, 'the database failed during the start, retrying');
      await delay(waitMs, undefined, { signal });
    }
  }
}

const isDatabaseOutage = (error: unknown): boolean =>
  error instanceof PakhusError && error.details.part === 'database';

async function openConnection(
  { DATABASE_URL, DATA_DIR }: Settings,
  log: Logger,
  undo: Undo[],
  openEmbedded: typeof startEmbeddedPostgres,
): Promise<Connection> {
  if (DATABASE_URL !== null) return { connectionString: DATABASE_URL };
  const embedded = await openEmbedded({ dataDir: DATA_DIR, log });
  undo.push(() => embedded.stop());
  return embedded.connection;
}

async function openReachable(
  connection: Connection,
  log: Logger,
  undo: Undo[],
  signal?: AbortSignal,
  timing?: Partial<DatabaseTiming>,
): Promise<Database> {
  const isEmbedded = !('connectionString' in connection);
  const db = openDatabase({
    connection,
    log,
    timing: isEmbedded ? { ...embeddedTiming, ...timing } : timing,
  });
  undo.push(() => db.close());
  await untilReachable(db, log, signal);
  await refuseOldServer(db);
  // No pooler can be between us and the embedded server: it listens on a unix socket.
  if (!isEmbedded) await refuseSharedSessions(connection);
  return db;
}

/** The server may come up later than this process. */
async function untilReachable(db: Database, log: Logger, signal?: AbortSignal): Promise<void> {
  const giveUpAt = Date.now() + reachableWithinMs;
  for (let waitMs = 100; ; waitMs = Math.min(waitMs * 2, retryDelayMsMax)) {
    try {
      await db.query(sql`select 1`);
      return;
    } catch (error) {
      const reason = reasonOf((error as Error).cause ?? error);
      if (Date.now() + waitMs > giveUpAt) {
        throw new Error(
          `The database could not be used for ${reachableWithinMs / 1000} s (${reason}): check DATABASE_URL and the server`,
        );
      }
      log.warn({ reason, retry_in_ms: waitMs }, 'the database cannot be used yet, retrying');
      await delay(waitMs, undefined, { signal });
    }
  }
}
