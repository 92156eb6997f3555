import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scopes } from '../../src/contract/scope.ts';
import { foldTotals } from '../../src/features/stats/stats.fold.ts';
import { purgeStats } from '../../src/features/stats/stats.service.ts';
import * as statements from '../../src/features/stats/stats.sql.ts';
import { noSql, type Sql } from '../../src/platform/db/sql.ts';
import { onServer, rowsOf } from '../support/database.ts';
import { picture } from '../support/image-files.ts';
import { setReserved } from '../support/ledger.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { until } from '../support/processes.ts';
import { sendFile, trySendFile } from '../support/send-file.ts';
import { createLiveSpace } from '../support/spaces.ts';
import {
  adminSession,
  createIntegration,
  createPlan,
  createTenant,
  createUser,
  mintToken,
  type Tenant,
} from '../support/tenants.ts';

let service: TestPakhus;
let admin: string;

beforeAll(async () => {
  service = await startTestPakhus({ IMAGE_TIMEOUT_SECONDS: '5' });
  admin = await adminSession(service.api);
});
afterAll(() => service.stop());

const dayMs = 86_400_000;
const nothing = { requests: 0, errors: 0, uploads: 0, downloads: 0, deletes: 0, bytes_in: 0 };
const stats = async (key: string, what: string) => {
  const reply = await service.api.get(`/project/stats/${what}`, key);
  expect(reply.status, reply.text).toBe(200);
  return reply.body;
};
const userStats = async (as: string, userId: string) => {
  const reply = await service.api.get(`/project/users/${userId}/stats`, as);
  expect(reply.status, reply.text).toBe(200);
  return reply.body;
};
const fold = () => foldTotals(service.pakhus.deps.db);

/** The expected figures, counted from the tables. */
async function truthOf(projectId: string) {
  const one = async <Row>(query: string) => (await rowsOf<Row>(service.databaseUrl, query))[0];
  const where = `where project_id = '${projectId}'`;
  const amount = (condition: string) =>
    one<object>(
      `select count(*)::int as files, coalesce(sum(size), 0)::int as bytes from files ${where} ${condition}`,
    );
  const by = (column: string, name: string) =>
    rowsOf(
      service.databaseUrl,
      `select ${column} as ${name}, count(*)::int as files, sum(size)::int as bytes from files ${where}
       group by 1 order by 2 desc, coalesce(${column}, '') collate "C"`,
    );
  return {
    storage: {
      ...(await one<object>(`select count(*)::int as users from users ${where}`)),
      ...(await one<object>(`select count(*)::int as over_quota_users from users u
        left join plans p on p.id = coalesce(u.plan_id, (select id from plans d where d.project_id = u.project_id and d.is_default))
        where u.project_id = '${projectId}' and u.used_bytes > p.storage_limit`)),
      ...(await amount('')),
      public: await amount(`and visibility = 'public'`),
      private: await amount(`and visibility = 'private'`),
    },
    files: {
      by_mime: await by('mime_type', 'mime_type'),
      by_classifier: await by('classifier', 'classifier'),
    },
  };
}

async function expectTruth(tenant: Tenant): Promise<void> {
  const truth = await truthOf(tenant.id);
  expect(await stats(tenant.key, 'storage')).toEqual(truth.storage);
  expect((await stats(tenant.key, 'overview')).storage).toEqual(truth.storage);
  expect(await stats(tenant.key, 'files')).toEqual(truth.files);
  const wrong = await rowsOf(
    service.databaseUrl,
    `select 'user' as of, id from users u where file_count <> (select count(*) from files f where f.user_id = u.id)
     union all select 'space', id from spaces s where file_count <> (select count(*) from files f where f.space_id = s.id)`,
  );
  expect(wrong).toEqual([]);
}

describe('storage', () => {
  test('an empty project has zeros everywhere', async () => {
    const tenant = await createTenant(service.api, admin);
    const empty = { files: 0, bytes: 0 };
    const storage = { users: 0, ...empty, over_quota_users: 0, public: empty, private: empty };
    expect(await stats(tenant.key, 'storage')).toEqual(storage);
    expect(await stats(tenant.key, 'files')).toEqual({ by_mime: [], by_classifier: [] });
    const overview = await stats(tenant.key, 'overview');
    expect(Object.keys(overview)).toEqual(['today', 'last_30_days', 'storage']);
    expect(overview.storage).toEqual(storage);
  });

  test('totals are exact after every random upload, change, move and deletion, whether folded or not', async () => {
    const { api } = service;
    const tenant = await createTenant(api, admin);
    const users = await Promise.all([1, 2, 3].map(() => createUser(api, tenant.key)));
    const spaces = await Promise.all(users.map(({ id }) => createLiveSpace(service, tenant.id, id, scopes)));
    const files: { id: string; userId: string }[] = [];
    const pick = <Item>(list: readonly Item[]) => list[Math.floor(Math.random() * list.length)] as Item;
    const upload = async () => {
      const at = Math.floor(Math.random() * users.length);
      const userId = users[at]?.id ?? '';
      const fields = {
        visibility: pick(['public', 'private']),
        ...(Math.random() < 0.5 ? { classifier: pick(['invoice', 'photo']) } : {}),
        ...(Math.random() < 0.5 ? { space_id: spaces[at]?.id ?? '' } : {}),
      };
      const bytes = Buffer.alloc(Math.floor(Math.random() * 5_000), 'x');
      const type = pick(['text/plain', 'text/csv', 'application/json']);
      files.push({ id: await sendFile(api, tenant.key, userId, { bytes, type, fields }), userId });
    };
    const change = async () => {
      const file = pick(files);
      const body = pick([
        { visibility: pick(['public', 'private']) },
        { classifier: pick(['invoice', null, 'other']) },
        { folder: 'elsewhere' },
      ]);
      const reply = await api.put(`/project/users/${file.userId}/files/${file.id}`, tenant.key, body);
      expect(reply.status, reply.text).toBe(200);
    };
    const remove = async () => {
      const [file] = files.splice(Math.floor(Math.random() * files.length), 1);
      const reply = await api.delete(`/project/users/${file?.userId}/files/${file?.id}`, tenant.key);
      expect(reply.status, reply.text).toBe(204);
    };
    for (let round = 0; round < 6; round += 1) {
      await Promise.all(Array.from({ length: 10 }, upload));
      for (let step = 0; step < 5; step += 1) await change();
      for (let step = 0; step < 3; step += 1) await remove();
      if (round % 2) await fold();
      await expectTruth(tenant);
    }
    await api.delete(`/project/users/${users[0]?.id}/spaces/${spaces[0]?.id}`, tenant.key);
    await expectTruth(tenant);
    expect((await api.delete(`/project/users/${users[1]?.id}`, tenant.key)).status).toBe(204);
    await expectTruth(tenant);
    await fold();
    await expectTruth(tenant);
  });

  test('folding while uploads commit loses nothing and counts nothing twice', async () => {
    const tenant = await createTenant(service.api, admin);
    const user = await createUser(service.api, tenant.key);
    let going = true;
    const folders = [1, 2].map(async () => {
      while (going) await fold();
    });
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(Array.from({ length: 12 }, () => sendFile(service.api, tenant.key, user.id)));
      const { files, bytes } = await stats(tenant.key, 'storage');
      expect({ files, bytes }).toEqual({ files: 12 * (round + 1), bytes: 60 * (round + 1) });
    }
    going = false;
    await Promise.all(folders);
    await expectTruth(tenant);
  });

  test('a compressed image counts with the size of its upload, and its job counts by status', async () => {
    const tenant = await createTenant(service.api, admin);
    const user = await createUser(service.api, tenant.key);
    const bytes = await picture(60, 40).png().toBuffer();
    const jobs = async () => (await service.api.get('/admin/stats/global', admin)).body.jobs;
    const before = await jobs();
    const fileId = await sendFile(service.api, tenant.key, user.id, {
      bytes,
      type: 'image/png',
      as: 'image',
    });
    await sendFile(service.api, tenant.key, user.id, {
      bytes: bytes.subarray(0, 99),
      type: 'image/png',
      as: 'image',
    });
    await until('both jobs to end', async () => {
      const now = await jobs();
      return now.done === before.done + 1 && now.failed === before.failed + 1;
    });
    await expectTruth(tenant);
    expect((await stats(tenant.key, 'storage')).bytes).toBe(bytes.length + 99);
    await service.api.delete(`/project/users/${user.id}/files/${fileId}`, tenant.key);
    expect(await jobs()).toEqual({ ...before, failed: before.failed + 1 });
    await fold();
    expect(await jobs()).toEqual({ ...before, failed: before.failed + 1 });
  });

  test('a deleted project leaves nothing in the totals', async () => {
    const before = (await service.api.get('/admin/stats/global', admin)).body;
    const tenant = await createTenant(service.api, admin);
    const user = await createUser(service.api, tenant.key);
    await sendFile(service.api, tenant.key, user.id);
    await fold();
    await sendFile(service.api, tenant.key, user.id);
    const during = (await service.api.get('/admin/stats/global', admin)).body;
    expect(during.storage.files).toBe(before.storage.files + 2);
    expect(during.projects).toBe(before.projects + 1);
    expect((await service.api.delete(`/admin/projects/${tenant.id}`, admin)).status).toBe(204);
    const after = (await service.api.get('/admin/stats/global', admin)).body;
    expect([after.storage, after.projects]).toEqual([before.storage, before.projects]);
    await fold();
    for (const table of ['stat_totals', 'stat_deltas', 'daily_stats'])
      expect(
        await rowsOf(service.databaseUrl, `select from ${table} where project_id = '${tenant.id}'`),
      ).toEqual([]);
  });

  test('the days of the installation are the sums over all projects, without gaps, and add up to the month', async () => {
    const { api, databaseUrl } = service;
    const date = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);
    const read = async () => (await api.get('/admin/stats/global', admin)).body;
    const before = await read();
    const tenants = [await createTenant(api, admin), await createTenant(api, admin)];
    const user = await createUser(api, (tenants[0] as Tenant).key);
    const counted = [
      [29, 3],
      [30, 100],
      [7, 5],
    ] as const;
    for (const { id } of tenants)
      for (const [daysAgo, uploads] of counted)
        await onServer(
          databaseUrl,
          `insert into daily_stats (project_id, subject_id, day, requests, errors, uploads, downloads, deletes, bytes_in)
           values ('${id}', '${id}', '${date(daysAgo)}', 1, 1, ${uploads}, 2, 1, 7),
             ('${id}', '${user.id}', '${date(daysAgo)}', 9, 9, 9, 9, 9, 9)`,
        );
    const { days, last_30_days } = await read();
    expect(days.map((day: { date: string }) => day.date)).toEqual(
      Array.from({ length: 30 }, (_, at) => date(29 - at)),
    );
    const uploadsAt = (body: typeof before, daysAgo: number) => body.days[29 - daysAgo].uploads;
    for (const [daysAgo, added] of [
      [29, 6],
      [28, 0],
      [7, 10],
      [1, 0],
    ] as const)
      expect(uploadsAt({ days }, daysAgo) - uploadsAt(before, daysAgo), String(daysAgo)).toBe(added);
    expect(last_30_days.uploads - before.last_30_days.uploads).toBe(16);
    for (const name of Object.keys(last_30_days))
      expect(
        days.reduce((sum: number, day: Record<string, number>) => sum + (day[name] ?? 0), 0),
        name,
      ).toBe(last_30_days[name]);
  });

  test('users over quota are counted exactly around the limit, under their own plan and under the default plan', async () => {
    const tenant = await createTenant(service.api, admin);
    const standard = await createPlan(service.api, tenant.key, { storageLimit: 1_000_000 });
    const tight = await createPlan(service.api, tenant.key, { storageLimit: 0 });
    await createPlan(service.api, tenant.key);
    const insert = (planId: string | null, bytes: number) =>
      onServer(
        service.databaseUrl,
        `insert into users (project_id, external_id, plan_id, used_bytes)
         values ('${tenant.id}', '${randomUUID()}', ${planId ? `'${planId}'` : 'null'}, ${bytes})`,
      );
    for (const bytes of [0, 1, 15, 16, 17, 999_999, 1_000_000, 1_000_001, 1_020_000, 2_000_000, 2 ** 52])
      for (const planId of [standard.id, tight.id, null]) await insert(planId, bytes);
    const { over_quota_users } = await stats(tenant.key, 'storage');
    expect(over_quota_users).toBe(4 + 10 + 4);
    await expectTruth(tenant);
    await service.api.put(`/project/plans/${standard.id}`, tenant.key, { storageLimit: 15 });
    expect((await stats(tenant.key, 'storage')).over_quota_users).toBe(8 + 10 + 8);
    await service.api.put(`/project/plans/${tight.id}/default`, tenant.key);
    await expectTruth(tenant);
  });

  test('usage buckets never sort a larger user below a smaller one', async () => {
    const values = Array.from({ length: 52 }, (_, power) => [
      2 ** power - 1,
      2 ** power,
      2 ** power + 1,
    ]).flat();
    const random = Array.from({ length: 2_000 }, () => Math.floor(2 ** (Math.random() * 52)));
    const wrong = await rowsOf(
      service.databaseUrl,
      `with v as (select b, usage_bucket(b) as bucket from unnest('{${[...values, ...random].join(',')}}'::bigint[]) b)
       select * from (select b, bucket, lag(bucket) over (order by b) as before from v) o where bucket < before`,
    );
    expect(wrong).toEqual([]);
  });

  test('a distribution lists the thousand largest users exactly', async () => {
    const tenant = await createTenant(service.api, admin);
    const user = await createUser(service.api, tenant.key);
    await insertFiles(tenant.id, user.id, 3_000, `'class-' || least(n, 1500)`);
    await fold();
    const id = await sendFile(service.api, tenant.key, user.id, { fields: { classifier: 'class-7' } });
    const { by_classifier } = await stats(tenant.key, 'files');
    expect(by_classifier).toHaveLength(1_000);
    expect(by_classifier.slice(0, 2)).toEqual([
      { classifier: 'class-1500', files: 1501, bytes: 1501 },
      { classifier: 'class-7', files: 2, bytes: 6 },
    ]);
    await service.api.delete(`/project/users/${user.id}/files/${id}`, tenant.key);
    expect((await stats(tenant.key, 'files')).by_classifier[1].files).toBe(1);
  });
});

/** Rows without objects: the statistics read no objects. */
async function insertFiles(
  projectId: string,
  userId: string,
  count: number,
  classifier = 'null',
): Promise<void> {
  await onServer(
    service.databaseUrl,
    `insert into files (id, project_id, user_id, name, size, mime_type, storage_key, classifier, sha256)
     select gen_random_uuid(), '${projectId}', '${userId}', 'n', 1, 'text/plain', n::text, ${classifier}, ''
     from generate_series(1, ${count}) n`,
  );
}

describe('traffic', () => {
  test('requests, errors, uploads, downloads, deletes and bytes are counted for a project, a user and a space', async () => {
    const { api } = service;
    const tenant = await createTenant(api, admin);
    const user = await createUser(api, tenant.key); // 1
    const space = await createLiveSpace(service, tenant.id, user.id, scopes);
    const { token } = await mintToken(api, tenant.key, user.id); // 2
    const fileId = await sendFile(api, tenant.key, user.id); // 3
    const inSpace = await sendFile(api, space.token, user.id, { bytes: Buffer.alloc(10) }); // 4
    await api.get(`/project/users/${user.id}/files/${fileId}`, token); // 5
    await api.get(`/project/users/${user.id}/files/${randomUUID()}`, token); // 6, 404
    await api.get('/project/users', token); // 7, 403
    await api.delete(`/project/users/${user.id}/files/${inSpace}`, space.token); // 8
    await api.delete(`/project/users/${user.id}/files/${inSpace}`, space.token); // 9, 404
    await trySendFile(api, tenant.key, user.id, { fields: { visibility: 'secret' } }); // 10, 422
    await api.get('/project/users', `pak_${'0'.repeat(64)}`); // nobody's
    await api.get('/project/nowhere', tenant.key); // no route
    const overview = await stats(tenant.key, 'overview');
    const month = { requests: 10, errors: 4, uploads: 2, downloads: 1, deletes: 1, bytes_in: 15 };
    expect(overview.today).toEqual(month);
    expect(overview.last_30_days).toEqual(month);
    const ofUser = await userStats(tenant.key, user.id);
    expect(ofUser).toEqual({
      user_id: user.id,
      files: 1,
      bytes: 5,
      storage: {
        storageUsed: 5,
        storageReserved: 0,
        storageLimit: null,
        storageAvailable: null,
        usagePercent: 0,
        overQuota: false,
      },
      last_30_days: { ...month, requests: 9, errors: 4 },
    });
    const ofSpace = await userStats(space.token, user.id);
    expect(ofSpace).toMatchObject({ user_id: user.id, files: 0, bytes: 0, storage: { storageUsed: 0 } });
    expect(ofSpace.last_30_days).toEqual({
      ...nothing,
      requests: 3,
      errors: 1,
      uploads: 1,
      deletes: 1,
      bytes_in: 10,
    });
    const listed = (await api.get('/admin/stats/projects?limit=1', admin)).body;
    expect(listed.projects).toEqual([
      expect.objectContaining({
        id: tenant.id,
        active: true,
        users: 1,
        files: 1,
        bytes: 5,
        requests_30d: 13,
      }),
    ]);
    const second = await api.get(`/admin/stats/projects?limit=1&cursor=${listed.next_cursor}`, admin);
    expect(second.body.projects[0]?.id).not.toBe(tenant.id);
  });

  test('a space sees its own limit and usage, not those of its owner', async () => {
    const tenant = await createTenant(service.api, admin);
    const user = await createUser(service.api, tenant.key);
    const space = await createLiveSpace(service, tenant.id, user.id, scopes);
    await service.api.put(`/project/users/${user.id}/spaces/${space.id}`, tenant.key, { limit_bytes: 20 });
    await sendFile(service.api, tenant.key, user.id);
    await sendFile(service.api, space.token, user.id);
    expect(await userStats(space.token, user.id)).toMatchObject({
      files: 1,
      bytes: 5,
      storage: { storageUsed: 5, storageLimit: 20, storageAvailable: 15, usagePercent: 25, overQuota: false },
    });
    expect(await userStats(tenant.key, user.id)).toMatchObject({ files: 2, bytes: 10 });

    await setReserved(service, 'users', user.id, 4);
    await setReserved(service, 'spaces', space.id, 8);
    expect((await userStats(space.token, user.id)).storage).toMatchObject({
      storageUsed: 5,
      storageReserved: 8,
      storageAvailable: 7,
      usagePercent: 25,
    });
    expect((await userStats(tenant.key, user.id)).storage).toMatchObject({
      storageUsed: 10,
      storageReserved: 12,
      storageAvailable: null,
    });
  });

  test('days are UTC days; thirty are shown, and older ones drop out', async () => {
    const own = await startTestPakhus({ ROLE: 'api', JWT_EXPIRES_IN: '520w' });
    try {
      const { api } = own;
      const tenant = await createTenant(api, await adminSession(api));
      const read = async (what: string) => (await api.get(`/project/stats/${what}`, tenant.key)).body;
      const dateOf = () => new Date(own.pakhus.deps.clock()).toISOString().slice(0, 10);
      // Just before midnight, so that later requests fall on the next day.
      own.advance(dayMs - (own.pakhus.deps.clock() % dayMs) - 20_000);
      const first = dateOf();
      await createUser(api, tenant.key);
      own.advance(20_000);
      const second = dateOf();
      expect(second > first).toBe(true);
      await createUser(api, tenant.key);
      await createUser(api, tenant.key);
      const { days } = await read('requests');
      expect(days).toHaveLength(30);
      expect(days.slice(0, 28).every((day: { requests: number }) => day.requests === 0)).toBe(true);
      expect(days.slice(28)).toEqual([
        { date: first, ...nothing, requests: 1 },
        { date: second, ...nothing, requests: 2 },
      ]);
      const overview = await read('overview');
      expect([overview.today.requests, overview.last_30_days.requests]).toEqual([3, 4]);
      own.advance(29 * dayMs);
      expect((await read('overview')).last_30_days.requests).toBe(4);
      const month = (await read('requests')).days;
      expect([month[0].date, month[29].date]).toEqual([second, dateOf()]);
    } finally {
      await own.stop();
    }
  });

  test('daily rows of users are deleted once no reply shows them; daily rows of projects are kept', async () => {
    const tenant = await createTenant(service.api, admin);
    const insert = (subjectId: string, age: number) =>
      onServer(
        service.databaseUrl,
        `insert into daily_stats (project_id, subject_id, day) values ('${tenant.id}', '${subjectId}', current_date - ${age})`,
      );
    const user = randomUUID();
    for (const age of [20, 31, 35, 400]) await Promise.all([insert(user, age), insert(tenant.id, age)]);
    await purgeStats(service.pakhus.deps, new AbortController().signal);
    const left = await rowsOf<{ subject_id: string; age: number }>(
      service.databaseUrl,
      `select subject_id, current_date - day as age from daily_stats where project_id = '${tenant.id}' order by age`,
    );
    const agesOf = (id: string) => left.filter((row) => row.subject_id === id).map(({ age }) => age);
    expect([agesOf(user), agesOf(tenant.id).filter((age) => age > 0)]).toEqual([
      [20, 31],
      [20, 31, 35, 400],
    ]);
  });
});

describe('access and audit', () => {
  const projectReads = ['overview', 'files', 'storage', 'requests'];

  test('project statistics need a project session or an integration with stats:read; a user token reads only its own user', async () => {
    const { api } = service;
    const tenant = await createTenant(api, admin);
    const other = await createTenant(api, admin);
    const [user, stranger] = [await createUser(api, tenant.key), await createUser(api, tenant.key)];
    const { key: reader } = await createIntegration(api, tenant.key, {
      scopes: ['stats:read', 'users:read'],
    });
    const { key: blind } = await createIntegration(api, tenant.key, { scopes: ['files:read'] });
    const { token } = await mintToken(api, tenant.key, user.id);
    const space = await createLiveSpace(service, tenant.id, user.id, ['stats:read']);
    for (const what of projectReads) {
      const status = async (as: string) => (await api.get(`/project/stats/${what}`, as)).status;
      expect(await Promise.all([tenant.key, reader, blind, token, space.token, admin].map(status))).toEqual([
        200, 200, 403, 403, 403, 403,
      ]);
    }
    const status = async (as: string, userId: string) =>
      (await api.get(`/project/users/${userId}/stats`, as)).status;
    expect(
      await Promise.all(
        [tenant.key, reader, blind, token, space.token, other.key].map((as) => status(as, user.id)),
      ),
    ).toEqual([200, 200, 403, 200, 200, 404]);
    expect([await status(token, stranger.id), await status(space.token, stranger.id)]).toEqual([404, 404]);
    expect((await api.get(`/project/users/ext/${user.externalId}/stats`, token)).status).toBe(200);
    for (const what of ['global', 'projects'])
      expect((await api.get(`/admin/stats/${what}`, tenant.key)).status).toBe(403);
  });

  test('every read writes one stats.read audit row', async () => {
    const { api } = service;
    const tenant = await createTenant(api, admin);
    const user = await createUser(api, tenant.key);
    for (const what of projectReads) await stats(tenant.key, what);
    await userStats(tenant.key, user.id);
    await service.pakhus.deps.auditQueue.flush();
    const rows = await rowsOf(
      service.databaseUrl,
      `select resource_id, user_id from audit_logs where action = 'stats.read' and project_id = '${tenant.id}'
       order by created_at, resource_id`,
    );
    expect(rows).toHaveLength(5);
    expect(rows).toEqual(
      expect.arrayContaining([
        ...projectReads.map((what) => ({ resource_id: what, user_id: null })),
        { resource_id: 'user', user_id: user.id },
      ]),
    );
    const before = await adminReads();
    await api.get('/admin/stats/global', admin);
    await api.get('/admin/stats/projects', admin);
    expect(await adminReads()).toBe(before + 2);
  });

  async function adminReads(): Promise<number> {
    await service.pakhus.deps.auditQueue.flush();
    const query = `select from audit_logs where action = 'stats.read' and actor_type = 'admin' and project_id is null`;
    return (await rowsOf(service.databaseUrl, query)).length;
  }
});

describe('cost', () => {
  interface PlanNode {
    readonly 'Node Type': string;
    readonly 'Relation Name'?: string;
    readonly Plans?: readonly PlanNode[];
  }
  const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

  test('no read touches files or scans users, however many there are', async () => {
    const tenant = await createTenant(service.api, admin);
    const plan = await createPlan(service.api, tenant.key, { storageLimit: 1_000_000 });
    const user = await createUser(service.api, tenant.key);
    await onServer(
      service.databaseUrl,
      `insert into users (project_id, external_id, plan_id, used_bytes)
       select '${tenant.id}', 'user-' || n, '${plan.id}', n * 10 from generate_series(1, 20000) n`,
    );
    await onServer(
      service.databaseUrl,
      `insert into spaces (project_id, user_id, external_id, name)
       select '${tenant.id}', '${user.id}', 'space-' || n, 'a space' from generate_series(1, 5000) n`,
    );
    await insertFiles(tenant.id, user.id, 20_000);
    await fold();
    const client = new pg.Client({ connectionString: service.databaseUrl });
    await client.connect();
    const nodes = async ({ text, values }: Sql) => {
      const { rows } = await client.query(`explain (format json) ${text}`, [...values]);
      return nodesOf(rows[0]['QUERY PLAN'][0].Plan as PlanNode);
    };
    try {
      await client.query('analyze');
      const { id } = tenant;
      const today = new Date().toISOString().slice(0, 10);
      const reads: Record<string, Sql> = {
        listDays: statements.listDays(id, id, today),
        listTotals: statements.listTotals(id),
        countOverQuota: statements.countOverQuota(id),
        mimeTypes: statements.listLargest(id, 'mime_type', 1_000),
        classifiers: statements.listLargest(id, 'classifier', 1_000),
        findUserUsage: statements.findUserUsage(id, user.id),
        findSpaceUsage: statements.findSpaceUsage(id, user.id),
        listDaysOfInstallation: statements.listDaysOfInstallation(today),
        listInstallationTotals: statements.listInstallationTotals,
        countProjects: statements.countProjects,
        listProjectStats: statements.listProjectStats(noSql, { limit: 50 }, today),
      };
      for (const [name, statement] of Object.entries(reads)) {
        const found = await nodes(statement);
        const touched = found.map((node) => node['Relation Name']);
        expect(touched, name).not.toContain('files');
        const scans = found.filter(
          (node) => node['Node Type'] === 'Seq Scan' && /^(users|spaces)$/.test(node['Relation Name'] ?? ''),
        );
        expect(scans, name).toEqual([]);
      }
      const { rows } = await client.query(
        `explain (analyze, format json) ${statements.countOverQuota(id).text}`,
        [...statements.countOverQuota(id).values],
      );
      // Nobody is over the limit, so none of the 20,000 users needs to be read.
      expect(JSON.stringify(rows)).not.toMatch(/"Rows Removed by Filter": [1-9]\d{2,}/);
    } finally {
      await client.end();
    }
  });
});
