// Search and sort in the list of files: the same answers from a user's files directly and from the index of a project, which a model
// in memory knows too.
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findMatches, walkFiles } from '../../src/features/files/files.index.sql.ts';
import { afterSearched, columnsOfIndex, type FileSearch } from '../../src/features/files/files.search.sql.ts';
import { indexOlderFiles } from '../../src/features/files/files.search.ts';
import { noSql, type Sql } from '../../src/platform/db/sql.ts';
import { onServer, rowsOf } from '../support/database.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { createLiveSpace } from '../support/spaces.ts';
import { adminSession, createTenant, createUser, type Tenant } from '../support/tenants.ts';
import { upload } from '../support/uploads.ts';

interface Listed {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly folder: string;
  readonly created_at: string;
  readonly sha256: string;
  readonly tags: string[];
}

let service: TestPakhus;
let tenant: Tenant;
let path: string;
let userId: string;

beforeAll(async () => {
  service = await startTestPakhus();
  tenant = await createTenant(service.api, await adminSession(service.api));
  userId = (await createUser(service.api, tenant.key)).id;
  path = `/project/users/${userId}`;
});
afterAll(() => service.stop());

/** All pages of a list. */
async function listAll(query: string, limit = 3, as = tenant.key): Promise<Listed[]> {
  const files: Listed[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const after: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const { status, body, text } = await service.api.get(`${path}/files?limit=${limit}&${query}${after}`, as);
    expect(status, text).toBe(200);
    files.push(...body.files);
    cursor = body.next_cursor;
  }
  return files;
}

const keyOf = (name: string): string => name.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

const compare = (one: string | number, other: string | number): number =>
  one < other ? -1 : one > other ? 1 : 0;

/** What every search must find, by a model. */
const searches: Record<
  string,
  { keep?: (file: Listed) => boolean; sort?: (file: Listed) => string | number; desc?: boolean }
> = {
  'sort=name': { sort: ({ name }) => keyOf(name) },
  'sort=name&order=desc': { sort: ({ name }) => keyOf(name), desc: true },
  'sort=size': { sort: ({ size }) => size, desc: true },
  'sort=size&order=asc': { sort: ({ size }) => size },
  'order=asc': { sort: ({ created_at }) => created_at },
  'q=RESUME': { keep: ({ name }) => keyOf(name).includes('resume'), desc: true },
  'q=%C3%A9s': { keep: ({ name }) => keyOf(name).includes('es'), desc: true },
  'q=0%25': { keep: ({ name }) => name.includes('0%'), desc: true },
  'q=a_b': { keep: ({ name }) => name.includes('a_b'), desc: true },
  'q=nothing-like-this': { keep: () => false },
  'q=file&sort=size&order=asc&size_min=3&size_max=6': {
    keep: ({ name, size }) => keyOf(name).includes('file') && size >= 3 && size <= 6,
    sort: ({ size }) => size,
  },
  'size_max=4': { keep: ({ size }) => size <= 4, desc: true },
  'sort=name&folder=docs': { keep: ({ folder }) => folder === 'docs', sort: ({ name }) => keyOf(name) },
  'sort=name&tags=red': { keep: ({ tags }) => tags.includes('red'), sort: ({ name }) => keyOf(name) },
};

async function expectAll(): Promise<void> {
  const all = await listAll('', 100);
  for (const [
    query,
    { keep = () => true, sort = (file: Listed) => file.created_at, desc = false },
  ] of Object.entries(searches)) {
    const direction = desc ? -1 : 1;
    const wanted = all
      .filter(keep)
      .sort((one, other) => direction * (compare(sort(one), sort(other)) || compare(one.id, other.id)));
    expect(
      (await listAll(query)).map(({ id }) => id),
      query,
    ).toEqual(wanted.map(({ id }) => id));
  }
  const [some] = all;
  expect((await listAll(`sha256=${some?.sha256}`)).map(({ sha256 }) => sha256)).toContain(some?.sha256);
  const middle = all[Math.floor(all.length / 2)]?.created_at ?? '';
  const times = all.map(({ created_at }) => created_at);
  expect((await listAll(`created_from=${middle}`)).length).toBe(times.filter((at) => at >= middle).length);
  expect((await listAll(`created_to=${middle}&sort=name`)).length).toBe(
    times.filter((at) => at <= middle).length,
  );
}

const names = [
  'Résumé.pdf',
  'resume 2.PDF',
  're\u0301sume\u0301',
  '100%.txt',
  'a_b',
  'axb',
  'File1',
  'file2',
  'FILE3',
  'Ärger',
  'Zoë',
];

async function putAll(): Promise<void> {
  for (const [number, name] of names.entries()) {
    const fields = { folder: number % 3 === 0 ? 'docs' : '', tags: number % 2 === 0 ? ['red'] : [] };
    const reply = await upload(service.api, tenant.key, path, 'x'.repeat(number), { name, fields });
    expect(reply.status, reply.text).toBe(201);
  }
}

/** As if the user had many files, and the project had searched them long ago. */
async function index(): Promise<void> {
  await onServer(
    service.databaseUrl,
    `update users set file_count = file_count + 1000000 where id = '${userId}';
     update projects set searches_since = now() - interval '1 hour' where id = '${tenant.id}'`,
  );
  await indexOlderFiles(service.pakhus.deps, new AbortController().signal);
  expect(
    await rowsOf(service.databaseUrl, `select searchable from projects where id = '${tenant.id}'`),
  ).toEqual([{ searchable: true }]);
}

const indexed = async (): Promise<number> =>
  (await rowsOf(service.databaseUrl, `select file_id from file_names where project_id = '${tenant.id}'`))
    .length;

/** What was found for one page may be sorted again. */
const sortOfPage = /-> {2}Sort\n.*Sort Key:.*\n\s+-> {2}CTE Scan/g;

async function moveDocs(to: string, from = 'docs'): Promise<void> {
  const reply = await service.api.call('POST', `${path}/folders/move`, {
    as: tenant.key,
    body: { from, to },
  });
  expect(reply.status, reply.text).toBe(200);
}

describe('files.list', () => {
  test('finds and sorts the files of a user who has few, and indexes nothing', async () => {
    await putAll();
    await expectAll();
    expect(await indexed()).toBe(0);
  });

  test('finds and sorts by the index of a project, which knows older files and follows every change', async () => {
    await index();
    expect(await indexed()).toBe(names.length);
    await expectAll();
    await putAll();
    expect(await indexed()).toBe(2 * names.length);
    const [first, second] = await listAll('sort=name');
    const changed = await service.api.call('PUT', `${path}/files/${first?.id}`, {
      as: tenant.key,
      body: { folder: 'docs' },
    });
    expect(changed.status, changed.text).toBe(200);
    const deleted = await service.api.call('DELETE', `${path}/files/${second?.id}`, { as: tenant.key });
    expect(deleted.status).toBe(204);
    expect(await indexed()).toBe(2 * names.length - 1);
    await expectAll();
    await moveDocs('elsewhere/docs');
    const moved = await listAll('sort=name&folder=elsewhere/docs');
    expect(moved.length).toBeGreaterThan(0);
    expect(await listAll('sort=name&folder=docs')).toEqual([]);
    await moveDocs('docs', 'elsewhere/docs');
    expect(await listAll('sort=name&folder=docs')).toHaveLength(moved.length);
  });

  test('binds a cursor to the order of its list', async () => {
    const { body } = await service.api.get(`${path}/files?limit=2&sort=name`, tenant.key);
    for (const query of ['', 'sort=size&', 'sort=name&order=desc&'])
      expect(
        (await service.api.get(`${path}/files?${query}cursor=${body.next_cursor}`, tenant.key)).status,
      ).toBe(400);
  });

  test('shows a space token only its space, whatever it searches', async () => {
    const space = await createLiveSpace(service, tenant.id, userId, ['files:read']);
    await upload(service.api, tenant.key, path, 'x', {
      name: 'file in space',
      fields: { space_id: space.id },
    });
    expect((await listAll('q=file&sort=name', 3, space.token)).map(({ name }) => name)).toEqual([
      'file in space',
    ]);
    expect((await listAll('q=file&space_id=none')).some(({ name }) => name === 'file in space')).toBe(false);
  });

  test.each([
    'q=a',
    `q=${'a'.repeat(101)}`,
    'sort=color',
    'order=up',
    'size_min=-1',
    'sha256=1',
    'created_from=today',
  ])('refuses %s', async (query) => {
    expect((await service.api.get(`${path}/files?${query}`, tenant.key)).status).toBe(400);
  });

  test('neither scans nor sorts many files, whatever is asked for', async () => {
    const client = new pg.Client({ connectionString: service.databaseUrl });
    await client.connect();
    try {
      const [other] = (
        await client.query(
          `insert into file_names (project_id, user_id, space_id, file_id, folder_hash, name_key, size, created_at)
           select '${tenant.id}', '${userId}', md5('space')::uuid, gen_random_uuid(), md5('docs')::uuid, 'img ' || n || ' ' || md5(n::text), n, now() - n * interval '1 s'
           from generate_series(1, 12000) n returning file_id, space_id`,
        )
      ).rows;
      await client.query('vacuum analyze file_names');
      const explain = async ({ text, values }: Sql): Promise<string> =>
        (await client.query(`explain (costs off) ${text}`, [...values])).rows
          .map((row) => row['QUERY PLAN'])
          .join('\n');
      for (const sort of ['name', 'size', 'created_at'] as const)
        for (const order of ['asc', 'desc'] as const)
          for (const [filter, key] of [
            [{ space: 'all' }, 'user_id'],
            [{ space: 'all', folder: 'docs' }, 'folder_hash'],
            [{ space: { spaceId: other.space_id } }, 'space_id'],
          ] as const) {
            const search: FileSearch = { sort, order };
            const value = { name: 'img 5', size: '5', created_at: '2026-01-01' }[sort];
            for (const after of [noSql, afterSearched(search, columnsOfIndex, [value, other.file_id])]) {
              const plan = await explain(walkFiles(tenant.id, userId, filter, search, after, 200, 21));
              const walk = plan.replaceAll(sortOfPage, '');
              expect(walk, `${sort} ${order} ${key}`).not.toMatch(/Sort|Seq Scan/);
              expect(walk).toContain(key);
            }
          }
      await client.query(
        'set enable_indexscan = off; set enable_indexonlyscan = off; set enable_seqscan = off',
      );
      const rare: FileSearch = { q: 'c4ca4238', sort: 'created_at', order: 'desc' };
      for (const filter of [
        { space: 'all' },
        { space: 'all', folder: 'docs' },
        { space: { spaceId: other.space_id } },
      ] as const) {
        const [byOwner, byName] = [false, true].map((hasMost) =>
          findMatches(tenant.id, userId, filter, rare, noSql, 21, hasMost),
        ) as [Sql, Sql];
        expect(await explain(byName)).toContain('file_names_by_text');
        if (filter.space === 'all') expect(await explain(byName)).not.toMatch(/Index Cond:.*user_id/);
        const found = (await client.query(byOwner.text, [...byOwner.values])).rows;
        expect(found).toHaveLength(1);
        expect((await client.query(byName.text, [...byName.values])).rows).toEqual(found);
      }
      expect(await explain(findMatches(tenant.id, userId, { space: 'all' }, rare, noSql, 21))).toContain(
        'file_names_by_text',
      );
    } finally {
      await client.end();
    }
    // Rare and far from where the walk begins.
    const { body } = await service.api.get(`${path}/files?q=zoe&sort=size&order=desc`, tenant.key);
    expect(body.files.map(({ name }: Listed) => name)).toEqual(['Zoë', 'Zoë']);
  });

  test('refuses a part of a name where the database cannot find it, and nothing else', async () => {
    await onServer(service.databaseUrl, 'drop extension unaccent cascade');
    const refused = await service.api.get(`${path}/files?q=file`, tenant.key);
    expect([refused.status, refused.body.error.code]).toEqual([422, 'VALIDATION_ERROR']);
    expect((await service.api.get(`${path}/files?sort=name`, tenant.key)).status).toBe(200);
  });
});
