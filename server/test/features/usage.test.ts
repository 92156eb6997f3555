// Usage by day: exact at every commit, and the same for ever once a day is over. The tests move days into the past in the database, whose
// clock decides what today is.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { purgeStats } from '../../src/features/stats/stats.service.ts';
import { applyBatch } from '../../src/features/stats/stats.sql.ts';
import { purgeUsage } from '../../src/features/usage/usage.service.ts';
import type { Reply } from '../support/api.ts';
import { bytesOf } from '../support/bytes.ts';
import { onServer, rowsOf } from '../support/database.ts';
import { picture } from '../support/image-files.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { sendFile } from '../support/send-file.ts';
import {
  adminSession,
  createIntegration,
  createTenant,
  createUser,
  mintToken,
  type Tenant,
} from '../support/tenants.ts';
import { patchTus, startTus } from '../support/tus.ts';

let service: TestPakhus;
let admin: string;

beforeAll(async () => {
  service = await startTestPakhus();
  admin = await adminSession(service.api);
});
afterAll(() => service.stop());

interface Day {
  readonly date: string;
  readonly user_id: string;
  readonly bytes_max: number;
  readonly bytes_end: number;
  readonly uploads: number;
  readonly downloads: number;
  readonly bytes_in: number;
}

const dayMs = 86_400_000;
/** By this machine's clock, which the database shares in tests. */
const dayAgo = (days: number): string => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10);
const today = () => dayAgo(0);

const ask = (key: string, query: Record<string, string | number> = {}): Promise<Reply> =>
  service.api.get(`/project/usage?${new URLSearchParams(query as Record<string, string>)}`, key);

async function usage(key: string, query: Record<string, string | number> = {}): Promise<Day[]> {
  const reply = await ask(key, query);
  expect(reply.status, reply.text).toBe(200);
  expect(reply.body.next_cursor).toBeNull();
  return reply.body.days;
}

async function allPages(key: string, query: Record<string, string | number>): Promise<Day[]> {
  const days: Day[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { status, text, body }: Reply = await ask(key, { ...query, ...(cursor && { cursor }) });
    expect(status, text).toBe(200);
    days.push(...body.days);
    cursor = body.next_cursor;
  }
  return days;
}

const onDatabase = (statement: string) => onServer(service.databaseUrl, statement);

/** Everything that the project did so far happened some days earlier. */
async function moveBack({ id }: Tenant, days: number): Promise<void> {
  await onDatabase(`update users set usage_day = usage_day - ${days} where project_id = '${id}'`);
  // Two steps, because rows may not meet on the way.
  await onDatabase(
    `update usage_days set date = date - 10000, until = until - 10000 where project_id = '${id}'`,
  );
  await onDatabase(
    `update usage_days set date = date + ${10_000 - days}, until = until + ${10_000 - days} where project_id = '${id}'`,
  );
  await service.pakhus.deps.foldCounts();
  await onDatabase(`update daily_stats set day = day - 10000 where project_id = '${id}'`);
  await onDatabase(`update daily_stats set day = day + ${10_000 - days} where project_id = '${id}'`);
}

async function tenantWithUser() {
  const tenant = await createTenant(service.api, admin);
  const user = await createUser(service.api, tenant.key);
  const send = (bytes: number) =>
    sendFile(service.api, tenant.key, user.id, { bytes: bytesOf(bytes), type: 'application/octet-stream' });
  const remove = async (fileId: string) =>
    expect((await service.api.delete(`/project/users/${user.id}/files/${fileId}`, tenant.key)).status).toBe(
      204,
    );
  const read = async (fileId: string) =>
    expect((await service.api.get(`/project/users/${user.id}/files/${fileId}`, tenant.key)).status).toBe(200);
  const day = (date: string, figures: Partial<Day>): Day => ({
    date,
    user_id: user.id,
    bytes_max: 0,
    bytes_end: 0,
    uploads: 0,
    downloads: 0,
    bytes_in: 0,
    ...figures,
  });
  return { tenant, key: tenant.key, user, send, remove, read, day };
}

describe('usage.days: the current day', () => {
  test('of 30 concurrent uploads and deletions, every figure is what a log of all states of the users gives', async () => {
    const tenant = await createTenant(service.api, admin);
    const users = await Promise.all([1, 2, 3].map(() => createUser(service.api, tenant.key)));
    await onDatabase(`create table seen (number bigserial, user_id uuid, bytes bigint, files bigint);
      create function note_seen() returns trigger language plpgsql as $$ begin
        insert into seen (user_id, bytes, files) values (new.id, new.used_bytes, new.file_count); return null; end $$;
      create trigger seen after update of used_bytes on users for each row execute function note_seen()`);
    const live = async (nth: number) => {
      const { id } = users[nth % 3] as { id: string };
      const files: string[] = [];
      for (let step = 0; step < 6; step += 1) {
        const isDeletion = files.length > 0 && (nth + step) % 3 === 0;
        const path = `/project/users/${id}/files/${files[0]}`;
        if (isDeletion && (await service.api.delete(path, tenant.key)).status === 204) files.shift();
        else files.push(await sendFile(service.api, tenant.key, id, { bytes: bytesOf(1 + nth * 7 + step) }));
      }
    };
    await Promise.all(Array.from({ length: 30 }, (_, nth) => live(nth)));
    await onDatabase('drop trigger seen on users');

    const seen = await rowsOf<{ user_id: string; bytes: number; files: number }>(
      service.databaseUrl,
      'select user_id, bytes::int as bytes, files::int as files from seen order by number',
    );
    const expected = users
      .map(({ id }) => {
        const states = seen.filter(({ user_id }) => user_id === id);
        const grown = states.map(({ bytes, files }, at) => {
          const before = states[at - 1] ?? { bytes: 0, files: 0 };
          return { files: Math.max(0, files - before.files), bytes: Math.max(0, bytes - before.bytes) };
        });
        const sum = (name: 'files' | 'bytes') => grown.reduce((total, one) => total + one[name], 0);
        const bytesMax = Math.max(...states.map(({ bytes }) => bytes));
        return {
          date: today(),
          user_id: id,
          bytes_max: bytesMax,
          bytes_end: states.at(-1)?.bytes ?? 0,
          uploads: sum('files'),
          downloads: 0,
          bytes_in: sum('bytes'),
        };
      })
      .sort((one, other) => (one.user_id < other.user_id ? -1 : 1));
    expect(expected.map(({ uploads }) => uploads).reduce((a, b) => a + b)).toBeGreaterThan(100);
    expect(await usage(tenant.key)).toEqual(expected);
  });

  test('counts resumable uploads, downloads and an image by its size at upload, and nothing for users without files', async () => {
    const { tenant, key, user, send, remove, read, day } = await tenantWithUser();
    await createUser(service.api, key);
    const first = await send(1_000);
    for (let nth = 0; nth < 3; nth += 1) await read(first);
    await remove(first);
    const path = await startTus(service.api, key, user.id, { size: 700 });
    expect((await patchTus(service.api, path, 0, bytesOf(700))).status).toBe(204);
    const image = await picture(64, 64).png().toBuffer();
    const imageId = await sendFile(service.api, key, user.id, {
      bytes: image,
      type: 'image/png',
      as: 'image',
    });
    const job = `select from compression_jobs where file_id = '${imageId}' and status = 'done'`;
    await expect.poll(async () => (await onDatabase(job)).rows.length, { timeout: 20_000 }).toBe(1);
    const bytes = 700 + image.length;
    expect(await usage(key)).toEqual([
      day(today(), {
        bytes_max: Math.max(1_000, bytes),
        bytes_end: bytes,
        uploads: 3,
        downloads: 3,
        bytes_in: 1_700 + image.length,
      }),
    ]);
    expect(await usage(key, { user_id: user.id })).toHaveLength(1);
    expect(await usage(key, { user_id: randomUUID() })).toEqual([]);
    // A user who was there before this was kept: nothing is known of what came earlier.
    await onDatabase(
      `update users set day_peak_bytes = null, day_base_bytes = null, day_base_files = null where project_id = '${tenant.id}'`,
    );
    await send(5);
    const [counted] = await usage(key);
    expect(counted).toMatchObject({ uploads: 1, bytes_in: 5, bytes_max: bytes + 5, bytes_end: bytes + 5 });
  });
});

describe('usage.days: days that are over', () => {
  test('stay as they are, whatever happens later, and quiet days show what was kept', async () => {
    const { tenant, key, send, remove, read, day } = await tenantWithUser();
    const first = await send(300);
    const second = await send(200);
    await remove(second);
    await read(first);
    await moveBack(tenant, 3);
    const over = [
      day(dayAgo(3), { bytes_max: 500, bytes_end: 300, uploads: 2, downloads: 1, bytes_in: 500 }),
      day(dayAgo(2), { bytes_max: 300, bytes_end: 300 }),
      day(dayAgo(1), { bytes_max: 300, bytes_end: 300 }),
    ];
    const range = { from: dayAgo(8), to: dayAgo(1) };
    expect(await usage(key, range)).toEqual(over);
    await remove(first);
    const third = await send(40);
    expect(await usage(key, range)).toEqual(over);
    const now = day(today(), { bytes_max: 300, bytes_end: 40, uploads: 1, bytes_in: 40 });
    expect(await usage(key)).toEqual([...over, now]);
    await remove(third);
    await moveBack(tenant, 2);
    await send(7);
    expect(await usage(key)).toEqual([
      ...over.map((one, at) => ({ ...one, date: dayAgo(5 - at) })),
      { ...now, date: dayAgo(2), bytes_end: 0 },
      // Nothing was kept yesterday.
      day(today(), { bytes_max: 7, bytes_end: 7, uploads: 1, bytes_in: 7 }),
    ]);
  });

  test('of a deleted user stay, with the day of the deletion and no day after it', async () => {
    const { tenant, key, user, send, remove, day } = await tenantWithUser();
    await send(90);
    await moveBack(tenant, 2);
    await remove(await send(10));
    expect((await service.api.delete(`/project/users/${user.id}`, key)).status).toBe(204);
    const days = [
      day(dayAgo(2), { bytes_max: 90, bytes_end: 90, uploads: 1, bytes_in: 90 }),
      day(dayAgo(1), { bytes_max: 90, bytes_end: 90 }),
      day(today(), { bytes_max: 100, uploads: 1, bytes_in: 10 }),
    ];
    expect(await usage(key)).toEqual(days);
    expect(await usage(key, { user_id: user.id })).toEqual(days);
    await moveBack(tenant, 3);
    expect(await usage(key)).toEqual(days.map((one, at) => ({ ...one, date: dayAgo(5 - at) })));
  });

  test('of a user who is deleted on a later day include the days between', async () => {
    const { tenant, key, user, send, day } = await tenantWithUser();
    await send(90);
    await moveBack(tenant, 2);
    expect((await service.api.delete(`/project/users/${user.id}`, key)).status).toBe(204);
    expect(await usage(key)).toEqual([
      day(dayAgo(2), { bytes_max: 90, bytes_end: 90, uploads: 1, bytes_in: 90 }),
      day(dayAgo(1), { bytes_max: 90, bytes_end: 90 }),
      day(today(), { bytes_max: 90 }),
    ]);
  });

  test('go with their project', async () => {
    const { tenant, send } = await tenantWithUser();
    await send(90);
    await moveBack(tenant, 40);
    await send(90);
    await purgeStats(service.pakhus.deps, AbortSignal.timeout(60_000));
    expect((await service.api.delete(`/admin/projects/${tenant.id}`, admin)).status).toBe(204);
    for (const table of ['usage_days', 'usage_downloads'])
      expect(
        await rowsOf(service.databaseUrl, `select from ${table} where project_id = '${tenant.id}'`),
      ).toEqual([]);
  });

  test('keep their downloads when statistics are purged, and are purged themselves after 400 days', async () => {
    const { tenant, key, send, remove, read, day } = await tenantWithUser();
    const file = await send(60);
    await read(file);
    await read(file);
    await moveBack(tenant, 100);
    const signal = AbortSignal.timeout(60_000);
    await purgeStats(service.pakhus.deps, signal);
    await remove(file);
    const first = day(dayAgo(100), { bytes_max: 60, bytes_end: 60, uploads: 1, downloads: 2, bytes_in: 60 });
    const range = { from: dayAgo(120), to: dayAgo(99) };
    const expected = [first, day(dayAgo(99), { bytes_max: 60, bytes_end: 60 })];
    expect(await usage(key, range)).toEqual(expected);
    await purgeUsage(service.pakhus.deps, signal);
    expect(await usage(key, range)).toEqual(expected);
    const kept = () =>
      rowsOf(
        service.databaseUrl,
        `select date::text from usage_days where project_id = '${tenant.id}'
         union all select date::text from usage_downloads where project_id = '${tenant.id}'`,
      );
    expect(await kept()).toHaveLength(2);
    await onDatabase(
      `update usage_days set date = date - 400, until = until - 400 where project_id = '${tenant.id}';
       update usage_downloads set date = date - 400 where project_id = '${tenant.id}'`,
    );
    await purgeUsage(service.pakhus.deps, signal);
    expect(await kept()).toEqual([]);
  });

  test('get no more downloads: counts that an outage has delayed count for the day they arrive on', async () => {
    const { tenant, key, user, send, day } = await tenantWithUser();
    await send(60);
    await moveBack(tenant, 3);
    const counted = { requests: 2, errors: 0, uploads: 0, downloads: 2, deletes: 0, bytes_in: 0 };
    const rows = [dayAgo(3), today()].map((on) => ({
      projectId: tenant.id,
      subjectId: user.id,
      day: on,
      ...counted,
    }));
    await service.pakhus.deps.db.query(applyBatch({ id: randomUUID(), rows }));
    const kept = { bytes_max: 60, bytes_end: 60 };
    const days = await usage(key);
    const downloads = days.map((one) => one.downloads);
    // Just after midnight, yesterday is not settled yet.
    expect([downloads.slice(0, 2), downloads.reduce((a, b) => a + b)]).toEqual([[0, 0], 4]);
    expect(days[0]).toEqual(day(dayAgo(3), { ...kept, uploads: 1, bytes_in: 60 }));
    const { final_until } = (await ask(key)).body;
    expect([dayAgo(2), dayAgo(1)]).toContain(final_until);
  });
});

describe('usage.days: the answer', () => {
  test('of thousands of users comes in pages or as one CSV file with the same rows, ordered by date and user', async () => {
    const tenant = await createTenant(service.api, admin);
    await onDatabase(`insert into users (project_id, external_id, used_bytes, file_count, usage_day)
      select '${tenant.id}', n::text, n % 3 * 1000, n % 3, current_date - 2 from generate_series(1, 3000) n`);
    // PostgreSQL does this itself within a minute. A plan for an empty table can exceed the time limit of a read.
    await onDatabase('analyze users');
    const expected = await rowsOf<{ date: string; id: string; bytes: string }>(
      service.databaseUrl,
      `select day::date::text as date, id, used_bytes::text as bytes from users,
         generate_series(current_date - 2, current_date, interval '1 day') day
       where project_id = '${tenant.id}' and used_bytes > 0 order by 1, 2`,
    );
    const lines = expected.map(({ date, id, bytes }) => [date, id, bytes, bytes, 0, 0, 0].join());
    expect(lines).toHaveLength(6_000);
    const toLine = (day: Day) => Object.values(day).join();
    for (const limit of [1_000, 10_000])
      expect((await allPages(tenant.key, { limit })).map(toLine)).toEqual(lines);
    const csv = ['date,user_id,bytes_max,bytes_end,uploads,downloads,bytes_in', ...lines, ''].join('\r\n');
    const byFormat = await ask(tenant.key, { format: 'csv' });
    expect(byFormat.headers['content-type']).toBe('text/csv; charset=utf-8; header=present');
    expect(byFormat.text === csv).toBe(true);
    const options = { as: tenant.key, headers: { accept: 'text/csv' } };
    const byAccept = await service.api.call('GET', '/project/usage', options);
    expect(byAccept.text === csv).toBe(true);
    expect(byAccept.headers.vary).toContain('Accept');
  });

  test('has a header and no rows for an empty project, and no rows for days to come or long gone', async () => {
    const { key, send } = await tenantWithUser();
    expect((await ask(key, { format: 'csv' })).text.split('\r\n')).toHaveLength(2);
    await send(5);
    expect(await usage(key, { from: dayAgo(-1), to: dayAgo(-300) })).toEqual([]);
    expect(await usage(key, { from: today(), to: dayAgo(-300) })).toHaveLength(1);
    expect(await usage(key, { from: '0000-01-01', to: '0000-02-01' })).toEqual([]);
    expect(await usage(key, { to: '0001-01-01' })).toEqual([]);
    expect(await usage(key, { from: '9999-12-01', to: '9999-12-31' })).toEqual([]);
  });

  test('is refused for a wrong range, page or format, with what to do instead', async () => {
    const { key } = await createTenant(service.api, admin);
    const wrong: [query: Record<string, string | number>, message: string][] = [
      [{ from: '2026-13-01' }, 'must be a date such as 2026-01-31'],
      [{ to: '2026-02-30' }, 'must be a date such as 2026-01-31'],
      [{ from: '2026-01-31T00:00:00Z' }, 'must be a date such as 2026-01-31'],
      [{ from: '2026-02-02', to: '2026-02-01' }, 'must not be after to (2026-02-01)'],
      [{ from: '2025-01-31', to: '2026-02-01' }, 'must be less than 366 days before to (2026-02-01)'],
      [{ from: '0000-01-01' }, 'must be less than 366 days before'],
      [{ limit: 0 }, 'must be >= 1'],
      [{ limit: 10_001 }, 'must be <= 10000'],
      [{ user_id: 'anna' }, 'must be a UUID'],
      [{ format: 'xml' }, 'must be equal to one of the allowed values'],
      [{ format: 'csv', limit: 5 }, 'is only for JSON'],
      [{ cursor: 'made-up' }, 'is not a cursor of this list'],
    ];
    for (const [query, message] of wrong) {
      const { status, body } = await ask(key, query);
      expect([status, body.error.message]).toEqual([400, expect.stringContaining(message)]);
    }
    expect((await ask(key, { from: '2025-02-01', to: '2026-02-01' })).status).toBe(200);
  });

  test('is for the project and for integrations with stats:read, and shows nothing of other tenants', async () => {
    const { key, user, send } = await tenantWithUser();
    await send(5);
    const other = await createTenant(service.api, admin);
    expect(await usage(other.key)).toEqual([]);
    expect(await usage(other.key, { user_id: user.id })).toEqual([]);
    const { body } = await ask(key, { limit: 1, from: dayAgo(1) });
    expect((await ask(other.key, { limit: 1, from: dayAgo(1), cursor: body.next_cursor })).status).toBe(400);
    const allowed = await createIntegration(service.api, key, { scopes: ['stats:read'] });
    const refused = await createIntegration(service.api, key, { scopes: ['users:read', 'files:read'] });
    const token = await mintToken(service.api, key, user.id);
    expect(await usage(allowed.key)).toHaveLength(1);
    for (const as of [refused.key, token.token, admin]) expect((await ask(as)).status).toBe(403);
    await service.pakhus.deps.auditQueue.flush();
    const { logs } = (await service.api.get('/project/audit?action=stats.read', key)).body;
    expect(logs.map(({ resource_id }: { resource_id: string }) => resource_id)).toEqual(['usage', 'usage']);
  });
});
