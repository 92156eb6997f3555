// The log line of a request: its id, and the secrets that it never contains.
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { adminPassword, startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { until } from '../support/processes.ts';
import { sendFile } from '../support/send-file.ts';
import {
  adminSession,
  createIntegration,
  createTenant,
  createUser,
  logIn,
  mintToken,
  type Tenant,
  unique,
} from '../support/tenants.ts';

let service: TestPakhus;
let admin: string;
let tenant: Tenant;
let user: { id: string };
let log = '';

beforeAll(async () => {
  service = await startTestPakhus({ LOG_LEVEL: 'trace' }, (lines) => {
    log += lines;
  });
  admin = await adminSession(service.api);
  tenant = await createTenant(service.api, admin);
  user = await createUser(service.api, tenant.key);
});
afterAll(() => service.stop());

const linesOf = (path: string) => log.split('\n').filter((line) => line.includes(`"path":"${path}`));

const withId = async (id: string) => {
  const { headers } = await service.api.call('GET', '/health', { headers: { 'x-request-id': id } });
  return headers['x-request-id'];
};

test.each([
  'a',
  'client-1',
  '4bf92f3577b34da6a3ce929d0e0e4736',
  'Root=1-67891233:ab/cd+ef_gh.ij',
  'x'.repeat(128),
])('a request id given by the client is kept in the reply and in the log: %s', async (id) => {
  expect(await withId(id)).toBe(id);
  await until('it is logged', async () => log.includes(`"request_id":"${id}"`));
});

test.each([
  ['an empty one', ''],
  ['a blank inside', 'a b'],
  ['a quote', 'a"b'],
  ['a comma, as of two', 'a, b'],
  ['markup', '<script>'],
  ['a tab', 'a\tb'],
  ['a letter beyond ASCII', 'é'],
  ['one that is too long', 'x'.repeat(129)],
])('an invalid request id is replaced by a new one: %s', async (_what, id) => {
  const [first, second] = [await withId(id), await withId(id)];
  expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(second).not.toBe(first);
});

/** Bytes that may be no request at all, and whatever comes back. */
async function sendRaw(bytes: string): Promise<string> {
  const { hostname, port } = new URL(service.baseUrl);
  const socket = connect(Number(port), hostname);
  socket.end(bytes);
  return text(socket);
}

test('the log contains no signature, token, key or password, valid or not', async () => {
  const { api, baseUrl } = service;
  const { pathname } = new URL(baseUrl);
  const wrong = unique('not-the-password');
  const session = (await logIn(api, tenant.email, tenant.password)).body.token;
  expect((await logIn(api, tenant.email, wrong)).status).toBe(401);
  expect((await api.call('GET', '/auth/me', { cookie: session })).status).toBe(200);
  const { token } = await mintToken(api, tenant.key, user.id);
  const integration = await createIntegration(api, tenant.key, { scopes: ['spaces:login'] });
  const credentials = { external_id: unique('space'), password: unique('space-password') };
  const spaces = `/project/users/${user.id}/spaces`;
  expect((await api.post(spaces, token, { ...credentials, name: 'a space' })).status).toBe(201);
  const inSpace = await api.post('/project/spaces/login', integration.key, credentials);
  expect(inSpace.status).toBe(201);

  const fileId = await sendFile(api, tenant.key, user.id);
  const { body } = await api.get(`/project/users/${user.id}/files/${fileId}`, token);
  const signed = new URL(body.file.url);
  const signature = signed.searchParams.get('signature') as string;
  expect((await fetch(signed)).status).toBe(200);
  expect((await fetch(signed, { headers: { range: 'bytes=99999999-' } })).status).toBe(416);
  const forged = new URL(signed);
  forged.searchParams.set('type', 'text/html');
  expect((await fetch(forged)).status).toBeGreaterThanOrEqual(400);
  // Where there is no such path, none that can be read, and no request.
  const lost = '/nowhere-to-be-found';
  expect((await fetch(`${baseUrl}${lost}?token=${session}&signature=${signature}`)).status).toBe(404);
  await sendRaw(
    `GET ${pathname}/%zz?signature=${signature} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
  );
  await sendRaw(`GET ${pathname}/health HTTP/1.1\r\nAuthorization: Bearer ${token}\r\nno header\r\n\r\n`);
  const expecting = 'Expect: nothing\r\nConnection: close';
  await sendRaw(`GET ${pathname}?token=${token} HTTP/1.1\r\nHost: a\r\n${expecting}\r\n\r\n`);

  const seen = [signed.pathname, `${pathname}${lost}`, `${pathname}/%zz`, `${pathname}/auth/login`];
  await until('all is logged', async () => {
    const [downloads = 0, ...others] = seen.map((path) => linesOf(path).length);
    const refused = ['HPE_INVALID_HEADER_TOKEN', 'EXPECTATION'].every((code) => log.includes(`"${code}"`));
    return downloads === 3 && others.every((lines) => lines > 0) && refused;
  });
  const jwts = [admin, session, token, inSpace.body.token];
  const secrets = {
    signatures: [signature, ...jwts.map((jwt) => jwt.split('.')[2])],
    keys: [tenant.key, integration.key].map((key) => key.slice(12)),
    passwords: [adminPassword, tenant.password, credentials.password, wrong],
  };
  for (const secret of Object.values(secrets).flat()) {
    expect(secret.length).toBeGreaterThan(8);
    expect(log).not.toContain(secret);
    expect(log).not.toContain(encodeURIComponent(secret));
  }
});

test('a body cut off by the client is not logged as our error', async () => {
  const id = unique('cut-off');
  const { port, hostname, pathname } = new URL(service.baseUrl);
  const socket = connect(Number(port), hostname);
  const head = `POST ${pathname}/auth/reset-password HTTP/1.1\r\nHost: a\r\nX-Request-Id: ${id}`;
  socket.write(`${head}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`);
  socket.on('error', () => undefined);
  await delay(100);
  socket.resetAndDestroy();
  await delay(300);
  const after = unique('after');
  await withId(after);
  await until('what came after it is logged', async () => log.includes(after));
  const errors = log.split('\n').filter((line) => line.includes(id) && line.includes('"level":"error"'));
  expect(errors).toEqual([]);
});
