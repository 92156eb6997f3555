// Forward-only migrations, and the functions of the database, in one transaction. An advisory lock lets any number of
// instances start at once: one migrates, the others wait and find nothing to do.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../log.ts';
import { isLockTimeout } from './outage.ts';
import { noLockTimeout } from './pool.ts';
import type { Database, Queryable } from './postgres.ts';
import { type Sql, sql } from './sql.ts';

const folder = new URL('../../../db/', import.meta.url);
const lockKey = 7_256_487;

/** The last migration before they became one baseline. */
const lastOfDevelopment = '0016_cut_short.sql';

export const createHistoryTables = `
  create table if not exists migrations (name text primary key, applied_at timestamptz not null default now());
  create table if not exists applied_functions
    (name text primary key, sha256 text not null, applied_at timestamptz not null default now())`;

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

/** Waiting for another instance that migrates has no time limit; waiting for a table has. */
async function migrateAtOnce(db: Database, blockers: BlockerWatch, lockWaitMs: number): Promise<string[]> {
  const sources = await readSources();
  return db.transaction(async (tx) => {
    await tx.query(noLockTimeout);
    await tx.query(sql`select pg_advisory_xact_lock(${lockKey})`);
    const [own] = await tx.query<{ pid: number }>(
      sql`select pg_backend_pid() as pid, set_config('lock_timeout', ${String(lockWaitMs)}, true)`,
    );
    blockers.start(own?.pid ?? 0);
    await tx.query(script(createHistoryTables));
    const migrations = await applyMigrations(tx, sources.migrations);
    return [...migrations, ...(await applyFunctions(tx, sources.functions))];
  }, 'long');
}

/** A file of SQL. */
export interface Source {
  readonly name: string;
  readonly text: string;
}

async function applyMigrations(tx: Queryable, migrations: readonly Source[]): Promise<string[]> {
  let applied = await readApplied(tx);
  const isCarriedOver = applied.has(lastOfDevelopment);
  if (isCarriedOver) {
    await tx.query(script(await readFile(new URL('carry-over.sql', folder), 'utf8')));
    applied = await readApplied(tx);
  }
  refuseNewerDatabase(applied, migrations);
  const missing = migrations.filter(({ name }) => !applied.has(name));
  for (const { name, text } of missing) {
    await tx.query(script(text));
    await tx.query(sql`insert into migrations (name) values (${name})`);
  }
  return [...(isCarriedOver ? ['carry-over.sql'] : []), ...missing.map(({ name }) => name)];
}

/**
 * Functions whose text has changed are created again. Triggers come with their function. A function whose parameters
 * change must be dropped by a migration; and a release that changes a function must have a migration, so that an older
 * release refuses the database instead of putting its own functions back.
 */
async function applyFunctions(tx: Queryable, functions: readonly Source[]): Promise<string[]> {
  const applied = await readAppliedFunctions(tx);
  const changed = functions.filter(({ name, text }) => applied.get(name) !== digest(text));
  for (const { name, text } of changed) {
    await tx.query(script(text));
    await tx.query(sql`
      insert into applied_functions (name, sha256) values (${name}, ${digest(text)})
      on conflict (name) do update set sha256 = excluded.sha256, applied_at = now()`);
  }
  return changed.map(({ name }) => name);
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** What makes the schema: migrations in their order, then functions. */
export async function readSources(): Promise<{ migrations: Source[]; functions: Source[] }> {
  const [migrations, functions] = await Promise.all([readFolder('migrations/'), readFolder('functions/')]);
  return { migrations, functions };
}

async function readFolder(name: string): Promise<Source[]> {
  const url = new URL(name, folder);
  const names = (await readdir(url)).filter((file) => file.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (file) => ({ name: file, text: await readFile(new URL(file, url), 'utf8') })),
  );
}

async function readApplied(tx: Queryable): Promise<Set<string>> {
  const rows = await tx.query<{ name: string }>(sql`select name from migrations`);
  return new Set(rows.map((row) => row.name));
}

async function readAppliedFunctions(tx: Queryable): Promise<Map<string, string>> {
  const rows = await tx.query<{ name: string; sha256: string }>(
    sql`select name, sha256 from applied_functions`,
  );
  return new Map(rows.map(({ name, sha256 }) => [name, sha256]));
}

/** How the schema of a database differs from that of this release. */
export interface SchemaState {
  /** Without any table of Pakhus. */
  readonly isEmpty: boolean;
  /** Migrations and functions that the next start applies. */
  readonly pending: readonly string[];
  /** Migrations of a newer release. */
  readonly unknown: readonly string[];
}

export async function readSchemaState(db: Queryable): Promise<SchemaState> {
  const { migrations, functions } = await readSources();
  const [found] = await db.query<{ there: boolean }>(
    sql`select to_regclass('applied_functions') is not null as there`,
  );
  if (!found?.there) return { isEmpty: true, pending: migrations.map(({ name }) => name), unknown: [] };
  const applied = await readApplied(db);
  const appliedFunctions = await readAppliedFunctions(db);
  return {
    isEmpty: false,
    pending: [
      ...migrations.filter(({ name }) => !applied.has(name)),
      ...functions.filter(({ name, text }) => appliedFunctions.get(name) !== digest(text)),
    ].map(({ name }) => name),
    unknown: applied.has(lastOfDevelopment) ? [] : findUnknown(applied, migrations),
  };
}

/** Whether the database has exactly the schema of this release. */
export async function isMigrated(db: Queryable): Promise<boolean> {
  const { isEmpty, pending, unknown } = await readSchemaState(db);
  return !isEmpty && pending.length === 0 && unknown.length === 0;
}

function findUnknown(applied: ReadonlySet<string>, migrations: readonly Source[]): string[] {
  const known = new Set(migrations.map(({ name }) => name));
  return [...applied].filter((name) => !known.has(name));
}

/** Going back to an older release would run code that does not know the tables it finds. */
function refuseNewerDatabase(applied: ReadonlySet<string>, migrations: readonly Source[]): void {
  const unknown = findUnknown(applied, migrations);
  if (unknown.length > 0) {
    throw new Error(`The database was migrated by a newer release (${unknown.join(', ')}): run that release`);
  }
}

/** A whole file: several statements, which cannot be prepared. */
const script = (text: string): Sql => ({ text, values: [], name: '' });
