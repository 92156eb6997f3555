// Guarantees of the database port, above all for reads that share a connection.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { deferred } from '../../src/kernel/async/deferred.ts';
import { type Database, openDatabase } from '../../src/platform/db/postgres.ts';
import { sql } from '../../src/platform/db/sql.ts';
import { createLogger } from '../../src/platform/log.ts';
import { connectionsTo, cutConnections, freshDatabase, onServer, rowsOf } from '../support/database.ts';
import { until } from '../support/processes.ts';

let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: Database;

beforeAll(async () => {
  database = await freshDatabase();
  db = openDatabase({ connection: { connectionString: database.url }, log: createLogger('silent') });
});

afterAll(async () => {
  await db.close();
  await database.drop();
});

const everyType = (n: number) => sql`
  select ${n}::int as n, ${n}::bigint as big, 'x' || ${n}::text as text, null::text as nothing, true as yes,
    array['a', null, 'c'] as list, '{"a": [1]}'::jsonb as json, '\\x00ff'::bytea as bytes,
    '2026-01-02 03:04:05.678+00'::timestamptz as moment`;

test('db.read: returns the same as db.query, on the first and on later uses of a statement', async () => {
  const numbers = Array.from({ length: 200 }, (_, n) => n);
  const asked = await Promise.all(numbers.map((n) => db.query(everyType(n))));
  // In the second round every connection already knows the columns.
  for (let round = 0; round < 2; round++) {
    expect(await Promise.all(numbers.map((n) => db.read(everyType(n))))).toEqual(asked);
    for (const n of [1, 2, 3, 4]) expect(await db.read(everyType(n))).toEqual(asked[n]);
  }
});

test('db.read: returns many rows, no rows and rows without columns', async () => {
  for (let round = 0; round < 8; round++) {
    expect(await db.read(sql`select n from generate_series(1, ${1000}::int) n`)).toHaveLength(1000);
    expect(await db.read(sql`select n from generate_series(1, ${0}::int) n`)).toEqual([]);
    expect(await db.read(sql`select`)).toEqual([{}]);
  }
});

test('db.read: a failing read does not affect those before and after it', async () => {
  const divide = (by: number) => db.read(sql`select 12 / ${by}::int as part`);
  for (let round = 0; round < 8; round++) {
    const settled = await Promise.allSettled([divide(3), divide(0), divide(4)]);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(settled[2]).toMatchObject({ value: [{ part: 3 }] });
  }
});

test('db.read: if columns change under a prepared statement, the read fails instead of mixing them up', async () => {
  await db.query(sql`create table shapes (a int, b int)`);
  await db.query(sql`insert into shapes values (1, 2)`);
  const read = () => db.read(sql`select * from shapes`);
  for (let lane = 0; lane < 4; lane++) expect(await read()).toEqual([{ a: 1, b: 2 }]);
  await db.query(sql`alter table shapes drop column a`);
  for (let lane = 0; lane < 4; lane++) await expect(read()).rejects.toThrow(/must not change result type/);
});

test('db.read: reports an outage when its connections are cut, and recovers', async () => {
  const read = () => db.read(sql`select ${7}::int as seven`);
  for (let lane = 0; lane < 4; lane++) await read();
  await cutConnections(database.url);
  const settled = await Promise.allSettled(Array.from({ length: 16 }, read));
  for (const outcome of settled) {
    if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ status: 503 });
    else expect(outcome.value).toEqual([{ seven: 7 }]);
  }
  await expect.poll(() => read().catch(() => null)).toEqual([{ seven: 7 }]);
});

test('db.transaction: two transactions in a deadlock are both committed, each once', async () => {
  await rowsOf(database.url, 'create table tangle (id int primary key, done int not null)');
  await rowsOf(database.url, 'insert into tangle values (1, 0), (2, 0)');
  let inside = 0;
  let tries = 0;
  const bothInside = deferred<void>();
  const inOrder = (first: number, second: number) =>
    db.transaction(async (tx) => {
      tries += 1;
      await tx.query(sql`update tangle set done = done + 1 where id = ${first}`);
      inside += 1;
      if (inside === 2) bothInside.resolve();
      await bothInside.promise;
      await tx.query(sql`update tangle set done = done + 1 where id = ${second}`);
    });
  await Promise.all([inOrder(1, 2), inOrder(2, 1)]);
  // The second attempt may be in a deadlock again, if it is quicker than the other one wakes up.
  expect(tries).toBeGreaterThan(2);
  expect(await rowsOf(database.url, 'select * from tangle order by id')).toEqual([
    { id: 1, done: 2 },
    { id: 2, done: 2 },
  ]);
});

test('db.transaction: a connection cut during or between statements fails its own transaction only', async () => {
  const cut = (pid: number) => rowsOf(database.url, `select pg_terminate_backend(${pid}, 5000)`);
  const backend = sql`select pg_backend_pid() as pid`;
  const between = db.transaction(async (tx) => {
    const [own] = await tx.query<{ pid: number }>(backend);
    await cut(own?.pid ?? 0);
    return tx.query(sql`select 1`);
  });
  await expect(between).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
  const atWork = db.transaction(async (tx) => {
    const [own] = await tx.query<{ pid: number }>(backend);
    const [, asked] = await Promise.allSettled([cut(own?.pid ?? 0), tx.query(sql`select pg_sleep(${60})`)]);
    if (asked.status === 'rejected') throw asked.reason;
  });
  await expect(atWork).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
  expect(await db.transaction((tx) => tx.query(sql`select 1 as n`))).toEqual([{ n: 1 }]);
});

describe('db.listen', () => {
  let listening: Database;
  beforeEach(() => {
    listening = openDatabase({ connection: { connectionString: database.url }, log: createLogger('silent') });
  });
  afterEach(() => listening.close());

  const notify = (channel: string, payload: string) =>
    onServer(database.url, `select pg_notify('${channel}', '${payload}')`);

  test('all channels share a connection, and each hears its own', async () => {
    const heard: string[] = [];
    const before = await connectionsTo(database.url);
    const stops = await Promise.all(
      ['one', 'two', 'two', 'three'].map((channel) =>
        listening.listen(channel, (payload) => heard.push(`${channel} ${payload}`)),
      ),
    );
    expect(await connectionsTo(database.url)).toBe(before + 1);
    for (const channel of ['one', 'two', 'three', 'four']) await notify(channel, 'first');
    await expect.poll(() => heard).toEqual(['one first', 'two first', 'two first', 'three first']);
    await stops[1]?.();
    await notify('two', 'second');
    await expect.poll(() => heard.slice(4)).toEqual(['two second']);
    await Promise.all(stops.map((stop) => stop()));
    await expect.poll(() => connectionsTo(database.url)).toBe(before);
  });

  test('after its connection is cut, every channel is heard again, also one that came meanwhile', async () => {
    const heard = new Set<string>();
    const listen = (channel: string) => listening.listen(channel, () => heard.add(channel));
    const stops = [await listen('one'), await listen('two')];
    await cutConnections(database.url);
    stops.push(await until('a third channel', () => listen('three').catch(() => false as const)));
    await until('a message on each channel', async () => {
      for (const channel of ['one', 'two', 'three']) await notify(channel, 'again');
      return heard.size === 3;
    });
    for (const stop of stops) await stop();
    // The last one has closed the connection: the next one opens another.
    await (await listen('four'))();
  });

  test('a server that cannot be reached is an error for everybody who asks', async () => {
    const lost = openDatabase({
      connection: { host: '127.0.0.1', port: 1, user: 'nobody', database: 'none' },
      log: createLogger('silent'),
    });
    await expect(lost.listen('one', () => undefined)).rejects.toThrow();
    await expect(lost.listen('two', () => undefined)).rejects.toThrow();
    await lost.close();
  });
});
