// Finding users: by the beginning of their external id, and near their quota.
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { afterSearchKey, findUsers, listUsersNearLimit } from '../../src/features/users/users.sql.ts';
import { noSql, type Sql } from '../../src/platform/db/sql.ts';
import { onServer } from '../support/database.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { adminSession, createPlan, createTenant, createUser, type Tenant } from '../support/tenants.ts';

let service: TestPakhus;
let admin: string;

beforeAll(async () => {
  service = await startTestPakhus({ ROLE: 'api' });
  admin = await adminSession(service.api);
});
afterAll(() => service.stop());

const tenantOf = () => createTenant(service.api, admin);

async function tenantWith(...externalIds: readonly string[]): Promise<Tenant> {
  const tenant = await tenantOf();
  for (const id of externalIds) await createUser(service.api, tenant.key, id);
  return tenant;
}

interface Found {
  readonly external_id: string;
  readonly usagePercent: number;
}

const ask = ({ key }: Tenant, query: Record<string, string | number>) =>
  service.api.get(`/project/users?${new URLSearchParams(query as Record<string, string>)}`, key);

async function find(tenant: Tenant, query: Record<string, string | number>): Promise<string[]> {
  const { status, body, text } = await ask(tenant, query);
  expect(status, text).toBe(200);
  return body.users.map(({ external_id }: Found) => external_id);
}

/** Page by page. */
async function findAll(tenant: Tenant, query: Record<string, string | number>): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | null = null;
  do {
    const { status, body, text } = await ask(tenant, { ...query, ...(cursor !== null && { cursor }) });
    expect(status, text).toBe(200);
    found.push(...body.users.map(({ external_id }: Found) => external_id));
    cursor = body.next_cursor;
  } while (cursor !== null && found.length < 10_000);
  return found;
}

describe('users.list by q', () => {
  test('finds what begins with it, ignoring case, in the order of the ids, and nothing of other projects', async () => {
    const mine = await tenantWith('anna', 'ANN', 'Annabel', 'an', 'hannah', 'bob');
    await tenantWith('anna', 'annika');
    expect(await find(mine, { q: 'ann' })).toEqual(['ANN', 'anna', 'Annabel']);
    expect(await find(mine, { q: 'ANNA' })).toEqual(['anna', 'Annabel']);
    expect(await find(mine, { q: 'annabel' })).toEqual(['Annabel']);
    expect(await find(mine, { q: 'annabella' })).toEqual([]);
    expect(await find(mine, {})).toEqual(['bob', 'hannah', 'an', 'Annabel', 'ANN', 'anna']);
  });

  test('takes every character as it is', async () => {
    const ids = [
      '100%',
      '100 per cent',
      'a_b',
      'axb',
      'a\\b',
      'Ærø',
      'ÆRE',
      'straße',
      '日本-1',
      '日本-2',
      "o'hara",
      '💡x',
    ];
    const last = `z${'\u{10ffff}'.repeat(254)}`;
    const tenant = await tenantWith(...ids, last, '*');
    expect(await find(tenant, { q: '%' })).toEqual([]);
    expect(await find(tenant, { q: '_' })).toEqual([]);
    expect(await find(tenant, { q: '100%' })).toEqual(['100%']);
    expect(await find(tenant, { q: 'a_' })).toEqual(['a_b']);
    expect(await find(tenant, { q: 'a\\' })).toEqual(['a\\b']);
    expect(await find(tenant, { q: 'æR' })).toEqual(['ÆRE', 'Ærø']);
    expect(await find(tenant, { q: '日本' })).toEqual(['日本-1', '日本-2']);
    expect(await find(tenant, { q: "O'" })).toEqual(["o'hara"]);
    expect(await find(tenant, { q: '💡' })).toEqual(['💡x']);
    expect(await find(tenant, { q: 'Z' })).toEqual([last]);
    expect(await find(tenant, { q: '*' })).toEqual(['*']);
  });

  test.each([1, 2, 3])(
    'in pages of %i lists every match once, also where only the case differs',
    async (limit) => {
      const ids = ['x', 'Xa', 'xA', 'XA', 'xa', 'xb', 'Xy'];
      const tenant = await tenantWith(...ids, 'y', 'w');
      const whole = await find(tenant, { q: 'x' });
      expect([...whole].sort()).toEqual([...ids].sort());
      expect(await findAll(tenant, { q: 'x', limit })).toEqual(whole);
    },
  );

  test('a cursor of one order is refused by the other, and by other projects', async () => {
    const [mine, theirs] = [await tenantWith('a1', 'a2', 'a3'), await tenantWith('a1', 'a2')];
    const cursorOf = async (query: Record<string, string | number>) =>
      (await ask(mine, { limit: 1, ...query })).body.next_cursor as string;
    const [found, newest] = [await cursorOf({ q: 'a' }), await cursorOf({})];
    const wrong = [
      await ask(mine, { cursor: found }),
      await ask(mine, { cursor: found, usage_min: 1 }),
      await ask(mine, { cursor: newest, q: 'a' }),
      await ask(mine, { cursor: newest, q: 'a', usage_min: 1 }),
      await ask(theirs, { cursor: found, q: 'a' }),
      await ask(mine, { cursor: `${found}x`, q: 'a' }),
    ];
    for (const { status, body } of wrong) {
      expect(status).toBe(400);
      expect(body.error.details.issues).toMatchObject([{ path: 'cursor' }]);
    }
    expect(await find(mine, { cursor: found, q: 'a' })).toEqual(['a2', 'a3']);
    expect(await find(mine, { cursor: found, q: 'A' })).toEqual(['a2', 'a3']);
  });

  test.each([
    ['q', ''],
    ['q', 'x'.repeat(101)],
    ['q', 'a\u0000'],
    ['q', 'a\nb'],
    ['usage_min', '0'],
    ['usage_min', '1001'],
    ['usage_min', '1.5'],
    ['usage_min', 'all'],
  ])('refuses %s=%j and says which parameter is wrong', async (name, value) => {
    const { status, body } = await ask(await tenantOf(), { [name]: value });
    expect([status, body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(body.error.details.issues).toMatchObject([{ path: name }]);
  });
});

describe('users.list by usage_min', () => {
  const insert = async (tenant: Tenant, planId: string | null, name: string, used: readonly number[]) => {
    const values = used.map(
      (bytes) =>
        `('${tenant.id}', '${name}-${bytes}', ${planId ? `'${planId}'` : 'null'}, ${bytes}, ${2 ** 30})`,
    );
    await onServer(
      service.databaseUrl,
      `insert into users (project_id, external_id, plan_id, used_bytes, reserved_bytes) values ${values.join()}`,
    );
  };

  /** Around the edges of rounding, with and without a plan of their own. */
  async function crowd(): Promise<Tenant> {
    const tenant = await tenantOf();
    const plans = {
      standard: await createPlan(service.api, tenant.key, { storageLimit: 1_000_000 }),
      odd: await createPlan(service.api, tenant.key, { storageLimit: 7 }),
      none: await createPlan(service.api, tenant.key, { storageLimit: 0 }),
      huge: await createPlan(service.api, tenant.key, { storageLimit: Number.MAX_SAFE_INTEGER }),
      unlimited: await createPlan(service.api, tenant.key, { storageLimit: null }),
    };
    const edges = [
      0, 1, 899_949, 899_950, 899_999, 900_000, 999_949, 999_950, 1_000_000, 9_999_950, 10_000_000,
    ];
    for (const name of ['standard', 'unlimited'] as const) await insert(tenant, plans[name].id, name, edges);
    await insert(tenant, null, 'default', edges);
    await insert(tenant, plans.odd.id, 'odd', [0, 1, 2, 5, 6, 7, 8, 69, 70, 71]);
    await insert(tenant, plans.none.id, 'none', [0, 1, 10 ** 15]);
    await insert(tenant, plans.huge.id, 'huge', [0, 2 ** 52, 2 ** 53 - 2 ** 43, 2 ** 53 - 1]);
    return tenant;
  }

  test('matches exactly those users whose shown usagePercent reaches it, newest first, with q and in pages', async () => {
    const tenant = await crowd();
    const { body } = await ask(tenant, { limit: 100 });
    const shown: readonly Found[] = body.users;
    for (const usage_min of [1, 14, 50, 71, 86, 89, 90, 91, 99, 100, 101, 999, 1000]) {
      const expected = shown.filter((user) => user.usagePercent >= usage_min).map((user) => user.external_id);
      expect(await find(tenant, { usage_min, limit: 100 }), String(usage_min)).toEqual(expected);
      expect(await findAll(tenant, { usage_min, limit: 4 }), String(usage_min)).toEqual(expected);
      const named = expected.filter((id) => id.startsWith('standard')).sort();
      expect(await findAll(tenant, { usage_min, q: 'STAND', limit: 2 }), String(usage_min)).toEqual(named);
    }
    expect(await find(tenant, { usage_min: 1, q: 'unlimited' })).toEqual([]);
  });

  test('follows a change of the plan and of the default', async () => {
    const tenant = await crowd();
    const plans = (await service.api.get('/project/plans', tenant.key)).body.plans;
    const standard = plans.find((plan: { storageLimit: number }) => plan.storageLimit === 1_000_000);
    await service.api.put(`/project/plans/${standard.id}`, tenant.key, { storageLimit: null });
    expect(await find(tenant, { usage_min: 1, q: 'standard' })).toEqual([]);
    expect(await find(tenant, { usage_min: 1, q: 'default' })).toEqual([]);
  });

  test('with thousands of matches, lists the same as with few', async () => {
    const tenant = await tenantOf();
    const plan = await createPlan(service.api, tenant.key, { storageLimit: 1_000 });
    await onServer(
      service.databaseUrl,
      `insert into users (project_id, external_id, plan_id, used_bytes, created_at)
       select '${tenant.id}', 'user-' || lpad(n::text, 5, '0'), case when n % 2 = 0 then '${plan.id}'::uuid end,
         case when n <= 5010 then 950 else 100 end, now() - n * interval '1 second'
       from generate_series(1, 6000) n`,
    );
    const name = (n: number) => `user-${String(n).padStart(5, '0')}`;
    const numbers = (from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, at) => name(from + at));
    const all = await findAll(tenant, { usage_min: 90, limit: 100 });
    expect(all).toEqual(numbers(1, 5010));
    expect(await findAll(tenant, { usage_min: 90, q: 'user-050', limit: 5 })).toEqual(numbers(5000, 5010));
    expect(await find(tenant, { usage_min: 96 })).toEqual([]);
  });
});

test('users.list: searches read few users by index, also when planned without their values', async () => {
  const tenant = await tenantOf();
  const plan = await createPlan(service.api, tenant.key, { storageLimit: 1_000_000 });
  await onServer(
    service.databaseUrl,
    `insert into users (project_id, external_id, plan_id, used_bytes)
     select '${tenant.id}', md5(n::text), '${plan.id}', n * 10 from generate_series(1, 20000) n`,
  );
  const client = new pg.Client({ connectionString: service.databaseUrl });
  await client.connect();
  const explain = async ({ text, values }: Sql): Promise<string> => {
    await client.query(`prepare search as ${text}`);
    const given = values.map((value) => (typeof value === 'number' ? value : `'${value}'`));
    const { rows } = await client.query(`explain (analyze, costs off) execute search(${given.join()})`);
    await client.query('deallocate search');
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  };
  try {
    await client.query('analyze users; analyze plans');
    const page = { limit: 50 };
    for (const mode of ['force_custom_plan', 'force_generic_plan']) {
      await client.query(`set plan_cache_mode = ${mode}`);
      const byName = [
        await explain(findUsers(tenant.id, 'ABC', noSql, page)),
        await explain(findUsers(tenant.id, 'a', afterSearchKey(['a8', tenant.id]), page)),
      ];
      for (const text of byName) {
        expect(text).toContain('users_by_external_id');
        expect(text).not.toMatch(/Sort|Rows Removed/);
      }
      const near = [
        await explain(listUsersNearLimit(tenant.id, 19, undefined, noSql, page)),
        await explain(listUsersNearLimit(tenant.id, 19, 'a', noSql, page)),
        // 19,000 match: the list is walked instead.
        await explain(listUsersNearLimit(tenant.id, 1, undefined, noSql, page)),
        await explain(listUsersNearLimit(tenant.id, 1, 'a', noSql, page)),
      ];
      for (const text of near) {
        expect(text).toContain('users_of_plan');
        expect(text).not.toMatch(/Seq Scan on users/);
      }
      expect(near[2]).toContain('users_newest');
      expect(near[3]).toContain('users_by_external_id');
    }
  } finally {
    await client.end();
  }
});
