// The audit log by month: every row finds its place at any time, lists read the newest partition first, and the retention
// drops whole partitions.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { auditPurge } from '../../src/features/audit/audit.jobs.ts';
import { extendAudit, purgeAudit } from '../../src/features/audit/audit.retention.ts';
import {
  type AuditFilter,
  announceBound,
  checkBound,
  listAudit,
} from '../../src/features/audit/audit.sql.ts';
import type { Sql } from '../../src/platform/db/sql.ts';
import { inTransaction, rowsOf } from '../support/database.ts';
import { never } from '../support/ledger.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { until } from '../support/processes.ts';
import { adminSession, createTenant, createUser, type Tenant } from '../support/tenants.ts';

let service: TestPakhus;
let tenant: Tenant;

beforeEach(async () => {
  // No background work: the tests decide when the job runs.
  service = await startTestPakhus({ ROLE: 'api' });
  tenant = await createTenant(service.api, await adminSession(service.api));
});
afterEach(() => service.stop());

const sql = <Row = object>(statement: string) => rowsOf<Row>(service.databaseUrl, statement);

/** SQL for a time so many days ago. */
const ago = (days: number) => `now() - interval '${days} days'`;

const toIso = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString();

const insert = (time: string, rows = 1) =>
  sql(`insert into audit_logs (project_id, actor_type, action, created_at)
    select '${tenant.id}', 'project', 'file.upload', ${time} - n * interval '1 second' from generate_series(1, ${rows}) n`);

interface Partition {
  readonly name: string;
  readonly rows: number;
}

/** Oldest first. They must cover all time without a gap. */
async function partitions(): Promise<Partition[]> {
  const found = await sql<{ name: string; lower: string; upper: string }>(
    'select name, lower::text, upper::text from audit_partitions()',
  );
  const edges = found.flatMap(({ lower, upper }) => [lower, upper]);
  expect(edges[0]).toBe('-infinity');
  expect(edges.at(-1)).toBe('infinity');
  for (let edge = 1; edge + 1 < edges.length; edge += 2) expect(edges[edge]).toBe(edges[edge + 1]);
  return Promise.all(
    found.map(async ({ name }) => {
      const [row] = await sql<{ rows: number }>(`select count(*)::int as rows from ${name}`);
      return { name, rows: row?.rows ?? 0 };
    }),
  );
}

const names = async () => (await partitions()).map(({ name }) => name);

/** Splits the log at times so many days ago, as if the job had done so over the months. */
const splitAt = (...days: readonly number[]) => {
  const bounds = ["'-infinity'", ...days.map(ago)];
  const parts = bounds.map((lower, nth) => {
    const name =
      nth === 0 ? 'audit_logs_past' : nth < days.length ? `audit_logs_part_${nth}` : 'audit_logs_later';
    return `select attach_audit_partition('${name}', ${lower}, ${bounds[nth + 1] ?? "'infinity'"});`;
  });
  return sql(`begin; alter table audit_logs detach partition audit_logs_later; ${parts.join('')} commit`);
};

interface Listed {
  readonly id: string;
  readonly actor_type: string;
  readonly user_id: string | null;
  readonly action: string;
  readonly created_at: string;
}

/** All rows of the tenant, page by page, through the API. */
async function listed(query = '', path = '/project/audit', as = tenant.key): Promise<Listed[]> {
  const rows = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const more: string = cursor && `&cursor=${cursor}`;
    const { status, text, body } = await service.api.get(`${path}?limit=7${query}${more}`, as);
    expect(status, text).toBe(200);
    rows.push(...body.logs);
    cursor = body.next_cursor;
  }
  return rows;
}

const noFilter: AuditFilter = {
  projectId: null,
  action: undefined,
  userId: undefined,
  actorType: undefined,
  from: undefined,
  to: undefined,
};

/** What a statement reads: the tables and indexes it scans, and how many pages. Runs `work` with both kinds of plans. */
async function withScans(
  url: string,
  work: (scan: (statement: Sql) => Promise<Scan>, mode: string) => Promise<void>,
): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  /** Of all scans that this session has not reported yet. */
  const counts = async () => {
    const { rows } = await client.query<{ relname: string; scans: string }>(
      `select relname, pg_stat_get_xact_numscans(oid) as scans from pg_class where relname like 'audit_logs%'`,
    );
    return new Map(rows.map(({ relname, scans }) => [relname, scans]));
  };
  const scan = async ({ text, values }: Sql): Promise<Scan> => {
    await client.query(`prepare probe as ${text}`);
    const given = values.map((value) => (value === null ? 'null' : client.escapeLiteral(String(value))));
    // Planning reads the catalog and the ends of indexes, and functions keep their plans.
    await client.query(`execute probe(${given.join()})`);
    await client.query('begin');
    const before = await counts();
    const plan = await client.query<{ 'QUERY PLAN': string }>(
      `explain (analyze, buffers, costs off, timing off, summary off) execute probe(${given.join()})`,
    );
    const after = await counts();
    await client.query('rollback; deallocate probe');
    const [, hit = 0, read = 0] =
      /Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?/.exec(
        plan.rows.map((row) => row['QUERY PLAN']).join('\n'),
      ) ?? [];
    const scanned = [...after.keys()].filter((name) => after.get(name) !== before.get(name));
    return { scanned, pages: Number(hit) + Number(read) };
  };
  try {
    for (const mode of ['force_custom_plan', 'force_generic_plan']) {
      await client.query(`set plan_cache_mode = ${mode}`);
      await work(scan, mode);
    }
  } finally {
    await client.end();
  }
}

interface Scan {
  readonly scanned: readonly string[];
  readonly pages: number;
}

const isNewestFirst = (rows: readonly { id: string; created_at: string }[]): boolean => {
  const keys = rows.map(({ created_at, id }) => `${created_at} ${id}`);
  return keys.join() === [...keys].sort().reverse().join();
};

describe('every row finds its place', () => {
  const everyTime = [
    "timestamptz '1970-01-01'",
    ago(400),
    ago(40),
    ago(0),
    "now() + interval '80 days'",
    "timestamptz '2999-01-01'",
  ];

  test('whatever its time and whether or not the job has run, and lists show all rows in order', async () => {
    for (const time of everyTime) await insert(time, 5);
    await auditPurge.run({ ...service.pakhus.deps, db: service.pakhus.deps.db }, never);
    // The first run has closed the table as it was. What was expired is gone, what lies ahead has been kept.
    expect((await names()).at(-1)).toBe('audit_logs_later');
    expect((await listed('&action=file.upload')).length).toBe(20);
    for (const time of everyTime) await insert(time, 5);
    const rows = await listed('&action=file.upload');
    expect(rows).toHaveLength(50);
    expect(isNewestFirst(rows)).toBe(true);
    await createUser(service.api, tenant.key);
    expect((await listed('&action=user.create')).length).toBe(1);
    const [from, to] = [rows[12], rows[8]].map((row) => row?.created_at ?? '');
    expect(await listed(`&action=file.upload&from=${from}&to=${to}`)).toEqual(rows.slice(8, 13));
  });

  test('an installation without rows gets its months at once', async () => {
    await sql('alter table audit_logs_later disable trigger user; truncate audit_logs_later');
    await extendAudit(service.pakhus.deps.db);
    const made = await names();
    expect(made[0]).toBe('audit_logs_past');
    expect(made.slice(1, -1).every((name) => /^audit_logs_\d{4}_\d{2}$/.test(name))).toBe(true);
    expect(made.length).toBeGreaterThanOrEqual(3);
    await createUser(service.api, tenant.key);
    const [used] = (await partitions()).filter(({ rows }) => rows > 0);
    expect(used?.name).toBe(made[1]);
  });

  test('a second run changes nothing', async () => {
    await extendAudit(service.pakhus.deps.db);
    const before = await partitions();
    await extendAudit(service.pakhus.deps.db);
    expect(await partitions()).toEqual(before);
  });

  test('after months without the job, what has piled up becomes one partition, and rows from a clock ahead stay', async () => {
    await splitAt(200, 150);
    for (const days of [180, 140, 100, 50, 1]) await insert(ago(days), 3);
    await insert("timestamptz '2999-01-01'", 3);
    const before = await listed('&action=file.upload');
    await extendAudit(service.pakhus.deps.db);
    const after = await partitions();
    expect(after.map(({ name }) => name)).toEqual([
      'audit_logs_past',
      'audit_logs_part_1',
      expect.stringMatching(/^audit_logs_until_\d{4}_\d{2}$/),
      'audit_logs_later',
    ]);
    expect(after.at(-1)?.rows).toBe(3);
    expect(await listed('&action=file.upload')).toEqual(before);
  });

  test('months in which nothing was recorded become one partition', async () => {
    await sql('alter table audit_logs_later disable trigger user; truncate audit_logs_later');
    await splitAt(2000, 1900);
    await extendAudit(service.pakhus.deps.db);
    expect((await names()).length).toBeLessThanOrEqual(7);
  });

  test('several instances at once make one set of partitions', async () => {
    await insert(ago(3), 50);
    const others = await Promise.all([service.another(), service.another()]);
    const all = [service, ...others].map(({ pakhus }) => pakhus.deps.db);
    await Promise.all([...all, ...all].map(extendAudit));
    await Promise.all(others.map((one) => one.stop()));
    expect(await names()).toEqual([expect.stringMatching(/^audit_logs_until_/), 'audit_logs_later']);
    expect(await listed('&action=file.upload')).toHaveLength(50);
  });

  test.each([
    ['announced the bound', [announceBound]],
    ['checked the rows', [announceBound, checkBound]],
  ])('a job that died after it had %s is finished by the next', async (_, steps: readonly Sql[]) => {
    const { db } = service.pakhus.deps;
    for (const step of steps) await db.query(step);
    await createUser(service.api, tenant.key);
    await extendAudit(db);
    await createUser(service.api, tenant.key);
    expect(await listed('&action=user.create')).toHaveLength(2);
    expect(await names()).toEqual([expect.stringMatching(/^audit_logs_until_/), 'audit_logs_later']);
    const left = await sql("select from pg_constraint where conname = 'audit_logs_closing'");
    expect(left).toEqual([]);
  });

  test('while somebody reads the log for long, the job waits and every change is still recorded', async () => {
    const { db } = service.pakhus.deps;
    let extending: Promise<void> | undefined;
    await inTransaction(service.databaseUrl, async (query) => {
      await query('select from audit_logs');
      extending = extendAudit(db);
      const isWaiting =
        "select from pg_stat_activity where query like '%audit_bound%' and wait_event_type = 'Lock'";
      await until('the job waits for the lock', async () => (await sql(isWaiting)).length > 0);
      for (let user = 0; user < 10; user += 1) await createUser(service.api, tenant.key);
    });
    await extending;
    expect(await listed('&action=user.create')).toHaveLength(10);
    expect((await names()).length).toBe(2);
  });
});

describe('the retention', () => {
  test('drops partitions that have expired as a whole, and deletes exactly the expired rows of the others', async () => {
    await splitAt(100, 70, 40);
    for (const days of [200, 90, 71, 50, 46, 44, 1]) await insert(ago(days), 10);
    const { db } = service.pakhus.deps;
    expect(await purgeAudit(db, 45)).toEqual({ partitions: ['audit_logs_part_1'], rows: 30 });
    expect(await listed('&action=file.upload')).toHaveLength(20);
    expect(await names()).toEqual(['audit_logs_past', 'audit_logs_part_2', 'audit_logs_later']);
    // From a clock that is behind.
    await insert(ago(90), 5);
    expect(await listed('&action=file.upload')).toHaveLength(25);
    expect(await purgeAudit(db, 45)).toEqual({ partitions: [], rows: 5 });
    expect(await purgeAudit(db, 30)).toEqual({ partitions: ['audit_logs_part_2'], rows: 0 });
    expect(await names()).toEqual(['audit_logs_past', 'audit_logs_later']);
  });

  test('drops the table of the time before partitions, too', async () => {
    await insert(ago(400), 20);
    await extendAudit(service.pakhus.deps.db);
    await sql(`alter table audit_logs detach partition audit_logs_later`);
    const [first] = await sql<{ name: string }>('select name from audit_partitions()');
    await sql(`alter table audit_logs detach partition ${first?.name};
      delete from ${first?.name} where created_at > ${ago(300)};
      select attach_audit_partition('${first?.name}', '-infinity', ${ago(300)});
      select attach_audit_partition('audit_logs_later', ${ago(300)}, 'infinity')`);
    expect(await purgeAudit(service.pakhus.deps.db, 200)).toEqual({ partitions: [first?.name], rows: 0 });
    expect(await names()).toEqual(['audit_logs_past', 'audit_logs_later']);
  });

  test('the database refuses to change or delete any other row, in any partition', async () => {
    await splitAt(100, 70);
    for (const days of [200, 80, 1]) await insert(ago(days));
    for (const name of ['audit_logs', ...(await names())])
      for (const statement of [
        `update ${name} set action = 'nothing'`,
        `delete from ${name}`,
        `truncate ${name}`,
        // As an earlier release did.
        `select set_config('pakhus.audit_purge', 'on', false); delete from ${name}`,
        `select set_config('pakhus.audit_purge_before', (${ago(300)})::text, false); delete from ${name}`,
      ])
        await expect(sql(statement), statement).rejects.toThrow(/immutable/);
  });
});

test('lists read one partition after the other, from the newest, and stop when the page is full', async () => {
  await splitAt(100, 70, 40, 10);
  const userId = randomUUID();
  // Among rows of other projects, users and actions, so that the right index is the cheapest.
  for (const days of [110, 80, 50, 20, 1])
    await sql(`insert into audit_logs (project_id, actor_type, action, user_id, created_at)
      select case n % 10 when 0 then '${tenant.id}' else md5((n % 97)::text)::uuid end, 'project',
        case n % 20 when 0 then 'file.upload' else 'file.update' end,
        case n % 40 when 0 then '${userId}' else md5((n % 997)::text)::uuid end, ${ago(days)} - n * interval '1 second'
      from generate_series(1, 4000) n`);
  const byProject = /project_id_created_at|of_project/;
  const { id: projectId } = tenant;
  const ever = { from: '2000-01-01T00:00:00Z', to: '2999-01-01T00:00:00Z' };
  const filters: readonly [Partial<AuditFilter>, RegExp][] = [
    [{}, /pkey/],
    [{ projectId }, byProject],
    [{ projectId, ...ever }, byProject],
    [{ projectId, action: 'file.upload' }, /project_id_action|of_action/],
    [{ projectId, actorType: 'project' }, /project_id_actor_type|of_actor/],
    [{ projectId, userId }, /user_id_created_at|of_user$/],
    [{ userId, action: 'file.upload' }, /user_id_action|of_user_action/],
  ];
  await sql('analyze audit_logs');
  await withScans(service.databaseUrl, async (scan) => {
    for (const [filter, index] of filters)
      for (const after of [null, [new Date(Date.now() + 1e6).toISOString(), randomUUID()]]) {
        const { scanned } = await scan(listAudit({ ...noFilter, ...filter }, after, { limit: 50 }));
        expect(scanned, JSON.stringify(filter)).toHaveLength(1);
        expect(scanned[0]).toMatch(index);
      }
  });
});

test('every filter reads few rows, however rare or frequent its value, whether or not the plan is made for it', async () => {
  await splitAt(100, 70, 40, 10);
  const [rareUser, small] = [randomUUID(), await createTenant(service.api, await adminSession(service.api))];
  // Nearly all rows are of one project, and the oldest month has a few rare ones.
  for (const days of [110, 80, 50, 20, 1])
    await sql(`insert into audit_logs (project_id, actor_type, action, user_id, created_at)
      select '${tenant.id}', 'project', 'file.upload', md5((n % 3)::text)::uuid, ${ago(days)} - n * interval '1 second'
      from generate_series(1, 8000) n`);
  await sql(`insert into audit_logs (project_id, actor_type, action, user_id, created_at)
    select '${tenant.id}', 'integration', 'plan.delete', '${rareUser}', ${ago(120)} - n * interval '1 second'
    from generate_series(1, 30) n`);
  await sql('vacuum analyze audit_logs');
  const [{ id: frequentUser }] = (await sql("select md5('1')::uuid as id")) as [{ id: string }];
  const values: readonly Partial<AuditFilter>[] = [
    { action: 'file.upload' },
    { action: 'plan.delete' },
    { action: 'space.delete' },
    { actorType: 'project' },
    { actorType: 'integration' },
    { userId: frequentUser },
    { userId: rareUser },
    { userId: randomUUID() },
    { userId: frequentUser, action: 'file.upload' },
    { userId: frequentUser, action: 'plan.delete' },
    { userId: rareUser, action: 'plan.delete' },
  ];
  const filters = [
    { projectId: small.id },
    ...[null, tenant.id, small.id].flatMap((projectId) => values.map((value) => ({ projectId, ...value }))),
  ];
  const ranges = [{}, { from: toIso(119) }, { to: toIso(30) }, { from: toIso(119), to: toIso(30) }];
  const afters = [null, [toIso(25), randomUUID()]];
  await withScans(service.databaseUrl, async (scan, mode) => {
    for (const filter of filters)
      for (const range of ranges)
        for (const after of afters) {
          const { pages } = await scan(listAudit({ ...noFilter, ...filter, ...range }, after, { limit: 20 }));
          expect(pages, `${mode} ${JSON.stringify({ ...filter, ...range })}`).toBeLessThan(100);
        }
  });
});

test('pages by every filter are complete, in order and without duplicates, across partitions', async () => {
  await splitAt(100, 70, 40, 10);
  const userId = randomUUID();
  // Rows on both sides of every bound, several with the same timestamp.
  for (const days of [130, 100, 70, 40, 10, 1])
    await sql(`insert into audit_logs (project_id, actor_type, action, user_id, created_at)
      select '${tenant.id}', (array['admin', 'integration'])[1 + n % 2], (array['plan.create', 'plan.update'])[1 + n / 2 % 2],
        case n % 3 when 0 then '${userId}'::uuid end, ${ago(days)} + (n / 4 - 2) * interval '1 minute'
      from generate_series(0, 19) n`);
  const plansOf = (rows: readonly Listed[]) => rows.filter(({ action }) => action.startsWith('plan.'));
  const all = plansOf(await listed());
  expect(all).toHaveLength(120);
  const [from, to] = [all[100]?.created_at ?? '', all[15]?.created_at ?? ''];
  const isMatch: Record<string, (row: Listed) => boolean> = {
    'actor_type=admin': (row) => row.actor_type === 'admin',
    'actor_type=integration': (row) => row.actor_type === 'integration',
    'action=plan.create': (row) => row.action === 'plan.create',
    [`user_id=${userId}`]: (row) => row.user_id === userId,
    'actor_type=admin&action=plan.update': (row) =>
      row.actor_type === 'admin' && row.action === 'plan.update',
    [`user_id=${userId}&action=plan.update`]: (row) => row.user_id === userId && row.action === 'plan.update',
    [`user_id=${userId}&actor_type=admin`]: (row) => row.user_id === userId && row.actor_type === 'admin',
  };
  const admin = await adminSession(service.api);
  for (const [filter, matches] of Object.entries(isMatch)) {
    const expected = all.filter(matches);
    expect(isNewestFirst(expected)).toBe(true);
    const inRange = expected.filter(({ created_at }) => created_at >= from && created_at <= to);
    for (const [range, rows] of [
      ['', expected],
      [`&from=${from}&to=${to}`, inRange],
    ] as const) {
      const own = `&project_id=${tenant.id}`;
      const everywhere = await listed(`&${filter}${range}`, '/admin/audit', admin);
      expect(plansOf(await listed(`&${filter}${range}`)), filter).toEqual(rows);
      expect(plansOf(await listed(`&${filter}${range}${own}`, '/admin/audit', admin)), filter).toEqual(rows);
      expect(plansOf(everywhere), filter).toEqual(rows);
      expect(isNewestFirst(everywhere)).toBe(true);
    }
  }
});
