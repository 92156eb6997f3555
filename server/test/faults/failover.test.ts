// The primary database fails and its standby takes over, behind a proxy that routes new connections to the standby and
// keeps the old ones. Nothing confirmed is lost or doubled, every request is answered, and a replaced server
// authenticates nobody.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { withTimeout } from '../../src/kernel/async/time-limit.ts';
import { apiOf, type Reply } from '../support/api.ts';
import { bytesOf, sha256 } from '../support/bytes.ts';
import { rowsOf } from '../support/database.ts';
import { wrongCounters } from '../support/ledger.ts';
import { startTestPakhus, type TestPakhus, testSecrets } from '../support/pakhus.ts';
import { type PostgresPair, postgresBin, startPostgresPair } from '../support/postgres-pair.ts';
import { startProcess } from '../support/process.ts';
import { until } from '../support/processes.ts';
import { proxyDatabase, type TcpProxy } from '../support/tcp-proxy.ts';
import { adminSession, createTenant, createUser, mintToken, unique } from '../support/tenants.ts';
import { upload } from '../support/uploads.ts';

if (!postgresBin) console.log('SKIPPED failover: no PostgreSQL server below /usr/lib/postgresql');

/** Like the defaults, but faster. */
const timing = {
  connectMs: 1_000,
  readMs: 2_000,
  writeMs: 2_000,
  inquiryMs: 1_000,
  suspiciousMs: 500,
  slowMs: 200,
  ageMs: 3_000,
  checkMs: 50,
};

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  // A service that cannot stop because a commit hangs must not block the removal of the servers.
  for (const cleanUp of cleanUps.splice(0).reverse()) await withTimeout(15_000, cleanUp());
});

interface Setup {
  readonly pair: PostgresPair;
  readonly proxy: TcpProxy;
  readonly service: TestPakhus;
  readonly projectId: string;
  readonly key: string;
  readonly userId: string;
  readonly path: string;
}

async function setUp(): Promise<Setup> {
  const pair = await startPostgresPair();
  cleanUps.push(() => pair.remove());
  const { proxy, url } = await proxyDatabase(pair.primary.url);
  cleanUps.push(() => proxy.close());
  const service = await startTestPakhus({ DATABASE_URL: url }, undefined, { databaseTiming: timing });
  cleanUps.push(() => service.stop());
  const { id, key } = await createTenant(service.api, await adminSession(service.api));
  const user = await createUser(service.api, key);
  return { pair, proxy, service, projectId: id, key, userId: user.id, path: `/project/users/${user.id}` };
}

/** The load of the clients, and the answers they got. */
interface Load {
  readonly stored: Map<string, string>;
  readonly deleted: Set<string>;
  readonly users: Set<string>;
  readonly revoked: Set<string>;
  /** Files whose upload got an unknown outcome. */
  readonly unknown: Set<string>;
  /** How many requests got the answer that the database is down. */
  refused(): number;
  stop(): Promise<void>;
}

function startLoad({ service: { api }, key, path, userId }: Setup): Load {
  const stored = new Map<string, string>();
  const deleted = new Set<string>();
  const users = new Set<string>();
  const revoked = new Set<string>();
  const unknown = new Set<string>();
  let refused = 0;
  let over = false;
  const noteRefusal = ({ status, body, text }: Reply) => {
    expect([status, body.error?.code], text).toEqual([503, 'STORAGE_UNAVAILABLE']);
    if (body.error.details.file_id) unknown.add(body.error.details.file_id);
    refused += 1;
  };
  const uploads = async (seed: number) => {
    for (let nth = 0; !over; nth += 1) {
      const bytes = bytesOf(1_500, seed * 64 + (nth % 64));
      const reply = await upload(api, key, path, bytes);
      if (reply.status === 201) stored.set(reply.body.file.id, sha256(bytes));
      else noteRefusal(reply);
    }
  };
  const deletes = async () => {
    while (!over) {
      const reply = await upload(api, key, path, bytesOf(10));
      if (reply.status !== 201) noteRefusal(reply);
      else {
        const gone = await api.delete(`${path}/files/${reply.body.file.id}`, key);
        if (gone.status === 204) deleted.add(reply.body.file.id);
        else {
          noteRefusal(gone);
          unknown.add(reply.body.file.id);
        }
      }
    }
  };
  const others = async () => {
    while (!over) {
      const made = await api.post('/project/users', key, { externalId: unique('load') });
      if (made.status === 201) users.add(made.body.user.id);
      else noteRefusal(made);
      const minted = await api.post(`/project/users/${userId}/tokens`, key, {});
      if (minted.status !== 201) noteRefusal(minted);
      else {
        const ended = await api.post(`${path}/tokens/revoke`, key, { jti: minted.body.jti });
        if (ended.status < 300) revoked.add(minted.body.token);
        else noteRefusal(ended);
      }
    }
  };
  const working = Promise.all([uploads(1), uploads(2), uploads(3), deletes(), others()]);
  return {
    stored,
    deleted,
    users,
    revoked,
    unknown,
    refused: () => refused,
    async stop() {
      over = true;
      await working;
    },
  };
}

const works = async ({ service: { api }, key, path }: Setup) =>
  (await upload(api, key, path, bytesOf(10))).status === 201 && (await api.get('/health')).status === 200;

/** The invariants on the current primary. */
async function expectIntact({ service: { api }, key, path, projectId }: Setup, load: Load, url: string) {
  for (const [fileId, digest] of load.stored) {
    const reply = await api.get(`${path}/files/${fileId}`, key);
    expect(reply.status, `file ${fileId} that was confirmed`).toBe(200);
    const download = await fetch(reply.body.file.url);
    expect(sha256(Buffer.from(await download.arrayBuffer()))).toBe(digest);
  }
  expect(await wrongCounters({ databaseUrl: url })).toEqual([]);
  const audits = await rowsOf<{ action: string; resource_id: string; times: number }>(
    url,
    `select action, resource_id, count(*)::int as times from audit_logs where project_id = '${projectId}' group by 1, 2`,
  );
  const timesOf = (action: string, id: string) =>
    audits.find((row) => row.action === action && row.resource_id === id)?.times;
  for (const fileId of load.stored.keys()) expect(timesOf('file.upload', fileId)).toBe(1);
  for (const fileId of load.deleted) expect(timesOf('file.delete', fileId)).toBe(1);
  for (const userId of load.users) expect(timesOf('user.create', userId)).toBe(1);
  for (const token of load.revoked) expect((await api.get(`${path}/files`, token)).status).toBe(401);
}

/** Pakhus has no open connection. Commits waiting for the standby never end, even after their client has gone. */
const isLeft = async (url: string): Promise<boolean> => {
  const rows = await rowsOf(
    url,
    `select from pg_stat_activity where application_name = 'pakhus' and wait_event is distinct from 'SyncRep'`,
  );
  return rows.length === 0;
};

describe.skipIf(!postgresBin)('failover', () => {
  test('primary killed: every confirmed file is on the standby once, and the service works there', async () => {
    const setup = await setUp();
    const { pair, proxy } = setup;
    const load = startLoad(setup);
    await until('uploads are confirmed', async () => load.stored.size > 40 && load.revoked.size > 3);
    await pair.primary.kill();
    await pair.promote();
    proxy.switchTo({ host: '127.0.0.1', port: pair.standby.port });
    const before = load.stored.size;
    await until('uploads are confirmed again', async () => load.stored.size > before + 20);
    await load.stop();
    await until('all works', () => works(setup));
    await expectIntact(setup, load, pair.standby.url);
  });

  test('primary silent, then back without fencing: every request is answered, and nothing queries the old server again', async () => {
    const setup = await setUp();
    const { pair, proxy, service, key, path, userId } = setup;
    const heard: string[] = [];
    cleanUps.push(await service.pakhus.deps.db.listen('probe', (payload) => heard.push(payload)));
    const { token, jti } = await mintToken(service.api, key, userId);
    const load = startLoad(setup);
    await until('uploads are confirmed', async () => load.stored.size > 40 && load.revoked.size > 3);
    await pair.primary.pause();
    await pair.promote();
    proxy.switchTo({ host: '127.0.0.1', port: pair.standby.port });
    const before = load.stored.size;
    await until('uploads are confirmed again', async () => load.stored.size > before + 20);
    await load.stop();
    const revoked = await service.api.post(`${path}/tokens/revoke`, key, { jti });
    expect(revoked.status, revoked.text).toBeLessThan(300);
    pair.primary.goOn();
    await until('nobody is connected to the old server', () => isLeft(pair.primary.url));
    for (let nth = 0; nth < 12; nth += 1)
      expect((await service.api.get(`${path}/files`, token)).status).toBe(401);
    await until('notifications of the new server are heard', async () => {
      await rowsOf(pair.standby.url, `select pg_notify('probe', 'new')`);
      return heard.includes('new');
    });
    await expectIntact(setup, load, pair.standby.url);
  });

  test('primary replaced while it still runs: after the maximum connection age nothing reads from it', async () => {
    const setup = await setUp();
    const { pair, proxy, service, key, path, userId } = setup;
    const { token, jti } = await mintToken(service.api, key, userId);
    await Promise.all(Array.from({ length: 20 }, () => service.api.get(`${path}/files`, token)));
    await pair.promote();
    const watcher = await service.another({ DATABASE_URL: pair.standby.url, ROLE: 'api' });
    cleanUps.push(() => watcher.stop());
    expect((await watcher.api.post(`${path}/tokens/revoke`, key, { jti })).status).toBeLessThan(300);
    proxy.switchTo({ host: '127.0.0.1', port: pair.standby.port });
    await until('nobody is connected to the old server', async () => {
      await service.api.get(`${path}/files`, token);
      return isLeft(pair.primary.url);
    });
    for (let nth = 0; nth < 12; nth += 1)
      expect((await service.api.get(`${path}/files`, token)).status).toBe(401);
  });

  test('synchronous standby down: health reports it, every change is 503, and reads work', async () => {
    const setup = await setUp();
    const { pair, service, key, path, projectId } = setup;
    const { api } = service;
    expect((await api.get('/health')).status).toBe(200);
    cleanUps.push(async () => pair.standby.goOn());
    await pair.standby.pause();
    const changes = await Promise.all(
      Array.from({ length: 36 }, (_, nth) =>
        nth % 2
          ? api.post('/project/users', key, { externalId: unique('hang') })
          : upload(api, key, path, bytesOf(100)),
      ),
    );
    for (const { status, body, text } of changes)
      expect([status, body.error?.code], text).toEqual([503, 'STORAGE_UNAVAILABLE']);
    const health = await api.get('/health');
    expect([health.status, health.body.checks.database]).toEqual([503, 'unavailable']);
    await Promise.all(Array.from({ length: 50 }, () => api.get('/health')));
    expect((await api.get(`${path}/files`, key)).status).toBe(200);
    const hanging = `select query from pg_stat_activity where application_name = 'pakhus' and wait_event = 'SyncRep'`;
    const queries = (await rowsOf<{ query: string }>(pair.primary.url, hanging)).map(({ query }) => query);
    expect(queries.filter((query) => query.includes('pakhus.health')).length).toBeLessThanOrEqual(2);
    expect(queries.length, 'no more than the pool has').toBeLessThanOrEqual(32);
    pair.standby.goOn();
    await until('all works', () => works(setup));
    const claimed = changes.flatMap(({ body }) => body.error.details.file_id ?? []);
    const stored = await rowsOf<{ id: string }>(
      pair.primary.url,
      `select id from files where project_id = '${projectId}' and size = 100`,
    );
    // An upload refused as not stored must still not be stored.
    for (const { id } of stored) expect(claimed).toContain(id);
    expect(await wrongCounters({ databaseUrl: pair.primary.url })).toEqual([]);
  });

  test('a start on a standby logs that, waits, and serves after the promotion', async () => {
    const pair = await startPostgresPair();
    cleanUps.push(() => pair.remove());
    const folder = await mkdtemp(join(tmpdir(), 'pakhus-standby-'));
    cleanUps.push(() => rm(folder, { recursive: true, force: true }));
    let said = '';
    const starting = startProcess(
      { ...testSecrets, DATABASE_URL: pair.standby.url, DATA_DIR: folder, LOG_LEVEL: 'warn' },
      (line) => {
        said += line;
      },
    );
    const outcome = starting.catch((error: Error) => error);
    await until('it says why it waits', async () => said.includes('the server is a standby'));
    await pair.primary.kill();
    await pair.promote();
    const service = await outcome;
    if (service instanceof Error) throw service;
    cleanUps.push(service.kill);
    expect((await apiOf(service.baseUrl).get('/health')).status).toBe(200);
  });
});
