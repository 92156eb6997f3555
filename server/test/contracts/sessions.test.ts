// Connections and commits, asked of a real server: what is refused at start, and what is known of a commit whose answer was
// lost.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PakhusError } from '../../src/kernel/error.ts';
import { confirmCommit } from '../../src/platform/db/commit-outcome.ts';
import { isOutcomeUnknown, TakesNoWrites } from '../../src/platform/db/outage.ts';
import { defaultTiming, prepareSession, type Session } from '../../src/platform/db/session.ts';
import type { Sql } from '../../src/platform/db/sql.ts';
import { refuseOldServer, refuseSharedSessions } from '../../src/platform/db/start-checks.ts';
import { freshDatabase } from '../support/database.ts';

let database: Awaited<ReturnType<typeof freshDatabase>>;
let client: pg.Client;
let session: Session;

beforeAll(async () => {
  database = await freshDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  session = await prepareSession(client, 'select 1', defaultTiming);
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

describe('a commit whose answer was lost', () => {
  const lost = new Error('the connection was lost');
  const read = async ({ text, values }: Sql) => (await client.query(text, values as unknown[])).rows;
  const confirm = (xid: string, on: Session = session, timeoutMs = 60_000) =>
    confirmCommit(read, on, xid, timeoutMs, lost);

  /** The id of a transaction that wrote, and ended so. */
  const transaction = async (end: 'commit' | 'rollback'): Promise<string> => {
    await client.query('begin');
    const { rows } = await client.query<{ xid: string }>('select pg_current_xact_id()::text as xid');
    await client.query(end);
    return rows[0]?.xid ?? '';
  };

  test('counts as made if the same server knows it as committed', async () => {
    await expect(confirm(await transaction('commit'))).resolves.toBeUndefined();
  });

  test.each([
    ['rolled it back', () => transaction('rollback')],
    ['has never given out its id', async () => '99999999999999'],
  ])('may be repeated if the server %s', async (_, xid) => {
    const refused = await confirm(await xid()).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(PakhusError);
    expect(isOutcomeUnknown(refused)).toBe(false);
  });

  test('stays unknown if another server has committed a transaction of that id', async () => {
    const elsewhere = { ...session, server: 'another run' };
    const refused = await confirm(await transaction('commit'), elsewhere, 150).catch(
      (error: unknown) => error,
    );
    expect(isOutcomeUnknown(refused)).toBe(true);
  });

  test('stays unknown while the transaction is under way, and if nobody answers', async () => {
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    try {
      await other.query('begin');
      const { rows } = await other.query<{ xid: string }>('select pg_current_xact_id()::text as xid');
      await expect(confirm(rows[0]?.xid ?? '', session, 150)).rejects.toSatisfy(isOutcomeUnknown);
    } finally {
      await other.end();
    }
    for (const answer of [async () => Promise.reject(lost), () => new Promise<never>(() => undefined)])
      await expect(confirmCommit(answer, session, '3', 150, lost)).rejects.toSatisfy(isOutcomeUnknown);
  });
});

describe('a connection', () => {
  test('that takes no writes is refused, and the error names the setting', async () => {
    const reader = new pg.Client({
      connectionString: database.url,
      options: '-c default_transaction_read_only=on',
    });
    await reader.connect();
    try {
      const refused = prepareSession(reader, 'select 1', defaultTiming);
      await expect(refused).rejects.toThrow(TakesNoWrites);
      await expect(refused).rejects.toThrow(/default_transaction_read_only/);
    } finally {
      await reader.end();
    }
  });

  test('to PostgreSQL itself is a session', async () => {
    await expect(refuseSharedSessions({ connectionString: database.url })).resolves.toBeUndefined();
  });

  test('to a server that is not there is an outage, not a question of pooling', async () => {
    const refused = refuseSharedSessions({ connectionString: 'postgres://nobody@127.0.0.1:1/none' });
    await expect(refused).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
  });

  test('that gets no answer is refused with what to raise', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    try {
      const { port } = silent.address() as AddressInfo;
      const refused = refuseSharedSessions({ connectionString: `postgres://nobody@127.0.0.1:${port}/none` });
      await expect(refused).rejects.toThrow(/max_connections/);
    } finally {
      silent.close();
    }
  });

  test.each([
    ['130012', false],
    ['140000', true],
    ['180001', true],
  ])('to a server of version %s is accepted: %s', async (version, isAccepted) => {
    const asked = refuseOldServer({ query: async <Row>() => [{ version }] as Row[] });
    if (isAccepted) await expect(asked).resolves.toBeUndefined();
    else await expect(asked).rejects.toThrow(/PostgreSQL 14 or newer is needed, but the server is 130012/);
  });
});
