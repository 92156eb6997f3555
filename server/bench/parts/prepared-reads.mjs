// One-row reads of 30 columns in three ways, 32 at a time. Needs DATABASE_URL. See docs/adr/0007-reads-on-pg-internals.md.
import pg from 'pg';
import { openDatabase } from '../../dist/platform/db/postgres.js';
import { sql } from '../../dist/platform/db/sql.js';
import { createLogger } from '../../dist/platform/log.js';
import { compare } from './support.mjs';

const connectionString = process.env.DATABASE_URL;
const columnCount = 30;
const values = Array(columnCount).fill('x');
const columns = values.map((_, at) => `::text || '${at}' as column_${at}`);
const text = `select ${columns.map((column, at) => `$${at + 1}${column}`).join(', ')}`;
const db = openDatabase({ connection: { connectionString }, log: createLogger('silent') });
const pipelined = new pg.Client({ connectionString, pipeline: true });
await pipelined.connect();
const statement = sql(
  ['select ', ...columns.map((column, at) => (at < columnCount - 1 ? `${column}, ` : column))],
  ...values,
);

const ways = {
  'pool, named statement': () => db.query(statement),
  'pipelined, named statement': () => pipelined.query({ name: 'bench', text, values }),
  'prepared read': () => db.read(statement),
};
const repeat = (read) => async (count) => {
  let left = count;
  const loop = async () => {
    while (left-- > 0) await read();
  };
  await Promise.all(Array.from({ length: 32 }, loop));
};
await compare(
  'read of one row',
  Object.fromEntries(Object.entries(ways).map(([name, read]) => [name, repeat(read)])),
  { count: 4_000, rounds: 6 },
);
await pipelined.end();
await db.close();
