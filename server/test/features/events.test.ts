// The feed of events: what is recorded, in which order, and for whom.
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventPurge } from '../../src/features/events/events.jobs.ts';
import { uploadUpkeep } from '../../src/features/uploads/uploads.jobs.ts';
import { rowsOf } from '../support/database.ts';
import { readFeed, type ShownEvent } from '../support/feed.ts';
import { blankPng } from '../support/image-files.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { until } from '../support/processes.ts';
import { sendFile } from '../support/send-file.ts';
import {
  adminSession,
  createIntegration,
  createPlan,
  createTenant,
  createUser,
  mintToken,
} from '../support/tenants.ts';

let service: TestPakhus;
let admin: string;

beforeAll(async () => {
  service = await startTestPakhus();
  admin = await adminSession(service.api);
});
afterAll(() => service.stop());

const newTenant = () => createTenant(service.api, admin);

/** A tenant with a plan and a user, whose feed was read from before its next change. */
async function listener(planFields: object = {}) {
  const tenant = await newTenant();
  await createPlan(service.api, tenant.key, planFields);
  const user = await createUser(service.api, tenant.key);
  const feed = await readFeed(service.api, tenant.key);
  return { tenant, user, feed, files: `/project/users/${user.id}/files` };
}

const typesOf = (events: readonly ShownEvent[]) => events.map(({ type }) => type);
/** As jobs run it. */
const run = (task: typeof eventPurge) => task.run(service.pakhus.deps, new AbortController().signal);
const sql = (statement: string) => rowsOf(service.databaseUrl, statement);

describe('events.list', () => {
  test('a file is told with what its detail read shows, created, changed and deleted', async () => {
    const { api } = service;
    const { tenant, user, feed, files } = await listener();
    const detail = async (id: string) => {
      const { url, url_expires_at, ...file } = (await api.get(`${files}/${id}`, tenant.key)).body.file;
      return file;
    };
    const fields = { folder: 'a/b', metadata: '{"wide":"ü \\u2028 \\" line"}' };
    const id = await sendFile(api, tenant.key, user.id, { fields });
    const created = await detail(id);
    await api.put(`${files}/${id}`, tenant.key, { tags: ['new'], metadata: { x: [1] } });
    const updated = await detail(id);
    await api.delete(`${files}/${id}`, tenant.key);
    const events = await feed.next(3);
    expect(events).toMatchObject([
      { type: 'file.created', data: created, user_id: user.id, project_id: tenant.id },
      { type: 'file.updated', data: updated },
      { type: 'file.deleted', data: updated },
    ]);
    for (const { data } of events) expect(Object.keys(data).sort()).toEqual(Object.keys(created).sort());
    expect(new Set(events.map((event) => event.id)).size).toBe(3);
  });

  test('users and spaces are told as they are, and a cascade is one event of the parent', async () => {
    const { api } = service;
    const { tenant, feed } = await listener();
    const roomy = await createPlan(api, tenant.key, { name: 'roomy', storageLimit: 1_000_000 });
    const { id } = await createUser(api, tenant.key, 'ünnö "1"');
    const path = `/project/users/${id}`;
    const read = async () => (await api.get(path, tenant.key)).body.user;
    const created = await read();
    await api.put(path, tenant.key, { active: false });
    const inactive = await read();
    await api.put(path, tenant.key, { active: true });
    await api.put(`${path}/plan`, tenant.key, { planId: roomy.id });
    await sendFile(api, tenant.key, id, { bytes: Buffer.alloc(333_333) });
    const { space } = (await api.post(`${path}/spaces`, tenant.key, { external_id: `s-${id}`, name: 'A' }))
      .body;
    const renamed = (await api.put(`${path}/spaces/${space.id}`, tenant.key, { name: 'B' })).body.space;
    await api.put(`${path}/spaces/${space.id}/credentials`, tenant.key, { password: 'a password' });
    const withPassword = (await api.get(`${path}/spaces/${space.id}`, tenant.key)).body.space;
    await api.delete(`${path}/spaces/${space.id}`, tenant.key);
    const last = await read();
    await api.delete(path, tenant.key);
    const events = await feed.next(10);
    expect(typesOf(events)).toEqual([
      'user.created',
      'user.updated',
      'user.updated',
      'user.updated',
      'file.created',
      'space.created',
      'space.updated',
      'space.updated',
      'space.deleted',
      'user.deleted',
    ]);
    const data = events.map((event) => event.data);
    expect(data[0]).toEqual(created);
    expect(data[1]).toEqual(inactive);
    expect(data[3]).toMatchObject({ plan: { id: roomy.id, storageLimit: 1_000_000 }, usagePercent: 0 });
    expect(data.slice(5, 9)).toEqual([space, renamed, withPassword, withPassword]);
    expect(data[9]).toEqual(last);
    expect(last).toMatchObject({ usagePercent: 33.33, storageUsed: 333_333 });
  });

  test('an image is told with its job, when it is uploaded and when it is done or has failed', async () => {
    const { api } = service;
    const { tenant, user, feed, files } = await listener();
    const image = { as: 'image', type: 'image/png' } as const;
    const good = await sendFile(api, tenant.key, user.id, { ...image, bytes: blankPng(8, 8) });
    const [created, done] = (await feed.next(2)) as [ShownEvent, ShownEvent];
    expect(created).toMatchObject({
      type: 'file.created',
      data: { id: good, compression: { file_id: good, status: 'pending' } },
    });
    const { file } = (await api.get(`${files}/${good}`, tenant.key)).body;
    expect(done).toMatchObject({ type: 'image.done', user_id: user.id, data: file.compression });
    expect(created.data.compression.job_id).toBe(done.data.job_id);
    const bytes = blankPng(8, 8).subarray(0, 40);
    const bad = await sendFile(api, tenant.key, user.id, { ...image, bytes });
    const failed = (await feed.next(2))[1];
    expect(failed).toMatchObject({ type: 'image.failed', data: { file_id: bad, status: 'failed' } });
    await api.delete(`${files}/${good}`, tenant.key);
    expect((await feed.next(1))[0]?.data).toMatchObject({ id: good, compression: done.data });
  });

  test('an upload that expires is told as it ended', async () => {
    const { api } = service;
    const { tenant, user, feed } = await listener();
    const body = { name: 'film.mp4', size: 1_000, mimeType: 'video/mp4' };
    const { upload } = (await api.post(`/project/users/${user.id}/uploads`, tenant.key, body)).body;
    await sql(`update uploads set expires_at = now() - interval '1 s' where id = '${upload.id}'`);
    await run(uploadUpkeep);
    const shown = (await api.get(`/project/users/${user.id}/uploads/${upload.id}`, tenant.key)).body.upload;
    expect(shown.status).toBe('expired');
    expect(await feed.next(1)).toMatchObject([{ type: 'upload.expired', user_id: user.id, data: shown }]);
  });

  test('quota.threshold: each crossing is told once, however many uploads race', async () => {
    const { api } = service;
    const { tenant, user, feed, files } = await listener({ storageLimit: 1_000, maxFileSize: 1_000 });
    const send = (size: number) => sendFile(api, tenant.key, user.id, { bytes: Buffer.alloc(size, 1) });
    const crossed = (events: readonly ShownEvent[]) =>
      events.filter(({ type }) => type === 'quota.threshold').map(({ data }) => data.threshold);
    const ids = await Promise.all(Array.from({ length: 20 }, () => send(50)));
    const first = await feed.next(22);
    expect(crossed(first)).toEqual([80, 100]);
    const full = first.find(({ data }) => data.threshold === 100)?.data;
    expect(full).toMatchObject({ id: user.id, storageUsed: 1_000, usagePercent: 100, overQuota: false });
    // Below 80 % and over it again, by a single upload.
    await Promise.all(ids.slice(0, 10).map((id) => api.delete(`${files}/${id}`, tenant.key)));
    await send(450);
    expect(crossed(await feed.next(12))).toEqual([80]);
    // By a smaller plan, and by a plan that gets smaller.
    const wide = await createPlan(api, tenant.key, {
      name: 'wide',
      storageLimit: 10_000,
      maxFileSize: 1_000,
    });
    const plan = `/project/users/${user.id}/plan`;
    await api.put(plan, tenant.key, { planId: wide.id });
    await api.put(`/project/plans/${wide.id}`, tenant.key, { storageLimit: 1_100 });
    await api.put(`/project/plans/${wide.id}`, tenant.key, { storageLimit: 1_050 });
    await api.put(`/project/plans/${wide.id}`, tenant.key, { storageLimit: 500 });
    expect(crossed(await feed.next(3))).toEqual([80, 100]);
    await api.put(`/project/plans/${wide.id}`, tenant.key, { storageLimit: 10_000 });
    const small = await createPlan(api, tenant.key, { name: 'small', storageLimit: 900, maxFileSize: 1_000 });
    await api.put(plan, tenant.key, { planId: small.id });
    expect(crossed(await feed.next(3))).toEqual([80, 100]);
  });

  test('a project that nobody reads records nothing; from its first read on, everything', async () => {
    const { api } = service;
    const tenant = await newTenant();
    await createPlan(api, tenant.key);
    const user = await createUser(api, tenant.key);
    await sendFile(api, tenant.key, user.id);
    const recorded = () => sql(`select from events where project_id = '${tenant.id}'`);
    expect(await recorded()).toEqual([]);
    const feed = await readFeed(api, tenant.key);
    await sendFile(api, tenant.key, user.id);
    expect(typesOf(await feed.next(1))).toEqual(['file.created']);
    await sql(`update projects set listens_until = now() - interval '1 s' where id = '${tenant.id}'`);
    await sendFile(api, tenant.key, user.id);
    expect(await recorded()).toHaveLength(1);
  });

  test('pages continue exactly, by type as well, and an empty one keeps its place', async () => {
    const { api } = service;
    const { tenant, user, feed, files } = await listener();
    for (let i = 0; i < 5; i += 1) {
      const id = await sendFile(api, tenant.key, user.id);
      if (i % 2 === 0) await api.delete(`${files}/${id}`, tenant.key);
    }
    const all = await feed.next(8);
    const pages = async (query: string) => {
      const found: ShownEvent[] = [];
      for (let cursor = ''; ; ) {
        const { body } = await api.get(`/project/events?from=oldest&limit=3${query}${cursor}`, tenant.key);
        found.push(...body.events);
        cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`;
        if (body.events.length === 0) return found;
      }
    };
    expect(await pages('')).toEqual(all);
    const deleted = all.filter(({ type }) => type === 'file.deleted');
    expect(await pages('&types=file.deleted')).toEqual(deleted);
    expect(await pages('&types=user.*,%20file.deleted')).toEqual(deleted);
    expect(await pages('&types=file.*')).toEqual(all);
    const later = await readFeed(api, tenant.key, '', feed.cursor);
    await sendFile(api, tenant.key, user.id);
    expect(typesOf(await later.next(1))).toEqual(['file.created']);
  });

  test('a transaction that commits late is not skipped, and holds back what came after it', async () => {
    const { api } = service;
    const { tenant, user, feed } = await listener();
    const client = new pg.Client({ connectionString: service.databaseUrl });
    await client.connect();
    await client.query('begin');
    await client.query(`select record_event('${tenant.id}', 'file.updated', '${user.id}', '{"late":true}')`);
    await sendFile(api, tenant.key, user.id);
    const { body } = await api.get(
      `/project/events?wait=1&cursor=${encodeURIComponent(feed.cursor)}`,
      tenant.key,
    );
    expect(body.events).toEqual([]);
    const started = await readFeed(api, tenant.key);
    await client.query('commit');
    await client.end();
    expect(typesOf(await feed.next(2))).toEqual(['file.updated', 'file.created']);
    // Begun after the second commit and before the first one.
    expect(typesOf(await started.next(1))).toEqual(['file.updated']);
  });

  test('a read right after a change waits a moment for older transactions', async () => {
    const { api } = service;
    const { tenant, user, feed } = await listener();
    const client = new pg.Client({ connectionString: service.databaseUrl });
    await client.connect();
    await client.query('begin');
    await client.query('select pg_current_xact_id()');
    await sendFile(api, tenant.key, user.id);
    const reading = api.get(`/project/events?cursor=${encodeURIComponent(feed.cursor)}`, tenant.key);
    await until('it reads', async () => service.pakhus.deps.eventReaders.size > 0);
    await client.query('commit');
    await client.end();
    expect(typesOf((await reading).body.events)).toEqual(['file.created']);
  });

  test('only the owner and integrations with events:read may read, and only their own project', async () => {
    const { api } = service;
    const { tenant, user, feed } = await listener();
    const reader = await createIntegration(api, tenant.key, { scopes: ['events:read'] });
    const other = await createIntegration(api, tenant.key, { scopes: ['files:read'] });
    const { token } = await mintToken(api, tenant.key, user.id);
    await sendFile(api, tenant.key, user.id);
    const own = await readFeed(api, reader.key, '', feed.cursor);
    expect(typesOf(await own.next(1))).toEqual(['file.created']);
    for (const path of ['/project/events', '/project/events/stream'])
      for (const key of [other.key, token, admin]) expect((await api.get(path, key)).status).toBe(403);
    const stranger = await newTenant();
    expect((await api.get('/project/events?from=oldest', stranger.key)).body.events).toEqual([]);
    const foreign = encodeURIComponent(feed.cursor);
    expect((await api.get(`/project/events?cursor=${foreign}`, stranger.key)).status).toBe(400);
  });

  test.each([
    'cursor=garbled',
    'limit=0',
    'limit=1001',
    'wait=31',
    'types=file.eaten',
    'types=,',
    'from=newest',
  ])('%s is refused with what to do', async (query) => {
    const { key } = await newTenant();
    expect((await service.api.get(`/project/events?${query}`, key)).status).toBe(400);
  });

  test('an older cursor, and one from before the database was restored elsewhere, is 410', async () => {
    const { api, pakhus, databaseUrl } = service;
    const { tenant, feed } = await listener();
    const read = async (cursor: string) =>
      (await api.get(`/project/events?cursor=${encodeURIComponent(cursor)}`, tenant.key)).status;
    expect(await read(feed.cursor)).toBe(200);
    const [row] = await rowsOf<{ id: string; xid: string }>(
      databaseUrl,
      'select id, pg_current_xact_id()::text as xid from event_feed',
    );
    const forge = (...position: string[]) => pakhus.deps.cursors.encode(`events:${tenant.id}`, position);
    const days = (count: number) => new Date(Date.now() - count * 86_400_000).toISOString();
    const { id = '', xid = '' } = row ?? {};
    expect(await read(forge(id, xid, '0', days(6)))).toBe(200);
    expect(await read(forge(id, xid, '0', days(8)))).toBe(410);
    expect(await read(forge(id, String(BigInt(xid) + 1_000_000n), '0', days(0)))).toBe(410);
    expect(await read(forge('00000000-0000-0000-0000-000000000000', xid, '0', days(0)))).toBe(410);
  });
});

test('events.purge drops what has expired, a day at a time, and nothing else', async () => {
  const tenant = await newTenant();
  const insert = (at: string) =>
    sql(`insert into events (slot, project_id, type, data, created_at)
      select event_slot(at), '${tenant.id}', 'user.updated', '{}', at from (select ${at} as at) x`);
  for (const age of ['1 hour', '6 days', '8 days 2 hours']) await insert(`now() - interval '${age}'`);
  // In the slot of today, at whatever time this test runs.
  await insert(`date_trunc('day', now(), 'UTC') - interval '10 days'`);
  await run(eventPurge);
  const left = await rowsOf<{ age: number }>(
    service.databaseUrl,
    `select extract(day from now() - created_at)::int as age from events where project_id = '${tenant.id}' order by 1`,
  );
  expect(left.map(({ age }) => age)).toEqual([0, 6]);
});
