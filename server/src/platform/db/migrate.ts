// Forward-only migrations. An advisory lock lets any number of instances start at once: one migrates, the
// others wait and find nothing to do. Each file commits together with the note that it has been applied.
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Logger } from '../log.ts';
import { noLockTimeout } from './pool.ts';
import type { Database, Queryable } from './postgres.ts';
import { type Sql, sql } from './sql.ts';

const folder = fileURLToPath(new URL('../../../db/migrations/', import.meta.url));
const lockKey = 7_256_487;

export const createMigrationsTable = `create table if not exists migrations
  (name text primary key, applied_at timestamptz not null default now())`;

/**
 * While a migration waits for a table, everybody else who wants it waits behind the migration. So it waits briefly at
 * first, with a pause for the others in between. The longest wait outlasts every read of a request, so that reads that
 * overlap without end do not keep it from the table for ever.
 */
const lockWaitMsMin = 1_000;
const lockWaitMsMax = 8_000;
const againMs = 3_000;
const askEveryMs = 500;

/** Applies what is missing and resolves to the names of the files that it applied. */
export async function migrate(db: Database, log: Logger, signal?: AbortSignal): Promise<string[]> {
  for (let lockWaitMs = lockWaitMsMin; ; lockWaitMs = Math.min(lockWaitMs * 2, lockWaitMsMax)) {
    const blockers = new BlockerWatch(db);
    try {
      return await migrateAtOnce(db, blockers, lockWaitMs);
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      log.warn(
        { blockers: blockers.found, retry_in_ms: againMs },
        'a table that is to be migrated is in use: trying again; if it goes on, end the transactions of these processes',
      );
      await delay(againMs, undefined, { signal });
    } finally {
      blockers.stop();
    }
  }
}

/** Who holds a lock that a migration waits for. */
interface Blocker {
  readonly pid: number;
  readonly application: string;
  readonly state: string;
  readonly query_start: string;
}

/** Asks on another connection, while the migration waits: afterwards the database does not know any more. */
class BlockerWatch {
  found: readonly Blocker[] = [];
  readonly #db: Database;
  #timer: NodeJS.Timeout | undefined;

  constructor(db: Database) {
    this.#db = db;
  }

  start(pid: number): void {
    this.#timer = setInterval(() => void this.#ask(pid).catch(() => undefined), askEveryMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #ask(pid: number): Promise<void> {
    const found = await this.#db.query<Blocker>(listBlockers(pid));
    if (found.length > 0) this.found = found;
  }
}

const listBlockers = (pid: number): Sql => sql`
  select pid, application_name as application, state, query_start from pg_stat_activity
  where pid = any(pg_blocking_pids(${pid}::int)) order by query_start limit 10`;

/** What comes first waits for as long as it takes another instance to migrate. */
async function migrateAtOnce(db: Database, blockers: BlockerWatch, lockWaitMs: number): Promise<string[]> {
  const files = await migrationFiles();
  return db.transaction(async (tx) => {
    await tx.query(noLockTimeout);
    await tx.query(sql`select pg_advisory_xact_lock(${lockKey})`);
    const [own] = await tx.query<{ pid: number }>(
      sql`select pg_backend_pid() as pid, set_config('lock_timeout', ${String(lockWaitMs)}, true)`,
    );
    blockers.start(own?.pid ?? 0);
    await tx.query(script(createMigrationsTable));
    const applied = await appliedNames(tx);
    refuseNewerDatabase(applied, files);
    const missing = files.filter((name) => !applied.has(name));
    for (const name of missing) {
      await tx.query(script(await readMigration(name)));
      await tx.query(sql`insert into migrations (name) values (${name})`);
    }
    return missing;
  }, 'long');
}

const readMigration = (name: string): Promise<string> => readFile(`${folder}${name}`, 'utf8');

/** All of them, in their order. */
export async function migrationScripts(): Promise<{ readonly name: string; readonly text: string }[]> {
  const names = await migrationFiles();
  return Promise.all(names.map(async (name) => ({ name, text: await readMigration(name) })));
}

async function migrationFiles(): Promise<string[]> {
  const names = await readdir(folder);
  return names.filter((name) => /^\d{4}_.*\.sql$/.test(name)).sort();
}

async function appliedNames(tx: Queryable): Promise<Set<string>> {
  const rows = await tx.query<{ name: string }>(sql`select name from migrations`);
  return new Set(rows.map((row) => row.name));
}

/** Whether the database is one of this release, with nothing to be migrated. */
export async function isMigrated(db: Queryable): Promise<boolean> {
  const [found] = await db.query<{ there: boolean }>(
    sql`select to_regclass('migrations') is not null as there`,
  );
  if (!found?.there) return false;
  const applied = await appliedNames(db);
  const files = await migrationFiles();
  return applied.size === files.length && files.every((name) => applied.has(name));
}

const isLockTimeout = (error: unknown): boolean =>
  ((error as Error).cause as { code?: string } | undefined)?.code === '55P03';

/** Going back to an older release would run code that does not know the tables it finds. */
function refuseNewerDatabase(applied: ReadonlySet<string>, files: readonly string[]): void {
  const unknown = [...applied].filter((name) => !files.includes(name));
  if (unknown.length > 0) {
    throw new Error(`The database was migrated by a newer release (${unknown.join(', ')}): run that release`);
  }
}

/** A whole file: several statements, which cannot be prepared. */
const script = (text: string): Sql => ({ text, values: [], name: '' });
