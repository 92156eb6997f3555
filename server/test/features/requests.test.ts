// Requests that are almost right: bodies of the wrong kind, numbers in odd writing, far too much of something.
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inTransaction, isSomebodyWaiting, rowsOf, waitersIn } from '../support/database.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { until } from '../support/processes.ts';
import { openRawPost } from '../support/raw-client.ts';
import {
  adminSession,
  createIntegration,
  createTenant,
  createUser,
  mintToken,
  sessionOf,
  type Tenant,
} from '../support/tenants.ts';
import { contentTypeOf, formOf, partsOf, upload } from '../support/uploads.ts';

let service: TestPakhus;
let tenant: Tenant;
let user: { id: string };
let path: string;

beforeAll(async () => {
  service = await startTestPakhus();
  tenant = await createTenant(service.api, await adminSession(service.api));
  user = await createUser(service.api, tenant.key);
  path = `/project/users/${user.id}`;
});
afterAll(() => service.stop());

const issuesOf = (reply: { body: { error: { details: { issues: { path: string; code: string }[] } } } }) =>
  reply.body.error.details.issues;

test.each([
  ['/project/users', { externalId: 'late' }],
  ['/project/plans', { name: 'late', maxFileSize: 1 }],
  ['/project/keys', { name: 'late' }],
  ['/project/integrations', { name: 'late', scopes: ['files:read'] }],
])('%s: a creation racing with the deletion of its project is refused like a later one', async (at, body) => {
  const doomed = await createTenant(service.api, await adminSession(service.api));
  await inTransaction(service.databaseUrl, async (query) => {
    await query(`delete from projects where id = '${doomed.id}'`);
    const making = service.api.post(at, doomed.key, body);
    await until('it waits', () => isSomebodyWaiting(service.databaseUrl));
    await query('commit');
    const { status, body: answer } = await making;
    expect([status, answer.error.code]).toEqual([401, 'UNAUTHORIZED']);
  });
});

test.each([
  ['/project/keys', {}],
  ['/project/integrations', { scopes: ['files:read'] }],
])('%s: a key replaced while it creates another leaves nothing behind', async (at, body) => {
  const admin = await adminSession(service.api);
  const stolen = await createTenant(service.api, admin);
  await inTransaction(service.databaseUrl, async (query) => {
    await query(`select from projects where id = '${stolen.id}' for update`);
    const replacing = service.api.post(`/admin/projects/${stolen.id}/rotate-key`, admin);
    await until('the replacement waits', async () => (await waitersIn(service.databaseUrl)) === 1);
    const making = service.api.post(at, stolen.key, body);
    await until('so does the thief', async () => (await waitersIn(service.databaseUrl)) === 2);
    await query('commit');
    expect((await replacing).status).toBe(200);
    expect((await making).status).toBe(401);
  });
  const left = await rowsOf(
    service.databaseUrl,
    `select from api_keys where project_id = '${stolen.id}' and active`,
  );
  expect(left).toHaveLength(1);
});

test('changes waiting for a lock take no connections from other projects', async () => {
  const other = await createTenant(service.api, await adminSession(service.api));
  const { body } = await upload(service.api, tenant.key, path, Buffer.from('held'));
  const change = () => service.api.put(`${path}/files/${body.file.id}`, tenant.key, { classifier: 'x' });
  let waiting: Promise<{ status: number }>[] = [];
  await inTransaction(service.databaseUrl, async (query) => {
    await query(`select from files where id = '${body.file.id}' for update`);
    waiting = Array.from({ length: 60 }, change);
    await until('they wait', async () => (await waitersIn(service.databaseUrl)) >= 8);
    const made = await Promise.all(
      Array.from({ length: 40 }, (_, nth) =>
        service.api.post('/project/users', other.key, { externalId: `free-${nth}` }),
      ),
    );
    expect(made.map(({ status }) => status)).toEqual(Array(40).fill(201));
    expect(await waitersIn(service.databaseUrl)).toBe(8);
    await query('commit');
  });
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(Array(60).fill(200));
});

describe('a form instead of a JSON body', () => {
  const form = formOf([{ name: 'scopes', value: '["files:read"]' }]);
  const sent = (method: string, at: string, as = tenant.key) =>
    service.api.call(method, at, { as, raw: form, headers: { 'content-type': contentTypeOf() } });

  test('is refused and changes nothing', async () => {
    const { id, key } = await createIntegration(service.api, tenant.key, {
      scopes: ['users:read', 'files:read'],
    });
    const before = (await service.api.get('/project/keys', tenant.key)).body.keys.length;
    for (const [method, at, as] of [
      ['POST', '/project/keys'],
      ['POST', '/project/integrations'],
      ['POST', `${path}/tokens`, key],
      ['PUT', path],
      ['POST', `/project/integrations/${id}/rotate-key`],
    ] as const) {
      const reply = await sent(method, at, as);
      expect([reply.status, reply.body.error.code], `${method} ${at}`).toEqual([422, 'VALIDATION_ERROR']);
    }
    expect((await service.api.get('/project/keys', tenant.key)).body.keys).toHaveLength(before);
    expect((await service.api.get('/project/users', key)).status, 'its key still works').toBe(200);
  });
});

test('JSON null is not accepted as an empty object', async () => {
  const raw = { raw: 'null', headers: { 'content-type': 'application/json' } };
  for (const [method, at] of [
    ['POST', `${path}/tokens`],
    ['POST', '/project/keys'],
    ['PUT', path],
  ] as const)
    expect((await service.api.call(method, at, { as: tenant.key, ...raw })).status, at).toBe(422);
});

test('JSON that is nested too deeply gets an error that says so', async () => {
  const raw = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const headers = { 'content-type': 'application/json' };
  const reply = await service.api.call('POST', '/project/keys', { as: tenant.key, raw, headers });
  expect(reply.status).toBe(422);
  expect(reply.text).not.toContain('stack');
});

test('the error stays short, however much is wrong', async () => {
  const { token } = await mintToken(service.api, tenant.key, user.id, []);
  const scopes = Array(9_000).fill('x');
  const many = await service.api.post(`${path}/spaces`, token, { external_id: 'x', name: 'x', scopes });
  expect(many.status).toBe(422);
  expect(issuesOf(many)).toMatchObject([{ path: 'scopes', code: 'maxItems' }]);
  // A name is read once from its beginning to its end: this one took hours when it was read from every letter.
  const name = `${'a'.repeat(1_000_000)}\u0001`;
  const long = await service.api.post(`${path}/spaces`, token, { external_id: 'x', name });
  expect(long.status).toBe(422);
  expect(issuesOf(long).map((issue) => issue.path)).toEqual(['name', 'name']);
});

test.each(['0x10', '1e1', ' 1', '1.0', '', 'ten', '-1', '0', '101'])('limit=%j is 400', async (limit) => {
  const reply = await service.api.get(`/project/users?limit=${encodeURIComponent(limit)}`, tenant.key);
  expect([reply.status, reply.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
});

test.each(['.', '..', '', 'a\u0001'])('externalId %j is 422', async (externalId) => {
  expect((await service.api.post('/project/users', tenant.key, { externalId })).status).toBe(422);
});

/** The statuses of what was sent on one connection in one go, once there are so many. */
async function statusesOf(sent: string, count: number): Promise<number[]> {
  const { hostname, port } = new URL(service.baseUrl);
  const socket = connect(Number(port), hostname);
  socket.write(sent);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  const statuses = () => [...text.matchAll(/HTTP\/1.1 (\d{3})/g)].map(([, status]) => Number(status));
  await until('every request to be answered', async () => statuses().length === count);
  socket.destroy();
  return statuses();
}

test('pipelined requests are processed in order', async () => {
  const { pathname } = new URL(service.baseUrl);
  const lines = (method: string, at: string, body = '') =>
    `${method} ${pathname}${at} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tenant.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const read = lines('GET', '/project/users/ext/ahead');
  const sent = [
    read,
    lines('GET', '/nope'),
    lines('POST', '/project/users', '{"externalId":"ahead"}'),
    ...Array.from({ length: 20 }, () => read),
    lines('DELETE', '/project/users/ext/ahead'),
    read,
  ].join('');
  expect(await statusesOf(sent, 25)).toEqual([404, 404, 201, ...Array<number>(20).fill(200), 204, 404]);
});

test('of too many pipelined requests, some are processed and the rest get 429', async () => {
  const { pathname } = new URL(service.baseUrl);
  const sent = `GET ${pathname}/project/plans HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(1000);
  const statuses = await statusesOf(sent, 1000);
  expect(statuses.slice(0, 65)).toEqual(Array(65).fill(401));
  expect(new Set(statuses)).toEqual(new Set([401, 429]));
});

test("one tenant's endless large bodies block nobody else", async () => {
  const other = await createTenant(service.api, await adminSession(service.api));
  const clients = await Promise.all(
    Array.from({ length: 40 }, () =>
      openRawPost(service.baseUrl, {
        path: '/project/users',
        as: other.key,
        headers: ['Content-Type: application/json', 'Content-Length: 1000000'],
      }),
    ),
  );
  await Promise.all(clients.map((client) => client.write(`{"externalId":"${'x'.repeat(100_000)}`)));
  const large = { externalId: 'large', filler: 'x'.repeat(500_000) };
  expect((await service.api.post('/project/users', tenant.key, large)).status).toBe(201);
  for (const client of clients) client.end();
});

describe('bodies that are expensive to parse are refused before parsing', () => {
  const json = { 'content-type': 'application/json' };

  test('a JSON body of more than 16 KiB below /auth is 413, however it is sent', async () => {
    const long = JSON.stringify({ token: 'x'.repeat(20_000), newPassword: 'long enough' });
    const sent = await service.api.call('POST', '/auth/reset-password', { raw: long, headers: json });
    expect([sent.status, issuesOf(sent)]).toMatchObject([413, [{ path: 'body', code: 'size' }]]);
    const chunked = await openRawPost(service.baseUrl, {
      path: '/auth/reset-password',
      as: 'nobody',
      headers: ['Content-Type: application/json', 'Transfer-Encoding: chunked'],
    });
    await chunked.write(`${long.length.toString(16)}\r\n${long}\r\n`);
    expect((await chunked.reply()).status).toBe(413);
    chunked.end();
  });

  test.each([
    ['distinct names', `{${Array.from({ length: 12_000 }, (_, nth) => `"n${nth}":1`).join()}}`],
    ['items', JSON.stringify({ externalId: 'x', rest: Array(12_000).fill(0) })],
    ['empty objects', `[${Array(12_000).fill('{}').join()}]`],
  ])('JSON with more than 10,000 values is 422: %s', async (_what, raw) => {
    const reply = await service.api.call('POST', '/project/users', { as: tenant.key, raw, headers: json });
    expect([reply.status, issuesOf(reply)]).toMatchObject([422, [{ path: 'body', code: 'json' }]]);
    expect(reply.text).toContain('more than 10000 values');
  });

  test('commas and brackets inside a string do not count as values', async () => {
    const raw = JSON.stringify({ externalId: 'punctuated', rest: ',[{"\\'.repeat(10_000) });
    const reply = await service.api.call('POST', '/project/users', { as: tenant.key, raw, headers: json });
    expect(reply.status).toBe(201);
  });

  test.each(['{"externalId":"p","a":{"__proto__":1}}', '{"externalId":"p","\\u005f_proto__":1}'])(
    'the name __proto__ is refused however it is written: %s',
    async (raw) => {
      const reply = await service.api.call('POST', '/project/users', { as: tenant.key, raw, headers: json });
      expect([reply.status, reply.text]).toMatchObject([422, expect.stringContaining('__proto__')]);
    },
  );

  test('fields of a form that add up to more than 256 KiB are 422, and nothing is stored', async () => {
    const own = await createUser(service.api, tenant.key);
    const tags = Array.from({ length: 5 }, () => JSON.stringify(Array(15_000).fill('ab')).slice(0, 60_000));
    const reply = await upload(service.api, tenant.key, `/project/users/${own.id}`, 'x', {
      fields: { tags },
    });
    expect([reply.status, issuesOf(reply)]).toMatchObject([422, [{ path: 'body', code: 'maxLength' }]]);
    const { files } = (await service.api.get(`/project/users/${own.id}/files`, tenant.key)).body;
    expect(files).toEqual([]);
  });

  /** One byte a chunk, each of which Node hands over by itself. */
  const tinyChunks = (count: number) => '1\r\nx\r\n'.repeat(count);

  test.each([
    ['a stranger', '/auth/login', 'application/json'],
    ['whoever is refused before the body is read', '/project/users', 'application/json'],
  ])('a body in many tiny chunks is cut off: %s', async (_who, at, type) => {
    const client = await openRawPost(service.baseUrl, {
      path: at,
      as: 'nobody',
      headers: [`Content-Type: ${type}`, 'Transfer-Encoding: chunked'],
    });
    await client.write(tinyChunks(200));
    await client.write(`${tinyChunks(100_000)}0\r\n\r\n`);
    const { status, text } = await client.reply();
    expect([400, 401], text).toContain(status);
    await until('the connection is gone', async () => client.gone);
  });

  test('an upload in many tiny chunks is refused with advice, and nothing is stored', async () => {
    const own = await createUser(service.api, tenant.key);
    const client = await openRawPost(service.baseUrl, {
      path: `/project/users/${own.id}/files`,
      as: tenant.key,
      headers: [`Content-Type: ${contentTypeOf()}`, 'Transfer-Encoding: chunked'],
    });
    await client.write(tinyChunks(100_000));
    const { status, text } = await client.reply();
    expect([status, text]).toEqual([400, expect.stringContaining('tiny chunks')]);
    client.end();
  });
});

test('an update without a body is refused with advice; an empty object is accepted', async () => {
  const headers = { 'content-type': 'application/json' };
  for (const raw of ['', undefined]) {
    const given = { as: tenant.key, headers, ...(raw === undefined ? {} : { raw }) };
    const reply = await service.api.call('PUT', path, given);
    expect([reply.status, issuesOf(reply)]).toMatchObject([422, [{ path: 'body', code: 'required' }]]);
  }
  expect((await service.api.put(path, tenant.key, {})).status).toBe(200);
  const mint = await service.api.call('POST', `${path}/tokens`, { as: tenant.key, headers, raw: '' });
  expect(mint.status, 'its body is optional').toBe(201);
});

test.each(['1.1', '1.0'])('two Host headers are 400, in the one envelope (HTTP/%s)', async (version) => {
  const { hostname, port, pathname } = new URL(service.baseUrl);
  for (const second of ['Host: y', 'hOsT: x']) {
    const socket = connect(Number(port), hostname);
    socket.write(
      `GET ${pathname}/health HTTP/${version}\r\nHost: x\r\nX-Other: 1\r\n${second}\r\nConnection: close\r\n\r\n`,
    );
    const answer = (await socket.toArray()).join('');
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    const { error } = JSON.parse(answer.slice(answer.indexOf('{')));
    expect(error).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { issues: [{ path: 'host', code: 'repeated' }] },
    });
  }
});

test.each(['x"y', 'a b', 'evil.test/"},{"', 'a\tb', 'ø'])(
  'Host %j never becomes part of a link',
  async (host) => {
    const { body } = await upload(service.api, tenant.key, path, Buffer.from('linked'));
    const { hostname, port, pathname } = new URL(service.baseUrl);
    const socket = connect(Number(port), hostname);
    socket.write(
      `GET ${pathname}${path}/files/${body.file.id} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${tenant.key}\r\nConnection: close\r\n\r\n`,
    );
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    const [, answer = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n');
    expect(JSON.parse(answer).file.url).toMatch(/^http:\/\/localhost\//);
  },
);

test.each([
  ['tokens', 'application/json', Buffer.from('{"scopes":[]}')],
  ['files', contentTypeOf(), formOf(partsOf('a file'))],
  ['files', contentTypeOf(), formOf(partsOf(Buffer.alloc(300_000)))],
])('%s: a change is refused if its credential ends while the body arrives', async (at, type, body) => {
  const owner = await createUser(service.api, tenant.key);
  const { id, key } = await createIntegration(service.api, tenant.key, {
    scopes: ['users:read', 'files:write'],
  });
  const client = await openRawPost(service.baseUrl, {
    path: `/project/users/${owner.id}/${at}`,
    as: key,
    headers: [`Content-Type: ${type}`, `Content-Length: ${body.length}`],
  });
  await client.write(body.subarray(0, -5));
  await delay(200);
  expect((await service.api.delete(`/project/integrations/${id}`, tenant.key)).status).toBe(204);
  await client.write(body.subarray(-5));
  expect((await client.reply()).status).toBe(401);
  client.end();
  const { files } = (await service.api.get(`/project/users/${owner.id}/files`, tenant.key)).body;
  expect(files).toEqual([]);
});

test('an unknown route is 404, whatever is sent to it', async () => {
  const json = { 'content-type': 'application/json' };
  for (const [method, at, given] of [
    ['QUERY', '/health', {}],
    ['POST', '/nope', { raw: '{', headers: json }],
    ['POST', '/nope', { raw: 'x'.repeat(2 ** 21), headers: json }],
    ['PATCH', '/project/users', { raw: '{', headers: json }],
    ['PUT', '/nope', { raw: 'x', headers: { 'content-type': 'text/plain' } }],
    ['GET', '/project/users/', { as: tenant.key }],
    ['GET', '/project/users//files', { as: tenant.key }],
    ['GET', '/admin/projects/?limit=1', {}],
  ] as const) {
    const reply = await service.api.call(method, at, given);
    expect([reply.status, reply.body.error.code], `${method} ${at}`).toEqual([404, 'NOT_FOUND']);
  }
});

test('the content type matters only if there is a body', async () => {
  const { id } = await createUser(service.api, tenant.key);
  const headers = { 'content-type': 'text/plain' };
  const preflight = await service.api.call('OPTIONS', '/project/users', { headers });
  expect(preflight.status).toBe(204);
  const withBody = { as: tenant.key, raw: 'x', headers };
  expect((await service.api.call('DELETE', `/project/users/${id}`, withBody)).status).toBe(422);
  expect((await service.api.call('DELETE', `/project/users/${id}`, { as: tenant.key, headers })).status).toBe(
    204,
  );
});

test('a refused credential gets advice, and logout also clears an invalid cookie', async () => {
  const reply = await service.api.call('GET', '/auth/me', { cookie: 'token=dead' });
  expect([reply.status, reply.headers['www-authenticate']]).toEqual([401, 'Bearer']);
  expect(reply.headers['set-cookie']).toBeUndefined();
  const out = await service.api.call('POST', '/auth/logout', { cookie: 'token=dead' });
  expect(out.status).toBe(401);
  expect(String(out.headers['set-cookie'])).toMatch(/^token=;.*Max-Age=0/);
});

test('an empty cookie counts as none', async () => {
  const session = await sessionOf(service.api, tenant.email, tenant.password);
  const reply = await service.api.call('GET', '/auth/me', { as: session, headers: { cookie: 'token=' } });
  expect(reply.status).toBe(200);
});

describe('uploads are refused in order', () => {
  test('a missing or inactive space is reported before problems of the file', async () => {
    const space = (
      await service.api.post(`${path}/spaces`, tenant.key, { external_id: 'shut', name: 'Shut' })
    ).body.space;
    await service.api.put(`${path}/spaces/${space.id}`, tenant.key, { active: false });
    const { plan } = (
      await service.api.post('/project/plans', tenant.key, {
        name: 'narrow',
        storageLimit: 5,
        maxFileSize: 10,
        allowedMimes: ['text/*'],
      })
    ).body;
    await service.api.put(`${path}/plan`, tenant.key, { planId: plan.id });
    const sent = async (spaceId: string | null, bytes: number, type: string) => {
      const options = { type, ...(spaceId && { meta: { space_id: spaceId } }) };
      const { status, body } = await upload(service.api, tenant.key, path, Buffer.alloc(bytes, 97), options);
      return [status, body.error.code];
    };
    for (const [bytes, type] of [
      [11, 'image/png'],
      [11, 'text/plain'],
      [6, 'text/plain'],
    ] as const) {
      expect(await sent(space.id, bytes, type)).toEqual([403, 'FORBIDDEN']);
      expect(await sent(user.id, bytes, type)).toEqual([404, 'NOT_FOUND']);
    }
    expect(await sent(null, 11, 'image/png')).toEqual([422, 'MIME_NOT_ALLOWED']);
    expect(await sent(null, 11, 'text/plain')).toEqual([422, 'FILE_TOO_LARGE']);
    expect(await sent(null, 6, 'text/plain')).toEqual([422, 'STORAGE_LIMIT_EXCEEDED']);
  });

  test('metadata errors are reported even before a file that is far too large', async () => {
    const options = { fields: { meta: '{bad' }, type: 'text/plain' };
    const reply = await upload(service.api, tenant.key, path, Buffer.alloc(20 << 20), options);
    expect([reply.status, reply.body.error.code]).toEqual([422, 'VALIDATION_ERROR']);
  });
});

describe('fields of a form', () => {
  const stored = async (options: Parameters<typeof upload>[4]) => {
    const own = await createUser(service.api, tenant.key);
    return upload(service.api, tenant.key, `/project/users/${own.id}`, 'x', {
      type: 'text/plain',
      ...options,
    });
  };

  test('contradicting spellings of one field are refused; a field overrides meta in any spelling', async () => {
    const [one, other] = [crypto.randomUUID(), crypto.randomUUID()];
    const both = await stored({ fields: { spaceId: one, space_id: other } });
    expect([both.status, issuesOf(both)]).toMatchObject([422, [{ path: 'space_id', code: 'casing' }]]);
    const mixed = await stored({ meta: { spaceId: one }, fields: { space_id: other } });
    expect(mixed.status, 'there is no such space').toBe(404);
  });

  test("space_id null stores the file at the user's level", async () => {
    const reply = await stored({ meta: { space_id: null } });
    expect([reply.status, reply.body.file?.space_id]).toEqual([201, null]);
  });

  test('tags are trimmed as in searches, and a blank tag is refused', async () => {
    const { file } = (await stored({ meta: { tags: [' sp ', 'sp'] } })).body;
    expect(file.tags).toEqual(['sp']);
    expect((await stored({ meta: { tags: ['sp', '  '] } })).status).toBe(422);
    expect((await stored({ fields: { tags: ['["a"]', 'b'] } })).body.file.tags).toEqual(['a', 'b']);
  });
});

test.each(['image/p*', 'foo/b@r', 'text/(plain)', 'image', '*/png'])(
  'mime_type=%s is no filter',
  async (mimeType) => {
    const reply = await service.api.get(
      `${path}/files?mime_type=${encodeURIComponent(mimeType)}`,
      tenant.key,
    );
    expect(reply.status).toBe(400);
  },
);
