// Shares: managing them, downloading by their links, counting, passwords, and everything that makes a link lead to nothing.
import { randomBytes } from 'node:crypto';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sweepShares } from '../../src/features/shares/shares.jobs.ts';
import { bytesOf, readAll } from '../support/bytes.ts';
import { rowsOf } from '../support/database.ts';
import { readFeed } from '../support/feed.ts';
import { never } from '../support/ledger.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { createLiveSpace } from '../support/spaces.ts';
import { adminSession, createTenant, createUser, mintToken, type Tenant } from '../support/tenants.ts';
import { upload } from '../support/uploads.ts';

interface Fetched {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Buffer;
}

interface Shared {
  /** Of the share, below the API. */
  readonly at: string;
  readonly id: string;
  readonly url: string;
}

interface Place {
  readonly tenant: Tenant;
  readonly user: { readonly id: string; readonly externalId: string };
  readonly path: string;
  readonly file: string;
}

let service: TestPakhus;
let second: TestPakhus;
let admin: string;
const bytes = bytesOf(200_000);
const log: string[] = [];

beforeAll(async () => {
  service = await startTestPakhus({ JWT_EXPIRES_IN: '1h', LOG_LEVEL: 'info' }, (lines) => log.push(lines));
  second = await service.another();
  admin = await adminSession(service.api);
});
afterAll(async () => {
  await second.stop();
  await service.stop();
});

async function place(meta: object = {}, name = 'plan.txt'): Promise<Place> {
  const tenant = await createTenant(service.api, admin);
  const user = await createUser(service.api, tenant.key);
  const path = `/project/users/${user.id}`;
  const reply = await upload(service.api, tenant.key, path, bytes, { meta, name, type: 'text/plain' });
  expect(reply.status, reply.text).toBe(201);
  return { tenant, user, path, file: `${path}/files/${reply.body.file.id}` };
}

async function share({ tenant, file }: Place, input: object = {}): Promise<Shared> {
  const reply = await service.api.post(`${file}/shares`, tenant.key, input);
  expect(reply.status, reply.text).toBe(201);
  return { at: `${file}/shares/${reply.body.share.id}`, id: reply.body.share.id, url: reply.body.url };
}

const address = () => [...randomBytes(4)].join('.');

async function fetched(
  url: string,
  headers: Record<string, string> = {},
  method: 'GET' | 'HEAD' | 'POST' = 'GET',
  body: string | null = null,
): Promise<Fetched> {
  const reply = await request(url, { method, headers: { 'x-forwarded-for': address(), ...headers }, body });
  return { status: reply.statusCode, headers: reply.headers, body: await readAll(reply.body) };
}

const download = (url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
  fetched(`${url}/download`, headers, method);

const givePassword = (url: string, password: string, headers: Record<string, string> = {}) =>
  fetched(
    `${url}/download`,
    { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    'POST',
    new URLSearchParams({ password }).toString(),
  );

const cookieOf = ({ headers }: Fetched): string => String(headers['set-cookie']).split(';', 1)[0] ?? '';

const onSecond = (url: string): string => url.replace(new URL(url).origin, new URL(second.baseUrl).origin);

const downloadsOf = async ({ tenant }: Place, { at }: Shared): Promise<number> =>
  (await service.api.get(at, tenant.key)).body.share.downloads;

describe('managing shares', () => {
  test('shares.create: gives the link once, keeps only a hash of its secret, and is audited and an event', async () => {
    const at = await place();
    const feed = await readFeed(service.api, at.tenant.key, '&types=share.*');
    const expires_at = '2099-01-31T12:00:00.000Z';
    const input = { name: 'For the printer', expires_at, password: 'a secret', max_downloads: 3 };
    const reply = await service.api.post(`${at.file}/shares`, at.tenant.key, input);
    const { share: made, url } = reply.body;
    expect(made).toMatchObject({
      name: input.name,
      expires_at,
      max_downloads: 3,
      has_password: true,
      downloads: 0,
      active: true,
      last_used_at: null,
    });
    expect(url).toMatch(new RegExp(`^${new URL(service.baseUrl).origin}/s/[\\w-]{43}$`));
    const read = await service.api.get(`${at.file}/shares/${made.id}`, at.tenant.key);
    expect(read.body).toEqual({ share: made });
    const [row] = await rowsOf<Record<string, unknown>>(
      service.databaseUrl,
      `select * from shares where id = '${made.id}'`,
    );
    const kept = JSON.stringify(row);
    expect(kept).not.toContain(url.split('/').at(-1));
    expect(kept).not.toContain('a secret');
    expect(
      (await service.api.put(`${at.file}/shares/${made.id}`, at.tenant.key, { active: false })).status,
    ).toBe(200);
    expect((await service.api.delete(`${at.file}/shares/${made.id}`, at.tenant.key)).status).toBe(204);
    expect((await feed.next(3)).map(({ type, data }) => [type, data.id])).toEqual([
      ['share.created', made.id],
      ['share.revoked', made.id],
      ['share.revoked', made.id],
    ]);
    const audited = await rowsOf<{ action: string; user_id: string }>(
      service.databaseUrl,
      `select action, user_id from audit_logs where resource_id = '${made.id}' order by created_at, id`,
    );
    expect(audited.map(({ action }) => action).sort()).toEqual([
      'share.create',
      'share.delete',
      'share.update',
    ]);
    expect(new Set(audited.map(({ user_id }) => user_id))).toEqual(new Set([at.user.id]));
  });

  test('shares.create: repeated with its Idempotency-Key, it gives the same link', async () => {
    const at = await place();
    const once = () =>
      service.api.call('POST', `${at.file}/shares`, {
        as: at.tenant.key,
        body: {},
        headers: { 'idempotency-key': 'k' },
      });
    const [first, again] = [await once(), await once()];
    expect(again.body).toEqual(first.body);
    expect((await service.api.get(`${at.file}/shares`, at.tenant.key)).body.shares).toHaveLength(1);
    const secret = first.body.url.split('/').at(-1) ?? '';
    const kept = await rowsOf<{ row: string }>(
      service.databaseUrl,
      `select k::text as row from idempotency_keys k where owner_id = '${at.tenant.id}'`,
    );
    expect(kept).toHaveLength(1);
    for (const form of [secret, Buffer.from(secret).toString('hex')])
      expect(kept[0]?.row.includes(form), 'the kept answer is encrypted').toBe(false);
  });

  test.each([
    [{ expires_at: '2001-01-31T12:00:00Z' }, 'expires_at'],
    [{ expires_at: 'tomorrow' }, 'expires_at'],
    [{ max_downloads: 0 }, 'max_downloads'],
    [{ max_downloads: 1.5 }, 'max_downloads'],
    [{ password: '' }, 'password'],
    [{ password: 'x'.repeat(201) }, 'password'],
    [{ name: 'x'.repeat(256) }, 'name'],
    [{ name: '' }, 'name'],
  ])('shares.create: %j is 422', async (input, path) => {
    const at = await place();
    const reply = await service.api.post(`${at.file}/shares`, at.tenant.key, input);
    expect(reply.status).toBe(422);
    expect(reply.body.error.details.issues[0].path).toBe(path);
    const made = await share(at);
    expect((await service.api.put(made.at, at.tenant.key, input)).status).toBe(422);
  });

  test('shares.update: changes what is given; null takes the limit, the expiry, the password and the name away', async () => {
    const at = await place();
    const made = await share(at, { name: 'a', password: 'p', max_downloads: 1, expires_at: '2099-01-01' });
    const change = async (input: object) => (await service.api.put(made.at, at.tenant.key, input)).body.share;
    expect(await change({ name: 'b' })).toMatchObject({ name: 'b', has_password: true, max_downloads: 1 });
    const bare = { name: null, has_password: false, max_downloads: null, expires_at: null };
    expect(await change({ name: null, password: null, max_downloads: null, expires_at: null })).toMatchObject(
      bare,
    );
    expect((await download(made.url)).status).toBe(200);
  });

  test('shares.create: a file has at most 100, however many are created at once', async () => {
    const at = await place();
    await rowsOf(
      service.databaseUrl,
      `insert into shares (id, project_id, user_id, file_id, token_hash)
       select gen_random_uuid(), '${at.tenant.id}', '${at.user.id}', '${at.file.split('/').at(-1)}', sha256(random()::text::bytea)
       from generate_series(1, 97)`,
    );
    const replies = await Promise.all(
      Array.from({ length: 6 }, () => service.api.post(`${at.file}/shares`, at.tenant.key, {})),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 201, 201, 409, 409, 409]);
    const pages: string[] = [];
    let cursor = '';
    do {
      const { body } = await service.api.get(
        `${at.path}/shares?limit=40${cursor && `&cursor=${cursor}`}`,
        at.tenant.key,
      );
      pages.push(...body.shares.map(({ id }: { id: string }) => id));
      cursor = body.next_cursor ?? '';
    } while (cursor);
    expect(new Set(pages).size).toBe(100);
  });

  test('shares: a user token sees its own, a space token those of its space, others nothing', async () => {
    const at = await place();
    const { tenant, user, path } = at;
    const space = await createLiveSpace(service, tenant.id, user.id, [
      'files:share',
      'files:read',
      'files:write',
    ]);
    const inSpace = await upload(service.api, space.token, path, 'in the space');
    const spaceFile = `${path}/files/${inSpace.body.file.id}`;
    const mine = await share(at);
    const theirs = await service.api.post(`${spaceFile}/shares`, space.token, {});
    expect(theirs.status, theirs.text).toBe(201);
    const ids = async (as: string, below = path) =>
      (await service.api.get(`${below}/shares`, as)).body.shares?.map(({ id }: { id: string }) => id);
    expect(await ids(space.token)).toEqual([theirs.body.share.id]);
    expect((await service.api.get(mine.at, space.token)).status).toBe(404);
    expect((await service.api.post(`${at.file}/shares`, space.token, {})).status).toBe(404);
    const sharer = (await mintToken(service.api, tenant.key, user.id, ['files:share'])).token;
    expect((await ids(sharer))?.sort()).toEqual([mine.id, theirs.body.share.id].sort());
    expect(await ids(sharer, `/project/users/ext/${user.externalId}`)).toHaveLength(2);
    const reader = (await mintToken(service.api, tenant.key, user.id, ['files:read'])).token;
    expect((await service.api.post(`${at.file}/shares`, reader, {})).status).toBe(403);
    const other = await place();
    expect((await service.api.get(mine.at, other.tenant.key)).status).toBe(404);
    expect(
      (await service.api.get(`${at.path}/files/${spaceFile.split('/').at(-1)}/shares/${mine.id}`, tenant.key))
        .status,
    ).toBe(404);
  });
});

describe('downloads by a link', () => {
  test('shares.download: needs no credential, is always saved, and counts for share, project and audit', async () => {
    const at = await place({}, 'ä <b>&.html');
    const made = await share(at);
    const page = await fetched(made.url);
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.body.toString()).toContain('ä &lt;b&gt;&amp;.html');
    expect(page.body.toString()).toContain('195.3 KiB');
    expect(await downloadsOf(at, made)).toBe(0);
    const secret = made.url.split('/').at(-1) ?? '';
    await fetched(made.url.replace('/s/', '/%73/'));
    await fetched(`${made.url}/elsewhere`);
    const reply = await download(made.url, { 'x-forwarded-for': '192.0.2.33' });
    expect([reply.status, reply.body.equals(bytes)]).toEqual([200, true]);
    expect(reply.headers).toMatchObject({
      'content-length': '200000',
      'content-disposition': expect.stringMatching(/^attachment; /),
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
      'content-security-policy': "sandbox; default-src 'none'",
    });
    expect(log.some((lines) => lines.includes('"/s/-/download"'))).toBe(true);
    expect(log.filter((lines) => lines.includes(secret))).toEqual([]);
    const { share: read } = (await service.api.get(made.at, at.tenant.key)).body;
    expect(read.downloads).toBe(1);
    expect(Date.parse(read.last_used_at)).toBeGreaterThan(0);
    const rows = await rowsOf(
      service.databaseUrl,
      `select action, ip_address from audit_logs where resource_id = '${made.id}' and action = 'share.download'`,
    );
    expect(rows).toEqual([{ action: 'share.download', ip_address: '192.0.2.33' }]);
    await service.pakhus.deps.foldCounts();
    const [day] = await rowsOf<{ downloads: string }>(
      service.databaseUrl,
      `select downloads from daily_stats where subject_id = '${at.tenant.id}'`,
    );
    expect(Number(day?.downloads)).toBe(1);
  });

  test('shares.download: HEAD, 304 and 416 count nothing; every GET of bytes counts', async () => {
    const at = await place();
    const made = await share(at);
    const head = await download(made.url, {}, 'HEAD');
    expect([head.status, head.headers['content-length']]).toEqual([200, '200000']);
    expect((await download(made.url, { 'if-none-match': String(head.headers.etag) })).status).toBe(304);
    expect((await download(made.url, { range: 'bytes=200000-' })).status).toBe(416);
    expect(await downloadsOf(at, made)).toBe(0);
    expect((await download(made.url, { range: 'bytes=0-9' })).status).toBe(206);
    expect(
      (await download(made.url, { range: 'bytes=0-9', 'if-range': String(head.headers.etag) })).status,
    ).toBe(206);
    expect((await download(made.url)).status).toBe(200);
    expect(await downloadsOf(at, made)).toBe(3);
  });

  test('shares.download: the last download can be resumed, on any instance, and by nobody who has not begun it', async () => {
    const at = await place();
    const made = await share(at, { max_downloads: 1 });
    const before = String((await download(made.url, {}, 'HEAD')).headers.etag);
    const first = await download(made.url);
    const etag = String(first.headers.etag);
    expect(first.status).toBe(200);
    expect((await download(made.url)).status).toBe(404);
    const rest = await download(onSecond(made.url), { range: 'bytes=100000-', 'if-range': etag });
    expect([rest.status, rest.headers.etag, rest.body.equals(bytes.subarray(100_000))]).toEqual([
      206,
      etag,
      true,
    ]);
    expect((await download(made.url, { range: 'bytes=0-9,100000-100009', 'if-range': etag })).status).toBe(
      206,
    );
    const forged = etag.replace(/\.1\./, '.2.');
    for (const ifRange of [before, forged, '"x"', `W/${etag}`, String(first.headers['last-modified'])])
      expect((await download(made.url, { range: 'bytes=0-', 'if-range': ifRange })).status, ifRange).toBe(
        404,
      );
    expect((await download(made.url, { 'if-range': etag })).status).toBe(404);
    const other = await share(at, { max_downloads: 1 });
    await download(other.url);
    expect((await download(other.url, { range: 'bytes=0-', 'if-range': etag })).status).toBe(404);
    expect(await downloadsOf(at, made)).toBe(1);
    await service.api.put(made.at, at.tenant.key, { active: false });
    expect((await download(made.url, { range: 'bytes=100000-', 'if-range': etag })).status).toBe(404);
  });

  test('shares.download: of 100 that race for the last download on two instances, one gets it', async () => {
    const at = await place();
    for (let nth = 0; nth < Number(process.env.SHARE_RACES ?? 3); nth += 1) {
      const made = await share(at, { max_downloads: 4 });
      for (let used = 0; used < 3; used += 1) expect((await download(made.url)).status).toBe(200);
      const replies = await Promise.all(
        Array.from({ length: 100 }, (_, one) => download(one % 2 ? made.url : onSecond(made.url))),
      );
      const won = replies.filter(({ status }) => status === 200);
      expect(won).toHaveLength(1);
      expect(won[0]?.body.equals(bytes)).toBe(true);
      expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 404]));
      expect(await downloadsOf(at, made)).toBe(4);
      await service.api.delete(made.at, at.tenant.key);
    }
  });
});

describe('shares with a password', () => {
  test('shares.unlock: the right password leads to the bytes, also by ranges; a wrong one does not', async () => {
    const at = await place();
    const made = await share(at, { password: 'grün & gut' });
    expect((await fetched(made.url)).body.toString()).toContain('<form method="post"');
    expect((await download(made.url)).status).toBe(403);
    const wrong = await givePassword(made.url, 'grün');
    expect([wrong.status, wrong.headers['set-cookie']]).toEqual([403, undefined]);
    expect(wrong.body.toString()).toContain('This password is wrong');
    const right = await givePassword(made.url, 'grün & gut');
    expect([right.status, right.headers.location]).toEqual([303, 'download']);
    const attributes = `Path=${new URL(made.url).pathname}; HttpOnly; SameSite=Strict`;
    expect(String(right.headers['set-cookie'])).toContain(attributes);
    const cookie = cookieOf(right);
    const first = await download(onSecond(made.url), { cookie });
    expect([first.status, first.body.equals(bytes)]).toEqual([200, true]);
    const rest = await download(made.url, {
      cookie,
      range: 'bytes=5-',
      'if-range': String(first.headers.etag),
    });
    expect(rest.status).toBe(206);
    expect(
      (await download(made.url, { range: 'bytes=5-', 'if-range': String(first.headers.etag) })).status,
    ).toBe(403);
    expect(await downloadsOf(at, made)).toBe(1);
    const other = await share(at, { password: 'grün & gut' });
    expect((await download(other.url, { cookie })).status).toBe(403);
    await service.api.put(made.at, at.tenant.key, { password: 'another' });
    expect((await download(made.url, { cookie })).status).toBe(403);
    await service.api.put(made.at, at.tenant.key, { password: null });
    expect((await download(made.url)).status).toBe(200);
  });

  test('shares.unlock: after 10 wrong passwords from anywhere the share answers 429, and its neighbours do not', async () => {
    const at = await place();
    const [made, other] = [await share(at, { password: 'p' }), await share(at, { password: 'p' })];
    for (let nth = 0; nth < 10; nth += 1) expect((await givePassword(made.url, 'no')).status).toBe(403);
    const reply = await givePassword(made.url, 'p');
    expect(reply.status).toBe(429);
    expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
    expect(reply.headers['content-type']).toBe('text/html; charset=utf-8');
    expect((await givePassword(other.url, 'p')).status).toBe(303);
    service.advance(16 * 60_000);
    expect((await givePassword(made.url, 'p')).status).toBe(303);
    service.advance(-16 * 60_000);
    for (let nth = 0; nth < 10; nth += 1) await givePassword(made.url, 'no');
    await service.api.put(made.at, at.tenant.key, { password: 'new' });
    expect((await givePassword(made.url, 'new')).status).toBe(303);
  });
});

describe('links that lead to nothing', () => {
  const sql = (text: string) => rowsOf(service.databaseUrl, text);
  const ends: [string, (at: Place, made: Shared) => Promise<unknown>][] = [
    ['revoked', (at, made) => service.api.put(made.at, at.tenant.key, { active: false })],
    ['deleted', (at, made) => service.api.delete(made.at, at.tenant.key)],
    ['expired', (_at, made) => sql(`update shares set expires_at = now() where id = '${made.id}'`)],
    [
      'used up',
      (_at, made) => sql(`update shares set downloads = 5, max_downloads = 5 where id = '${made.id}'`),
    ],
    [
      'of a file that has expired',
      (at) => sql(`update files set expires_at = now() where id = '${at.file.split('/').at(-1)}'`),
    ],
    ['without its file', (at) => service.api.delete(at.file, at.tenant.key)],
    ['of an inactive user', (at) => sql(`update users set active = false where id = '${at.user.id}'`)],
    ['of a deleted user', (at) => service.api.delete(at.path, at.tenant.key)],
    [
      'of an inactive project',
      (at) => sql(`update projects set active = false where id = '${at.tenant.id}'`),
    ],
    ['of a deleted project', (at) => service.api.delete(`/admin/projects/${at.tenant.id}`, admin)],
  ];
  const without = ({ headers }: Fetched) => {
    const { date: _date, 'x-request-id': _id, ...rest } = headers;
    return rest;
  };

  test.each(ends)(
    'shares: a share that is %s is 404 on every instance with the next request, like any unknown link',
    async (_name, end) => {
      const at = await place();
      const made = await share(at);
      expect((await fetched(onSecond(made.url))).status).toBe(200);
      await end(at, made);
      const unknown = await fetched(made.url.replace(/[^/]+$/, randomBytes(32).toString('base64url')));
      expect(unknown.status).toBe(404);
      for (const reply of [
        await fetched(onSecond(made.url)),
        await fetched(made.url),
        await download(made.url),
        await download(onSecond(made.url), { range: 'bytes=0-1' }),
        await givePassword(made.url, 'x'),
        await fetched(made.url.replace(/[^/]+$/, 'garbled%20%3Cb%3E')),
      ]) {
        expect(reply.status).toBe(404);
        expect(reply.body.equals(unknown.body)).toBe(true);
        expect(without(reply)).toEqual(without(unknown));
      }
    },
  );

  test('shares: in the trash a file has no shares, restored it has them again, and purged none are left', async () => {
    const at = await place();
    const made = await share(at);
    const { key } = at.tenant;
    expect((await service.api.put('/project/settings', key, { trash_days: 7 })).status).toBe(200);
    expect((await service.api.delete(at.file, key)).status).toBe(204);
    expect((await download(made.url)).status).toBe(404);
    expect((await service.api.get(`${at.path}/shares`, key)).body.shares).toEqual([]);
    const keptShares = () => sql(`select id from shares where id = '${made.id}'`);
    await sweepShares(service.pakhus.deps, never);
    expect(await keptShares()).toHaveLength(1);
    expect((await service.api.post(`${at.file}/restore`, key)).status).toBe(200);
    expect((await download(made.url)).status).toBe(200);
    expect((await service.api.delete(`${at.file}?permanent=true`, key)).status).toBe(204);
    expect(await keptShares()).toEqual([]);
    // As if an older release had deleted the file.
    await sql(
      `insert into shares (id, project_id, user_id, file_id, token_hash)
       values ('${made.id}', '${at.tenant.id}', '${at.user.id}', '${at.file.split('/').at(-1)}', sha256('${made.id}'))`,
    );
    await sweepShares(service.pakhus.deps, never);
    expect(await keptShares()).toEqual([]);
  });

  test('shares: a share in a space is 404 while the space is inactive', async () => {
    const at = await place();
    const space = await createLiveSpace(service, at.tenant.id, at.user.id, ['files:share', 'files:write']);
    const { file } = (await upload(service.api, space.token, at.path, 'x')).body;
    const { url } = (await service.api.post(`${at.path}/files/${file.id}/shares`, space.token, {})).body;
    expect((await download(url)).status).toBe(200);
    await sql(`update spaces set active = false where id = '${space.id}'`);
    expect((await download(url)).status).toBe(404);
    await sql(`update spaces set active = true where id = '${space.id}'`);
    expect((await download(url)).status).toBe(200);
  });

  test('shares: pages tell crawlers, caches and frames to stay out, and one address may only open so many', async () => {
    const at = await place();
    const made = await share(at);
    const from = { 'x-forwarded-for': address() };
    expect((await fetched(made.url, from)).headers).toMatchObject({
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringMatching(/^default-src 'none'; style-src 'sha256-/),
    });
    const replies = await Promise.all(
      Array.from({ length: 610 }, () => fetched(`${made.url}x`, from, 'HEAD')),
    );
    const limited = replies.filter(({ status }) => status === 429);
    expect(limited.length).toBe(11);
    expect(Number(limited[0]?.headers['retry-after'])).toBeGreaterThan(0);
    expect((await fetched(made.url)).status).toBe(200);
  });
});
