// The lists that have no filters, all paged alike.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rowsOf } from '../support/database.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { adminSession, createTenant, createUser, planFields, unique } from '../support/tenants.ts';

interface List {
  readonly name: string;
  readonly path: string;
  readonly as: string;
  readonly table: string;
  /** What a row is made of. */
  readonly make: () => object;
}

const names = ['projects', 'users', 'spaces', 'keys', 'integrations', 'plans'] as const;

let service: TestPakhus;
let mine: Map<string, List>;
let strangers: Map<string, List>;
const made = new Map<List, string[]>();

beforeAll(async () => {
  service = await startTestPakhus({ ROLE: 'api' });
  const admin = await adminSession(service.api);
  [mine, strangers] = [await listsOf(admin), await listsOf(admin)];
  for (const list of mine.values()) await fill(list, 5);
  for (const list of strangers.values()) if (list.name !== 'projects') await fill(list, 2);
});
afterAll(() => service.stop());

async function listsOf(admin: string): Promise<Map<string, List>> {
  const { key } = await createTenant(service.api, admin);
  const { id } = await createUser(service.api, key);
  const password = 'a password of a tenant';
  const lists: Record<(typeof names)[number], Omit<List, 'name'>> = {
    projects: {
      path: '/admin/projects',
      as: admin,
      table: 'projects',
      make: () => ({ name: 'listed', email: `${unique('listed')}@example.com`, password }),
    },
    users: {
      path: '/project/users',
      as: key,
      table: 'users',
      make: () => ({ externalId: unique('listed') }),
    },
    spaces: {
      path: `/project/users/${id}/spaces`,
      as: key,
      table: 'spaces',
      make: () => ({ external_id: unique('listed'), name: 'listed' }),
    },
    keys: { path: '/project/keys', as: key, table: 'api_keys', make: () => ({}) },
    integrations: { path: '/project/integrations', as: key, table: 'integrations', make: () => ({}) },
    plans: { path: '/project/plans', as: key, table: 'plans', make: () => planFields },
  };
  return new Map(Object.entries(lists).map(([name, list]) => [name, { name, ...list }]));
}

/** Some of the rows are of the same millisecond, as rows are that are made at once. */
async function fill(list: List, rows: number): Promise<void> {
  const { path, as, table, make, name } = list;
  const ids: string[] = [];
  for (let n = 0; n < rows; n += 1) {
    const { status, body, text } = await service.api.post(path, as, make());
    expect(status, text).toBe(201);
    ids.push(body[name.slice(0, -1)].id);
  }
  made.set(list, ids);
  const together = ids.slice(1, 4).join("', '");
  await rowsOf(service.databaseUrl, `update ${table} set created_at = now() where id in ('${together}')`);
}

interface Page {
  readonly ids: string[];
  readonly next: string | null;
}

async function pageOf({ name, path, as }: List, limit: number, cursor: string | null): Promise<Page> {
  const query = new URLSearchParams({ limit: `${limit}`, ...(cursor !== null && { cursor }) });
  const { status, body, text } = await service.api.get(`${path}?${query}`, as);
  expect(status, text).toBe(200);
  return { ids: body[name].map(({ id }: { id: string }) => id), next: body.next_cursor };
}

const listOf = (name: string, lists = mine) => lists.get(name) as List;

describe.each(names)('%s.list', (name) => {
  test.each([1, 2])('in pages of %i lists every row once, in the order of one page', async (limit) => {
    const list = listOf(name);
    const whole = await pageOf(list, 100, null);
    expect(whole.next).toBeNull();
    expect(whole.ids).toEqual(expect.arrayContaining(made.get(list) ?? []));
    const found: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Page = await pageOf(list, limit, cursor);
      found.push(...page.ids);
      cursor = page.next;
      if (cursor !== null) expect(page.ids).toHaveLength(limit);
    } while (cursor !== null && found.length <= whole.ids.length);
    expect(found).toEqual(whole.ids);
  });

  test("refuses a cursor of another list, or of another tenant's list", async () => {
    const { path, as } = listOf(name);
    const others = names.filter((other) => other !== name).map((other) => listOf(other));
    // There is one list of projects.
    const same = name === 'projects' ? [] : [listOf(name, strangers)];
    for (const other of [...others, ...same]) {
      const { next } = await pageOf(other, 1, null);
      const { status, body } = await service.api.get(`${path}?cursor=${encodeURIComponent(`${next}`)}`, as);
      expect(status, other.path).toBe(400);
      expect(body.error.details.issues).toMatchObject([{ path: 'cursor' }]);
    }
  });
});
