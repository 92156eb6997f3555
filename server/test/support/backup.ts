// The backup and restore of docs/operations.md: with PostgreSQL's tools if they are as new as the server, otherwise by
// reading every table in one snapshot.
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';

const run = promisify(execFile);

export interface Dump {
  readonly by: 'pg_dump' | 'reading';
  /** Restores into an empty database; `migrated` is one that already has all tables. */
  restore(target: { empty: string; migrated: string }): Promise<void>;
}

export async function dumpDatabase(url: string, folder: string): Promise<Dump> {
  const tools = await toolsFor(url);
  return tools === null ? readTables(url) : dumpWith(tools, url, folder);
}

async function dumpWith(tools: string, url: string, folder: string): Promise<Dump> {
  const file = join(folder, 'database.dump');
  await run(join(tools, 'pg_dump'), ['--format=custom', '--no-owner', `--file=${file}`, url]);
  return {
    by: 'pg_dump',
    restore: async ({ empty }) =>
      void (await run(join(tools, 'pg_restore'), [
        '--exit-on-error',
        '--no-owner',
        `--dbname=${empty}`,
        file,
      ])),
  };
}

/** The folder of a pg_dump at least as new as the server, or null. */
async function toolsFor(url: string): Promise<string | null> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(`select current_setting('server_version_num')::int / 10000 as major`);
  await client.end();
  const installed = await readdir('/usr/lib/postgresql').catch(() => []);
  const folders = ['', ...installed.map((version) => `/usr/lib/postgresql/${version}/bin`)];
  for (const folder of folders) {
    const { stdout } = await run(join(folder, 'pg_dump'), ['--version']).catch(() => ({ stdout: '' }));
    if (Number(/ (\d+)/.exec(stdout)?.[1] ?? 0) >= rows[0].major) return folder;
  }
  return null;
}

/** In order of creation: a table refers to older ones only. */
const tablesOfPakhus = `select relname as table_name from pg_class
  where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
    and relname not like '%migrations%' order by oid`;

/** All columns except generated ones. */
const writtenColumns = `select string_agg(quote_ident(attname), ', ') as names from pg_attribute
  where attrelid = quote_ident($1)::regclass and attnum > 0 and not attisdropped and attgenerated = ''`;

async function readTables(url: string): Promise<Dump> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('begin isolation level repeatable read read only');
  const held = new Map<string, string>();
  for (const { table_name: table } of (await client.query(tablesOfPakhus)).rows) {
    const { rows } = await client.query(`select coalesce(jsonb_agg(t), '[]')::text as all from "${table}" t`);
    held.set(table, rows[0].all);
  }
  await client.query('commit');
  await client.end();
  return { by: 'reading', restore: ({ migrated }) => writeTables(migrated, held) };
}

async function writeTables(url: string, held: ReadonlyMap<string, string>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const [table, rows] of held) {
      const columns = (await client.query(writtenColumns, [table])).rows[0].names;
      await client.query(
        `insert into "${table}" (${columns}) overriding system value
         select ${columns} from jsonb_populate_recordset(null::"${table}", $1::jsonb) on conflict do nothing`,
        [rows],
      );
    }
  } finally {
    await client.end();
  }
}

/** Adds new files to a copy and deletes none. Files that disappear meanwhile are not an error. */
export async function copyObjects(from: string, to: string): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true }).catch(ignoreGone)) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.name === 'tmp') continue;
    if (entry.isDirectory()) await copyObjects(source, target);
    else {
      await mkdir(to, { recursive: true });
      await copyFile(source, target).catch(ignoreGone);
    }
  }
}

function ignoreGone(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT') return [];
  throw error;
}
