// Writes the whole database as SQL that psql loads into an empty one, of this or an older major version: the migrations
// make the tables, COPY fills them. All of it is read in one snapshot, so the service may go on meanwhile.
import pg from 'pg';
import { createHistoryTables, readSources } from './migrate.ts';
import type { Connection, Queryable } from './postgres.ts';
import type { Sql } from './sql.ts';

/** Tables that somebody else's code makes. */
export interface ForeignTables {
  /** SQL that makes them, empty; null where this database has none. */
  schema(db: Queryable): Promise<string | null>;
  /** What is to be copied of them, in an order in which references hold. */
  readonly tables: readonly TableSource[];
}

interface TableSource {
  /** Quoted where it has to be, with its schema. */
  readonly name: string;
  /** A condition in SQL; all rows when it is left out. */
  readonly where?: string;
}

export interface ExportResult {
  readonly tables: number;
  readonly rows: number;
}

/** The database must be one of this release: its tables are made by this release's migrations. `write` resolves when it may be called again. */
export async function exportDatabase(
  connection: Connection,
  foreign: readonly ForeignTables[],
  write: (text: string) => Promise<void>,
): Promise<ExportResult> {
  const client = new pg.Client({ ...connection, application_name: 'pakhus export' });
  // A lost connection fails the statement that waits for it; without a listener it would end the process as well.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query(beginSnapshot);
    const db = queryableOf(client);
    return await writeScript(client, db, foreign, write);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Values are printed in the one style that every server reads, whatever this one is set to. */
const beginSnapshot = `
  begin isolation level repeatable read read only;
  set local client_encoding = 'UTF8'; set local datestyle = 'ISO, YMD'; set local timezone = 'UTC';
  set local intervalstyle = 'postgres'; set local bytea_output = 'hex'; set local extra_float_digits = 1;
  set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0`;

const queryableOf = (client: pg.Client): Queryable => ({
  query: async <Row>({ text, values }: Sql) =>
    (await client.query({ text, values: values as unknown[] })).rows as Row[],
});

async function writeScript(
  client: pg.Client,
  db: Queryable,
  foreign: readonly ForeignTables[],
  write: (text: string) => Promise<void>,
): Promise<ExportResult> {
  const tables = await ownTables(client);
  const names = tables.map(({ name }) => name).join(', ');
  await write(prologue);
  await write(`${createHistoryTables};\n`);
  const { migrations, functions } = await readSources();
  for (const { name, text } of [...migrations, ...functions]) await write(`\n-- ${name}\n${text}\n`);
  // Rows go in as they are: what triggers would derive from them is copied, too.
  await write(`\n${onTriggers('disable')}truncate ${names};\n\n`);
  let rows = 0;
  for (const table of tables) rows += await writeTable(client, table, write);
  await write(`${onTriggers('enable')}\n${await sequenceValues(client)}`);
  let count = tables.length;
  for (const part of foreign) {
    const schema = await part.schema(db);
    if (schema === null) continue;
    await write(`${schema}\n${noTimeouts}\n`);
    for (const table of part.tables) rows += await writeTable(client, table, write);
    count += part.tables.length;
  }
  await write(`commit;\nanalyze;\n-- The end: ${rows} rows of ${count} tables.\n`);
  return { tables: count, rows };
}

const noTimeouts = `set local lock_timeout = 0;
set local statement_timeout = 0;
set local idle_in_transaction_session_timeout = 0;`;

const prologue = `-- A Pakhus database. Load it into an empty one: psql --no-psqlrc --file=THIS-FILE "$DATABASE_URL"
-- Everything is loaded, or nothing is.
\\set ON_ERROR_STOP on
\\set QUIET on
begin;
${noTimeouts}
set local client_encoding = 'UTF8';
set local standard_conforming_strings = on;
set local datestyle = 'ISO, YMD';
set local client_min_messages = warning;
do $$ begin
  if current_setting('server_version_num')::int < 140000 then
    raise exception 'PostgreSQL 14 or newer is needed';
  elsif current_setting('server_encoding') <> 'UTF8' then
    raise exception 'the database must be made with the encoding UTF8: create database ... encoding ''UTF8'' template template0';
  elsif exists (select from pg_tables where schemaname in ('public', 'pgboss')) then
    raise exception 'the database is not empty: load this into a new one';
  end if;
end $$;
`;

/** On every table and every partition: a partition has triggers of its own. */
const onTriggers = (what: 'enable' | 'disable'): string => `do $$ declare it regclass; begin
  for it in select oid from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') loop
    execute format('alter table %s ${what} trigger user', it);
  end loop;
end $$;
`;

interface CatalogRow {
  readonly name: string;
  readonly refers_to: string[];
}

/** Our tables, each behind those that it refers to. Partitions are read and filled through their table: the new database has its own. */
async function ownTables(client: pg.Client): Promise<TableSource[]> {
  const { rows } = await client.query<CatalogRow>(`
    select c.oid::regclass::text as name, array(select distinct k.confrelid::regclass::text from pg_constraint k
      where k.conrelid = c.oid and k.contype = 'f' and k.confrelid <> c.oid) as refers_to
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition order by 1`);
  const ordered: string[] = [];
  let waiting = rows;
  while (waiting.length > 0) {
    const free = waiting.filter(({ refers_to }) => refers_to.every((name) => ordered.includes(name)));
    if (free.length === 0)
      throw new Error(`${waiting.map(({ name }) => name).join(', ')} refer to each other`);
    ordered.push(...free.map(({ name }) => name));
    waiting = waiting.filter((row) => !free.includes(row));
  }
  return ordered.map((name) => ({ name }));
}

const rowsAtOnce = 1_000;

/** Resolves to the number of rows. */
async function writeTable(
  client: pg.Client,
  { name, where = 'true' }: TableSource,
  write: (text: string) => Promise<void>,
): Promise<number> {
  const columns = await writtenColumns(client, name);
  const texts = columns.map((column) => `${column}::text`).join(', ');
  await client.query(`declare exported no scroll cursor for select ${texts} from ${name} where ${where}`);
  await write(`copy ${name} (${columns.join(', ')}) from stdin;\n`);
  let count = 0;
  for (;;) {
    const { rows } = await client.query<(string | null)[]>({
      text: `fetch ${rowsAtOnce} from exported`,
      rowMode: 'array',
    });
    if (rows.length === 0) break;
    await write(rows.map(copyLine).join(''));
    count += rows.length;
  }
  await client.query('close exported');
  await write('\\.\n\n');
  return count;
}

/** All but those that the database computes. */
async function writtenColumns(client: pg.Client, table: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select quote_ident(attname) as name from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`,
    [table],
  );
  return rows.map(({ name }) => name);
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const copyLine = (row: readonly (string | null)[]): string =>
  `${row.map((value) => value?.replace(/[\\\n\r\t]/g, (character) => escapes[character] ?? '') ?? '\\N').join('\t')}\n`;

async function sequenceValues(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ statement: string }>(
    `select format('select setval(%L, %s);', quote_ident(sequencename), last_value) as statement
     from pg_sequences where schemaname = 'public' and last_value is not null order by 1`,
  );
  return rows.map(({ statement }) => `${statement}\n`).join('');
}
