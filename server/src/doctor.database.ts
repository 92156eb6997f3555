// Checks the database: reachable, new enough, writable, migrated, and set so that nothing is lost.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from './contract/settings.ts';
import { type Report, showAddress } from './doctor.findings.ts';
import { reasonOf } from './kernel/error.ts';
import { findEmbeddedConnection } from './platform/db/embedded.ts';
import { findPackage } from './platform/db/embedded-binaries.ts';
import { readSchemaState } from './platform/db/migrate.ts';
import { type Connection, type Database, openDatabase } from './platform/db/postgres.ts';
import { sql } from './platform/db/sql.ts';
import { refuseSharedSessions } from './platform/db/start-checks.ts';
import { createLogger } from './platform/log.ts';

const oldestVersion = 140_000;
/** A process opens up to so many. */
const connectionsPerProcess = 50;
const driftMsMax = 2_000;

interface Facts {
  readonly version: string;
  readonly version_number: number;
  readonly database: string;
  readonly schema: string | null;
  readonly is_read_only: boolean;
  readonly may_create: boolean | null;
  readonly may_create_schemas: boolean;
  readonly has_queue: boolean;
  readonly fsync: string;
  readonly full_page_writes: string;
  readonly synchronous_commit: string;
  readonly connections: number;
  readonly now_ms: number;
}

/** Resolves to the addresses of recent clients, for the check of the proxy. */
export async function examineDatabase(settings: Settings, report: Report): Promise<readonly string[]> {
  const connection = await findConnection(settings, report);
  if (connection === null) return [];
  const db = openDatabase({ connection, log: createLogger('silent') });
  try {
    const facts = await readFacts(settings, db, report);
    if (facts === null) return [];
    judgeSettings(facts, report);
    if (settings.DATABASE_URL !== null)
      await judgeSessions({ connectionString: settings.DATABASE_URL }, report);
    await judgeRights(db, facts, report);
    return (await judgeSchema(db, report)) ? await listRecentClients(db) : [];
  } finally {
    await db.close();
  }
}

async function findConnection(
  { DATABASE_URL, DATA_DIR }: Settings,
  report: Report,
): Promise<Connection | null> {
  if (DATABASE_URL !== null) return { connectionString: DATABASE_URL };
  try {
    findPackage();
  } catch (error) {
    report.failed(reasonOf(error), 'set DATABASE_URL to a PostgreSQL server');
    return null;
  }
  if (!existsSync(join(DATA_DIR, 'postgres'))) {
    report.skipped(`embedded, not created yet: the first start creates it in ${join(DATA_DIR, 'postgres')}`);
    return null;
  }
  return findEmbeddedConnection(DATA_DIR);
}

async function readFacts(settings: Settings, db: Database, report: Report): Promise<Facts | null> {
  const startedAt = Date.now();
  try {
    const [facts] = await db.query<Facts>(selectFacts);
    if (!facts) throw new Error('no answer');
    const where = settings.DATABASE_URL === null ? 'embedded' : showAddress(settings.DATABASE_URL);
    report.ok(`PostgreSQL ${facts.version} answers (${where})`);
    judgeTime(facts.now_ms - (startedAt + Date.now()) / 2, report);
    return facts;
  } catch (error) {
    const reason = reasonOf((error as Error).cause ?? error);
    if (settings.DATABASE_URL === null && /ENOENT|ECONNREFUSED/.test(reason))
      report.skipped('embedded, not running: it runs as long as the service does');
    else
      report.failed(
        `cannot be used (${reason})`,
        'check DATABASE_URL, its login, and that the server runs and lets this machine in',
      );
    return null;
  }
}

const selectFacts = sql`
  select current_setting('server_version') as version, current_setting('server_version_num')::int as version_number,
    current_database() as database, current_schema() as schema,
    pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' as is_read_only,
    has_schema_privilege(current_schema(), 'create') as may_create,
    has_database_privilege(current_database(), 'create') as may_create_schemas,
    to_regnamespace('pgboss') is not null as has_queue,
    current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
    current_setting('synchronous_commit') as synchronous_commit,
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as connections,
    (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`;

function judgeTime(driftMs: number, report: Report): void {
  const seconds = (Math.abs(driftMs) / 1000).toFixed(1);
  if (Math.abs(driftMs) > driftMsMax)
    report.warning(
      `its clock is ${seconds} s ${driftMs > 0 ? 'ahead of' : 'behind'} the clock here`,
      'synchronise both by NTP: expiry times depend on them',
    );
  else report.ok(`its clock agrees with the clock here (${seconds} s)`);
}

function judgeSettings(facts: Facts, report: Report): void {
  if (facts.version_number < oldestVersion)
    report.failed(`PostgreSQL ${facts.version} is too old`, 'upgrade the server to 14 or newer');
  if (facts.is_read_only)
    report.failed(
      'the server takes no writes: it is a standby or read-only',
      'name the primary in DATABASE_URL',
    );
  for (const name of ['fsync', 'full_page_writes', 'synchronous_commit'] as const)
    if (facts[name] === 'off')
      report.warning(`${name} is off: a power cut can lose confirmed files`, `set ${name} = on`);
  if (facts.connections < connectionsPerProcess)
    report.warning(
      `max_connections leaves ${facts.connections} connections, and a process of Pakhus uses up to ${connectionsPerProcess}`,
      `set max_connections to ${connectionsPerProcess} for each process and a reserve`,
    );
  else
    report.ok(
      `max_connections is enough for this many processes: ${Math.floor(facts.connections / connectionsPerProcess)}`,
    );
}

async function judgeSessions(connection: Connection, report: Report): Promise<void> {
  try {
    await refuseSharedSessions(connection);
    report.ok('a connection is a session of its own');
  } catch (error) {
    report.failed((error as Error).message, 'see the section PostgreSQL of the guide for operators');
  }
}

async function judgeRights(db: Database, facts: Facts, report: Report): Promise<void> {
  const missing: string[] = [];
  if (facts.schema === null) missing.push('use any schema of the search_path');
  else if (!facts.may_create) missing.push(`create tables in the schema ${facts.schema}`);
  if (!facts.has_queue && !facts.may_create_schemas) missing.push('create the schema pgboss');
  if (missing.length > 0)
    report.failed(
      `the login may not ${missing.join(' nor ')}`,
      `make it the owner of the database: alter database ${facts.database} owner to …`,
    );
  const [foreign] = await db.query<{ tables: number }>(countForeignTables);
  if (foreign && foreign.tables > 0)
    report.failed(
      `${foreign.tables} tables belong to another login, so that an upgrade could not change them`,
      'make the login of DATABASE_URL their owner (reassign owned by … to …)',
    );
  else if (missing.length === 0) report.ok('the login may create and change tables');
}

/** Tables that the login could not alter. */
const countForeignTables = sql`
  select count(*)::int as tables from pg_class c
  where c.relkind in ('r', 'p') and c.relnamespace in (to_regnamespace(current_schema()), to_regnamespace('pgboss'))
    and not pg_has_role(c.relowner, 'usage')`;

/** Resolves to whether the tables can be read. */
async function judgeSchema(db: Database, report: Report): Promise<boolean> {
  const { isEmpty, pending, unknown } = await readSchemaState(db);
  if (unknown.length > 0)
    report.failed(
      `a newer release has migrated the database (${unknown.join(', ')})`,
      'run that release: an older one refuses to start',
    );
  else if (isEmpty) report.ok('not migrated yet: the first start creates the tables');
  else if (pending.length > 0)
    report.warning(
      `${pending.length} changes of the schema are pending (${pending.slice(0, 3).join(', ')}${pending.length > 3 ? ', …' : ''})`,
      'back up the database, then start this release: it applies them',
    );
  else report.ok('its schema is that of this release');
  return !isEmpty;
}

const clientsLookedAt = 200;

const listRecentClients = async (db: Database): Promise<string[]> =>
  (
    await db.query<{ ip_address: string }>(sql`
      select ip_address from audit_logs where ip_address is not null order by created_at desc limit ${clientsLookedAt}`)
  ).map((row) => row.ip_address);
