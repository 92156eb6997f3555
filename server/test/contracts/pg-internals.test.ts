// Internals of `pg` that platform/db relies on, beyond its documented interface. If one of these fails after an
// update of `pg`, read prepared-read.ts, read-connections.ts and session.ts against its new source.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import pg from 'pg';
import { expect, test } from 'vitest';
import { PreparedReads } from '../../src/platform/db/prepared-read.ts';
import { sql } from '../../src/platform/db/sql.ts';
import { freshDatabase } from '../support/database.ts';

interface QueryInternals {
  name: string;
  readonly text: string;
  readonly values: readonly unknown[];
  readonly callback: unknown;
  requiresPreparation(): boolean;
  prepare(connection: unknown): void;
}

const Query = pg.Query as unknown as new (
  text: string,
  values: readonly unknown[],
  callback: () => void,
) => QueryInternals;

/** Notes which messages a query sends. */
function recordingConnection() {
  const sent: string[] = [];
  const note = (message: string) => () => sent.push(message);
  const messages = ['parse', 'bind', 'describe', 'execute', 'flush', 'sync', 'close'];
  return {
    sent,
    parsedStatements: {},
    submittedNamedStatements: {},
    ...Object.fromEntries(messages.map((message) => [message, note(message)])),
  };
}

test('pg: the installed version is the pinned one', () => {
  const read = (path: string | URL) => JSON.parse(readFileSync(path, 'utf8'));
  const pinned = read(new URL('../../package.json', import.meta.url)).dependencies.pg;
  expect(read(createRequire(import.meta.url).resolve('pg/package.json')).version).toBe(pinned);
});

test('pg: Query takes text, values and callback, and prepares what has a name', () => {
  const callback = () => undefined;
  const query = new Query('select $1', ['a'], callback);
  expect(query).toMatchObject({ text: 'select $1', values: ['a'], callback });
  query.name = 'named';
  expect(query.requiresPreparation()).toBe(true);
});

test('pg: Query has the handlers that a prepared read overrides', () => {
  for (const handler of [
    'handleRowDescription',
    'handleDataRow',
    'handleCommandComplete',
    'handleReadyForQuery',
  ])
    expect(Query.prototype, handler).toHaveProperty(handler);
});

test('pg: Query.prepare sends parse once, and asks for a description every time', () => {
  const connection = recordingConnection();
  for (let n = 0; n < 2; n += 1) {
    const query = new Query('select 1', [], () => undefined);
    query.name = 'named';
    query.prepare(connection);
  }
  const execution = ['bind', 'describe', 'execute', 'sync'];
  expect(connection.sent).toEqual(['parse', ...execution, ...execution]);
});

test('pg: a pipelined client describes a prepared read once per connection, and reads the same rows', async () => {
  const database = await freshDatabase();
  const client = new pg.Client({ connectionString: database.url, pipeline: true } as pg.ClientConfig);
  try {
    await client.connect();
    let descriptions = 0;
    client.connection.on('rowDescription', () => {
      descriptions += 1;
    });
    const unwatched = { sent: () => undefined, answered: () => undefined, allowStuckFor: () => undefined };
    const reads = new PreparedReads(client, unwatched);
    const read = (n: number) => reads.read(sql`select ${n}::int as n, ${'text'} as t, null::text as nothing`);
    const expected = [1, 2, 3].map((n) => [{ n, t: 'text', nothing: null }]);
    expect([await read(1), ...(await Promise.all([read(2), read(3)]))]).toEqual(expected);
    expect(descriptions).toBe(1);
  } finally {
    await client.end();
    await database.drop();
  }
});

test('pg: several statements in one query resolve to one result each', async () => {
  const database = await freshDatabase();
  const client = new pg.Client({ connectionString: database.url });
  try {
    await client.connect();
    const results = await client.query('select 1 as a; select 2 as b');
    expect(Array.isArray(results) && results.map(({ rows }) => rows)).toEqual([[{ a: 1 }], [{ b: 2 }]]);
    expect(client.connection.stream.writable).toBe(true);
  } finally {
    await client.end();
    await database.drop();
  }
});
