// Finding files again: filters, pages and the folder tree; on every store.
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listFiles } from '../../src/features/files/files.list.sql.ts';
import { findFiles } from '../../src/features/files/files.sql.ts';
import { noSql } from '../../src/platform/db/sql.ts';
import { rowsOf } from '../support/database.ts';
import { wrongCopies } from '../support/ledger.ts';
import { type PakhusOnStore, startOn, storesFor } from '../support/stores.ts';
import {
  adminSession,
  createTenant,
  createUser,
  mintToken,
  type Tenant,
  unique,
} from '../support/tenants.ts';
import { type UploadOptions, upload } from '../support/uploads.ts';

for (const store of storesFor('lists of files')) describe(`on ${store.name}`, suite.bind(null, store));

function suite(store: Parameters<typeof startOn>[0]): void {
  let service: PakhusOnStore;
  let admin: string;
  let tenant: Tenant;

  beforeAll(async () => {
    service = await startOn(store);
    admin = await adminSession(service.api);
    tenant = await createTenant(service.api, admin);
  });
  afterAll(() => service.stop());

  const userOf = async (key = tenant.key) => `/project/users/${(await createUser(service.api, key)).id}`;
  const spaceOf = async (path: string): Promise<string> => {
    const fields = { external_id: unique('s'), name: 's' };
    return (await service.api.post(`${path}/spaces`, tenant.key, fields)).body.space.id;
  };
  const spaceToken = async (path: string, spaceId: string): Promise<string> => {
    const { external_id } = (await service.api.get(`${path}/spaces/${spaceId}`, tenant.key)).body.space;
    await service.api.put(`${path}/spaces/${spaceId}`, tenant.key, { scopes: ['files:read', 'files:write'] });
    await service.api.put(`${path}/spaces/${spaceId}/credentials`, tenant.key, { password: '4711' });
    const login = await service.api.post('/project/spaces/login', tenant.key, {
      external_id,
      password: '4711',
    });
    return login.body.token;
  };
  const put = async (path: string, name: string, options: UploadOptions = {}) => {
    const reply = await upload(service.api, tenant.key, path, name, { name, ...options });
    expect(reply.status, reply.text).toBe(201);
    return reply.body.file.id as string;
  };
  const namesOf = async (path: string, query = '', as = tenant.key): Promise<string[]> => {
    const reply = await service.api.get(`${path}/files${query}`, as);
    expect(reply.status, reply.text).toBe(200);
    return reply.body.files.map((file: { name: string }) => file.name).sort();
  };

  describe('files.list', () => {
    test('files.list: each filter by itself, and all of them together', async () => {
      const path = await userOf();
      const spaceId = await spaceOf(path);
      await put(path, 'plain', { meta: { tags: ['a,b'] } });
      await put(path, 'both', {
        type: 'image/png',
        meta: { folder: 'a/b', tags: ['red', 'big'], classifier: 'c1' },
      });
      await put(path, 'red', {
        type: 'image/gif',
        meta: { folder: 'a', tags: ['red'], visibility: 'public' },
      });
      await put(path, 'spaced', {
        type: 'text/plain',
        meta: {
          folder: 'a/b',
          tags: ['red', 'big', 'new'],
          classifier: 'c1',
          visibility: 'public',
          space_id: spaceId,
        },
      });
      const expected: Record<string, string[]> = {
        '': ['both', 'plain', 'red', 'spaced'],
        '?folder=a/b': ['both', 'spaced'],
        '?folder=%2Fa%2F': ['red'],
        '?folder=': ['plain'],
        '?tags=red': ['both', 'red', 'spaced'],
        '?tags=red,big': ['both', 'spaced'],
        '?tags=red&tags=big': ['both', 'spaced'],
        '?tags=big,red,new': ['spaced'],
        '?tags=Red': [],
        '?tags=a,b': [],
        '?tags=["a,b"]': ['plain'],
        '?tags=["red","big"]': ['both', 'spaced'],
        '?tags=["red': [],
        '?tags=[7]': [],
        '?classifier=c1': ['both', 'spaced'],
        '?classifier=c2': [],
        '?mime_type=image/png': ['both'],
        '?mimeType=IMAGE/*': ['both', 'red'],
        '?mime_type=image/*': ['both', 'red'],
        '?mime_type=image/*;q=1': ['both', 'red'],
        '?mime_type=text/*': ['spaced'],
        '?visibility=public': ['red', 'spaced'],
        '?visibility=private': ['both', 'plain'],
        [`?space_id=${spaceId}`]: ['spaced'],
        [`?spaceId=${spaceId}`]: ['spaced'],
        '?space_id=none': ['both', 'plain', 'red'],
        '?space_id=00000000-0000-4000-8000-000000000000': [],
        [`?folder=a/b&tags=red,big&classifier=c1&mime_type=text/plain&visibility=public&space_id=${spaceId}`]:
          ['spaced'],
        '?folder=a/b&tags=red,big&classifier=c1&mime_type=image/*&visibility=private&space_id=none': ['both'],
        '?folder=a/b&visibility=public&space_id=none': [],
      };
      for (const [query, names] of Object.entries(expected))
        expect(await namesOf(path, query), query).toEqual(names);
      const { token } = await mintToken(service.api, tenant.key, path.split('/').at(-1) ?? '');
      expect(await namesOf(path, '', token)).toEqual(['both', 'plain', 'red', 'spaced']);
      expect(await namesOf(path, '?space_id=none', token)).toEqual(['both', 'plain', 'red']);
    });

    test('files.list: a family of types does not catch its neighbours', async () => {
      const path = await userOf();
      for (const type of ['image/png', 'image-x/png', 'image0/png', 'imag/png', 'image.x/png'])
        await put(path, type.replace('/', '+'), { type });
      expect(await namesOf(path, '?mime_type=image/*')).toEqual(['image+png']);
      const long = `application/vnd.${'x'.repeat(100)}+xml`;
      await put(path, 'long', { type: long });
      expect(await namesOf(path, `?mime_type=${encodeURIComponent(long)}`)).toEqual(['long']);
    });

    test.each([
      'limit=0',
      'limit=101',
      'limit=x',
      'limit=1.5',
      'visibility=secret',
      'space_id=x',
      'mime_type=image',
      'folder=a/../b',
      'folder=a%00b',
      'tags=a%00b',
      'cursor=x',
      'cursor=',
    ])('files.list: %s is 400 and says which parameter', async (query) => {
      const reply = await service.api.get(`${await userOf()}/files?${query}`, tenant.key);
      expect(reply.status).toBe(400);
      expect(reply.body.error.details.issues[0].path).toMatch(new RegExp(`^${query.split('=')[0]}`));
    });

    test('files.list: pages hold every file once, also among equal timestamps, in one order', async () => {
      const path = await userOf();
      const userId = path.split('/').at(-1);
      const ids: string[] = [];
      for (let at = 0; at < 25; at += 1)
        ids.push(await put(path, `f${at}`, { meta: at % 2 ? { tags: ['odd'] } : {} }));
      // Three moments only, 25 files.
      await rowsOf(
        service.databaseUrl,
        `update files set created_at = timestamptz '2026-01-01' + (('x' || right(id::text, 4))::bit(16)::int % 3) * interval '1 millisecond'
         where user_id = '${userId}'`,
      );
      const whole = await service.api.get(`${path}/files?limit=100`, tenant.key);
      const inOrder = whole.body.files.map((file: { id: string }) => file.id);
      expect([...inOrder].sort()).toEqual([...ids].sort());
      expect(whole.body.next_cursor).toBeNull();
      for (const limit of [1, 4, 5, 24, 25]) {
        const walked = await walk(path, `/files?limit=${limit}`);
        expect(walked.files.map((file) => file.id)).toEqual(inOrder);
        expect(walked.pages).toBe(Math.ceil(25 / limit));
      }
      const odd = await walk(path, '/files?limit=2&tags=odd');
      expect(odd.files).toHaveLength(12);
      const first = await service.api.get(`${path}/files`, tenant.key);
      expect(first.body.files).toHaveLength(20);
    });

    test('files.list: a tag that thousands of files have, with a filter that few or none of them fulfil', async () => {
      const path = await userOf();
      const userId = path.split('/').at(-1) as string;
      const made = await rowsOf<{ id: string; n: number }>(
        service.databaseUrl,
        `insert into files (id, project_id, user_id, name, size, mime_type, storage_key, sha256, tags, classifier, metadata, created_at)
         select gen_random_uuid(), '${tenant.id}', '${userId}', 'file', 1, 'text/plain', gen_random_uuid(), '\\x00',
           case when n % 300 = 0 then array['common', 'rare'] else array['common'] end,
           case when n > 2200 and n % 2 = 0 then 'old' when n % 5 = 0 then 'fifth' end,
           case when n % 7 = 0 then jsonb_build_object('text', repeat('x', 2000)) else '{}' end, now() - make_interval(secs => n)
         from generate_series(1, 2500) n returning id, (extract(epoch from now() - created_at))::int as n`,
      );
      const newest = made.toSorted((one, other) => one.n - other.n);
      const expectedOf: Record<string, (n: number) => boolean> = {
        'limit=100&tags=common': () => true,
        'limit=4&tags=common,rare': (n) => n % 300 === 0,
        'limit=4&tags=rare,common': (n) => n % 300 === 0,
        'limit=50&tags=common&classifier=old': (n) => n > 2200 && n % 2 === 0,
        'limit=100&tags=common&classifier=fifth': (n) => n % 5 === 0 && !(n > 2200 && n % 2 === 0),
        'limit=4&tags=common&classifier=none': () => false,
      };
      for (const [query, isExpected] of Object.entries(expectedOf)) {
        const { files } = await walk(path, `/files?${query}`);
        const expected = newest.filter(({ n }) => isExpected(n)).map(({ id }) => id);
        expect(
          files.map(({ id }) => id),
          query,
        ).toEqual(expected);
      }
    });

    test('files.list: a list by tag follows changes, pages in order, and nothing stays of files that are gone', async () => {
      const path = await userOf();
      const ids: string[] = [];
      for (let at = 0; at < 9; at += 1)
        ids.push(await put(path, `f${at}`, { meta: { tags: ['kept', `t${at % 3}`] } }));
      const [first = '', second = '', ...rest] = ids;
      await service.api.put(`${path}/files/${first}`, tenant.key, { tags: ['t1'] });
      await service.api.delete(`${path}/files/${second}`, tenant.key);
      const kept = await walk(path, '/files?limit=2&tags=kept');
      expect(kept.files.map(({ id }) => id)).toEqual(rest.toReversed());
      const both = await walk(path, '/files?limit=1&tags=kept,t1');
      expect(both.files.map(({ id }) => id)).toEqual(rest.filter((_, at) => at % 3 === 2).toReversed());
      expect((await walk(path, '/files?tags=t1')).files.at(-1)?.id).toBe(first);
      expect(await wrongCopies(service)).toEqual([]);
      await service.api.delete(path, tenant.key);
      expect(await wrongCopies(service)).toEqual([]);
    });

    test('files.list: pages of a family of types hold every file of every such type once, newest first', async () => {
      const path = await userOf();
      const types = ['image/png', 'image/gif', 'text/plain', 'image/x-icon', 'imagery/png'];
      for (let at = 0; at < 15; at += 1) await put(path, `f${at}`, { type: types[at % types.length] ?? '' });
      const whole = await service.api.get(`${path}/files?limit=100`, tenant.key);
      const images = whole.body.files.filter((file: { mimeType: string }) =>
        file.mimeType.startsWith('image/'),
      );
      expect(images).toHaveLength(9);
      for (const limit of [1, 2, 9, 100]) {
        const walked = await walk(path, `/files?limit=${limit}&mime_type=image/*`);
        expect(walked.files.map((file) => file.id)).toEqual(images.map(({ id }: { id: string }) => id));
        expect(walked.pages).toBe(Math.ceil(9 / limit));
      }
      expect((await walk(path, '/files?mime_type=video/*')).files).toEqual([]);
    });

    test.each(['files', 'files/folders'])(
      'files.list: a page of %s with large metadata ends early, and all pages hold every file once',
      async (at) => {
        const path = await userOf();
        const metadata = { note: 'n'.repeat(16_000) };
        const ids = await Promise.all(
          Array.from({ length: 40 }, (_, nth) => put(path, `heavy-${nth}`, { meta: { metadata } })),
        );
        const seen: string[] = [];
        for (let cursor: string | null = ''; cursor !== null; ) {
          const next = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
          const reply = await service.api.get(`${path}/${at}?limit=100${next}`, tenant.key);
          expect(reply.status, reply.text).toBe(200);
          // The file with which it grew too large is on it still.
          expect(reply.text.length).toBeLessThan(300 * 1024);
          seen.push(...reply.body.files.map(({ id }: { id: string }) => id));
          cursor = reply.body.next_cursor;
        }
        expect(seen.length).toBe(40);
        expect(new Set(seen)).toEqual(new Set(ids));
      },
    );

    test('files.list: names, folders, tags and metadata come back exactly as uploaded, with any characters', async () => {
      const path = await userOf();
      const awkward = 'a"b\\c {}[],: \u2028 \u{1f4e6} é <&>\'';
      const { body } = await upload(service.api, tenant.key, path, 'x', {
        meta: {
          folder: awkward.replaceAll('/', ''),
          tags: [awkward.replaceAll(',', ''), 'null', '{}'],
          classifier: awkward,
          metadata: { [awkward]: [awkward, null, 1e21, -2.5e-300, '\\"1e+308'.repeat(200), { '': true }] },
        },
      });
      await service.api.put(`${path}/files/${body.file.id}`, tenant.key, { visibility: 'private' });
      const { url: _url, url_expires_at: _expiry, updated_at: _changed, ...told } = body.file;
      expect(told.classifier).toBe(awkward);
      const listed = await service.api.get(`${path}/files`, tenant.key);
      expect(listed.body.files).toEqual([expect.objectContaining(told)]);
      const detail = await service.api.get(`${path}/files/${body.file.id}`, tenant.key);
      expect(detail.body.file).toMatchObject(told);
    });

    test('files: PostgreSQL plans a list and a detail once, not for every request', async () => {
      const userId = (await userOf()).split('/').at(-1) as string;
      const [{ id: fileId = '' } = {}] = await rowsOf<{ id: string }>(
        service.databaseUrl,
        `insert into files (id, project_id, user_id, name, size, mime_type, storage_key, sha256)
         select id, '${tenant.id}', '${userId}', 'file', 1, 'text/plain', id, '\\x00'
         from (select gen_random_uuid() as id from generate_series(1, 5000)) fresh returning id`,
      );
      const client = new pg.Client({ connectionString: service.databaseUrl });
      await client.connect();
      try {
        await client.query('analyze files');
        for (const { name, text, values } of [
          listFiles({
            projectId: tenant.id,
            userId,
            filter: { space: 'all' },
            after: noSql,
            page: { limit: 50 },
          }),
          findFiles([{ projectId: tenant.id, userId, spaceId: null, fileId }]),
        ]) {
          for (let time = 0; time < 8; time += 1) {
            const { rowCount } = await client.query({ name, text, values: [...values] });
            expect(rowCount).toBe(1);
          }
        }
        const { rows } = await client.query(
          'select generic_plans::int as planned from pg_prepared_statements',
        );
        expect(rows).toEqual([{ planned: 3 }, { planned: 3 }]);
      } finally {
        await client.end();
      }
    });

    test('files.list: a malformed space_id is 400, and the error names both accepted forms', async () => {
      const reply = await service.api.get(`${await userOf()}/files?space_id=bad`, tenant.key);
      expect(reply.body.error.details.issues).toEqual([
        {
          path: 'space_id',
          message: expect.stringMatching(/send something like "none" or "[0-9a-f-]{36}"$/),
          code: 'pattern',
        },
      ]);
    });

    test('files.list: a cursor that was changed, of another list, user or tenant is 400', async () => {
      const [path, sibling] = [await userOf(), await userOf()];
      const spaceId = await spaceOf(path);
      for (const name of ['a', 'b', 'c']) {
        await put(path, name, { meta: { folder: 'x', space_id: spaceId } });
        await put(path, name, { meta: { folder: name } });
      }
      const cursorOf = async (list: string) =>
        (await service.api.get(`${path}/${list}limit=1`, tenant.key)).body.next_cursor as string;
      const [files, folders] = [await cursorOf('files?'), await cursorOf('files/folders?')];
      const other = await createTenant(service.api, admin);
      const foreign = await userOf(other.key);
      const token = await spaceToken(path, spaceId);
      const changed = `${files.slice(0, 20)}${files[20] === 'A' ? 'B' : 'A'}${files.slice(21)}`;
      for (const [as, at, cursor] of [
        [tenant.key, `${path}/files`, changed],
        [tenant.key, `${path}/files`, files.slice(0, -3)],
        [tenant.key, `${path}/files`, `${files}!`],
        [tenant.key, `${path}/files`, `${files}==`],
        [tenant.key, `${path}/files`, `${files.slice(0, 30)}.${files.slice(30)}`],
        [tenant.key, `${path}/files`, folders],
        [tenant.key, `${path}/files/folders`, files],
        [tenant.key, `${path}/files/folders?prefix=x`, folders],
        [tenant.key, `${sibling}/files`, files],
        [other.key, `${foreign}/files`, files],
        [token, `${path}/files`, files],
        [token, `${path}/files/folders`, folders],
      ] as const) {
        const reply = await service.api.get(`${at}${at.includes('?') ? '&' : '?'}cursor=${cursor}`, as);
        expect(reply.status, at).toBe(400);
        expect(reply.body.error.details.issues[0].path).toBe('cursor');
      }
      expect((await service.api.get(`${path}/files?cursor=${files}`, tenant.key)).status).toBe(200);
    });
  });

  describe('files.folders', () => {
    /** Names whose order and prefixes are easy to get wrong. */
    const folders = [
      'a',
      'a-b',
      'a!',
      'a/b',
      'a/b/c',
      'a/b-c',
      'a0',
      'A',
      'æ/ø',
      'æ',
      '日本/語',
      '😀',
      'z/y/x',
      '%',
      '_',
      'a b',
      "it's",
    ];
    const rootNames = ['a', 'a-b', 'a!', 'a0', 'A', 'æ', '日本', '😀', 'z', '%', '_', 'a b', "it's"];

    test('files.folders: names as long as they may be have cursors that are taken back', async () => {
      const path = await userOf();
      const names = ['1', '2'].map((last) => '漢'.repeat(511) + last);
      for (const folder of names) await put(path, 'x', { meta: { folder } });
      expect((await walk(path, '/files/folders?limit=1')).folders).toEqual(names);
    });

    test('files.folders: one level at a time, and any limit gives every name and file exactly once', async () => {
      const path = await userOf();
      for (const folder of folders)
        await put(path, `in ${folder.replaceAll('/', '>')}`, { meta: { folder } });
      for (const name of ['r1', 'r2', 'r3']) await put(path, name);
      const level = async (prefix: string, limit = 100) =>
        walk(path, `/files/folders?prefix=${encodeURIComponent(prefix)}&limit=${limit}`);
      const files = (walked: Walked) => walked.files.map((file) => file.name);

      const root = await level('');
      expect([...root.folders].sort()).toEqual([...rootNames].sort());
      expect(files(root)).toEqual(['r3', 'r2', 'r1']);
      for (const limit of [1, 2, 3, 13, 14, 15, 16, 17]) {
        const walked = await level('', limit);
        expect(walked.folders, `limit ${limit}`).toEqual(root.folders);
        expect(files(walked), `limit ${limit}`).toEqual(files(root));
        expect(walked.largest).toBeLessThanOrEqual(limit);
      }
      for (const [prefix, names, inside] of [
        ['a', ['b', 'b-c'], ['in a']],
        ['a/b', ['c'], ['in a>b']],
        ['a-b', [], ['in a-b']],
        ['æ', ['ø'], ['in æ']],
        ['日本', ['語'], []],
        ['z', ['y'], []],
        ['/z/y/', ['x'], []],
        ['%', [], ['in %']],
        ['nothing', [], []],
      ] as const) {
        const walked = await level(prefix, 1);
        expect([...walked.folders].sort(), prefix).toEqual(names);
        expect(files(walked), prefix).toEqual(inside);
        expect(walked.prefix).toBe(prefix.replace(/^\/|\/$/g, ''));
      }
    });

    test('files.folders: the default page holds 20 of folders and files together', async () => {
      const path = await userOf();
      for (let at = 0; at < 15; at += 1) await put(path, `d${at}`, { meta: { folder: `d${at}` } });
      for (let at = 0; at < 15; at += 1) await put(path, `f${at}`);
      const first = (await service.api.get(`${path}/files/folders`, tenant.key)).body;
      expect([first.prefix, first.folders.length, first.files.length]).toEqual(['', 15, 5]);
      expect(first.next_cursor).not.toBeNull();
    });

    test('files.folders: the word folders is never taken for a file id, on both twins', async () => {
      const user = await createUser(service.api, tenant.key);
      for (const path of [`/project/users/${user.id}`, `/project/users/ext/${user.externalId}`]) {
        const reply = await service.api.get(`${path}/files/folders`, tenant.key);
        expect(reply.status).toBe(200);
        expect(reply.body).toEqual({ prefix: '', folders: [], files: [], next_cursor: null });
      }
    });

    test('files.folders: a space token sees its own tree only, and the owner can ask for one', async () => {
      const path = await userOf();
      const [mine, other] = [await spaceOf(path), await spaceOf(path)];
      await put(path, 'owner', { meta: { folder: 'own' } });
      await put(path, 'mine', { meta: { folder: 'mine/deep', space_id: mine } });
      await put(path, 'mine too', { meta: { space_id: mine } });
      await put(path, 'other', { meta: { folder: 'other', space_id: other } });
      const token = await spaceToken(path, mine);
      const seen = async (query: string, as: string) => {
        const { body } = await service.api.get(`${path}/files/folders${query}`, as);
        return [body.folders, body.files.map((file: { name: string }) => file.name)];
      };
      expect(await seen('', token)).toEqual([['mine'], ['mine too']]);
      expect(await seen('?prefix=own', token)).toEqual([[], []]);
      expect(await seen('?limit=1', token)).toEqual([['mine'], []]);
      expect(await seen('', tenant.key)).toEqual([['mine', 'other', 'own'], ['mine too']]);
      expect(await seen('?space_id=none', tenant.key)).toEqual([['own'], []]);
      expect(await seen(`?space_id=${other}`, tenant.key)).toEqual([['other'], []]);
      expect(await seen(`?space_id=${other}`, token)).toEqual([['mine'], ['mine too']]);
      expect(await seen('?space_id=none', token)).toEqual([['mine'], ['mine too']]);
    });

    test.each(['prefix=a/../b', 'prefix=a//b', 'prefix=a%00', 'limit=0', 'limit=101', 'cursor=zzz'])(
      'files.folders: %s is 400',
      async (query) => {
        const reply = await service.api.get(`${await userOf()}/files/folders?${query}`, tenant.key);
        expect(reply.status).toBe(400);
      },
    );
  });

  interface Walked {
    readonly prefix: string | undefined;
    readonly folders: string[];
    readonly files: { id: string; name: string }[];
    readonly pages: number;
    readonly largest: number;
  }

  /** Every page, from the first to the one without a next. */
  async function walk(path: string, list: string): Promise<Walked> {
    const found = { folders: [] as string[], files: [] as { id: string; name: string }[] };
    let [pages, largest, cursor] = [0, 0, ''];
    for (;;) {
      const reply = await service.api.get(`${path}${list}${cursor && `&cursor=${cursor}`}`, tenant.key);
      expect(reply.status, reply.text).toBe(200);
      const { folders = [], files, next_cursor, prefix } = reply.body;
      found.folders.push(...folders);
      found.files.push(...files);
      pages += 1;
      largest = Math.max(largest, folders.length + files.length);
      if (next_cursor === null) return { ...found, prefix, pages, largest };
      expect(folders.length + files.length, 'a page before the last is not empty').toBeGreaterThan(0);
      cursor = encodeURIComponent(next_cursor);
    }
  }
}
