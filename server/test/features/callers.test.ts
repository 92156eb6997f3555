import { createHmac, generateKeyPairSync, randomUUID, sign as signBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Scope, scopes } from '../../src/contract/scope.ts';
import { rowsOf } from '../support/database.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { createLiveSpace } from '../support/spaces.ts';
import {
  adminSession,
  createIntegration,
  createTenant,
  createUser,
  logIn,
  mintToken,
  sessionOf,
  type Tenant,
  unique,
} from '../support/tenants.ts';
import { upload } from '../support/uploads.ts';

const jwtSecret = 'the secret of this file, long enough to sign';

let service: TestPakhus;
let admin: string;
let tenant: Tenant;
let user: { id: string; externalId: string };

beforeAll(async () => {
  service = await startTestPakhus({ JWT_SECRET: jwtSecret });
  admin = await adminSession(service.api);
  tenant = await createTenant(service.api, admin);
  user = await createUser(service.api, tenant.key);
});
afterAll(() => service.stop());

const statusOf = async (path: string, as?: string) => (await service.api.get(path, as)).status;
const readUser = (as: string, id = user.id, on = service) =>
  on.api.get(`/project/users/${id}`, as).then(({ status }) => status);

describe('credentials: the first one found decides', () => {
  const meOf = (options: { as?: string; cookie?: string }) => service.api.call('GET', '/auth/me', options);

  test('the session works as a cookie and as a bearer token', async () => {
    const session = await sessionOf(service.api, tenant.email, tenant.password);
    expect((await meOf({ cookie: session })).body.session).toMatchObject({
      role: 'project',
      id: tenant.id,
      project_id: tenant.id,
      email: tenant.email,
      two_factor_enabled: false,
    });
    expect((await meOf({ as: session })).body.session.role).toBe('project');
    expect((await meOf({ as: admin })).body.session).toMatchObject({
      role: 'admin',
      project_id: null,
      name: null,
    });
  });

  test('an API key in the header takes precedence over a cookie, valid or not', async () => {
    const other = await createTenant(service.api, admin);
    const session = await sessionOf(service.api, other.email, other.password);
    for (const cookie of [session, 'nonsense']) {
      const reply = await service.api.call('GET', `/project/users/${user.id}`, { as: tenant.key, cookie });
      expect(reply.status, cookie).toBe(200);
    }
  });

  test('an invalid API key is 401 even with a valid cookie', async () => {
    const session = await sessionOf(service.api, tenant.email, tenant.password);
    expect((await meOf({ as: `pak_${'0'.repeat(64)}`, cookie: session })).status).toBe(401);
  });

  test('a cookie takes precedence over a bearer token, even an invalid cookie', async () => {
    expect((await meOf({ as: admin, cookie: 'nonsense' })).status).toBe(401);
    const session = await sessionOf(service.api, tenant.email, tenant.password);
    expect((await meOf({ as: admin, cookie: session })).body.session.role).toBe('project');
  });

  test('an API key inside a cookie is 401', async () => {
    const reply = await service.api.call('GET', '/project/users', { cookie: tenant.key });
    expect(reply.status).toBe(401);
  });

  test('a delegated token works as a cookie as well', async () => {
    const { token } = await mintToken(service.api, tenant.key, user.id);
    expect((await service.api.call('GET', `/project/users/${user.id}`, { cookie: token })).status).toBe(200);
  });

  test('only the Bearer scheme counts, in any case', async () => {
    const path = `/project/users/${user.id}`;
    const as = (authorization: string) => service.api.call('GET', path, { headers: { authorization } });
    expect((await as(`Basic ${tenant.key}`)).status).toBe(401);
    expect((await as(tenant.key)).status).toBe(401);
    expect((await as(`bearer ${tenant.key}`)).status).toBe(200);
  });
});

describe('sessions', () => {
  test('logout ends this session at once and no other', async () => {
    const [first, second] = [
      await sessionOf(service.api, tenant.email, tenant.password),
      await sessionOf(service.api, tenant.email, tenant.password),
    ];
    expect((await service.api.post('/auth/logout', first)).status).toBe(204);
    expect(await statusOf('/auth/me', first)).toBe(401);
    expect(await statusOf('/auth/me', second)).toBe(200);
  });

  test('logout everywhere ends every session of the account on every instance, clears the cookie, and no other account', async () => {
    const { api } = service;
    const owner = await createTenant(api, admin);
    const log = () => sessionOf(api, owner.email, owner.password);
    const [first, second, bystander] = [
      await log(),
      await log(),
      await sessionOf(api, tenant.email, tenant.password),
    ];
    const other = await service.another({ ROLE: 'api' });
    try {
      expect((await other.api.get('/auth/me', second)).status).toBe(200);
      const reply = await api.call('POST', '/auth/logout-everywhere', { cookie: first });
      expect([reply.status, reply.text]).toEqual([204, '']);
      expect(String(reply.headers['set-cookie'])).toMatch(/^token=; .*Max-Age=0/);
      for (const session of [first, second]) {
        expect(await statusOf('/auth/me', session)).toBe(401);
        expect((await other.api.get('/auth/me', session)).status).toBe(401);
        expect((await api.post('/auth/logout-everywhere', session)).status).toBe(401);
      }
    } finally {
      await other.stop();
    }
    expect(await statusOf('/auth/me', bystander)).toBe(200);
    expect(await statusOf('/project/users', owner.key)).toBe(200);
    expect(await statusOf('/auth/me', await log())).toBe(200);
    const { logs } = (await api.get('/project/audit?action=auth.logout', owner.key)).body;
    expect(logs).toMatchObject([
      { actor_id: owner.id, resource_type: 'account', metadata: { everywhere: true, sessions: 2 } },
    ]);
  });

  test('an admin session is refused below /project, a project session below /admin', async () => {
    const session = await sessionOf(service.api, tenant.email, tenant.password);
    for (const path of ['/project/users', '/project/plans', '/project/keys', '/project/audit']) {
      expect(await statusOf(path, admin), path).toBe(403);
    }
    for (const path of ['/admin/projects', '/admin/audit', '/admin/settings/rate-limit']) {
      expect(await statusOf(path), path).toBe(401);
      expect(await statusOf(path, session), path).toBe(403);
      expect(await statusOf(path, tenant.key), path).toBe(403);
    }
  });

  test('the e-mail ignores case and surrounding spaces; an unknown e-mail and a wrong password get the same reply', async () => {
    expect((await logIn(service.api, ` ${tenant.email.toUpperCase()} `, tenant.password)).status).toBe(200);
    const [nobody, wrong] = [
      await logIn(service.api, `${unique('nobody')}@example.com`, tenant.password),
      await logIn(service.api, tenant.email, 'not the password'),
    ];
    expect([nobody.status, nobody.body]).toEqual([401, wrong.body]);
  });
});

test('projects.create: refuses a password that is too long in bytes for login', async () => {
  const create = (password: string) =>
    service.api.post('/admin/projects', admin, {
      name: 'p',
      email: `${unique('owner')}@example.com`,
      password,
    });
  for (const [password, status] of [
    ['\u00e9'.repeat(128), 201],
    ['\u00e9'.repeat(129), 422],
    ['seven77', 422],
  ] as const) {
    const reply = await create(password);
    expect(reply.status, password).toBe(status);
    if (status === 201) {
      expect((await logIn(service.api, reply.body.project.email, password)).status).toBe(200);
    }
  }
});

describe('inactive', () => {
  test('a project: 403 for its keys, sessions and tokens; login is 403 only after the right password', async () => {
    const { id, key, email, password } = await createTenant(service.api, admin);
    const mine = await createUser(service.api, key);
    const integration = await createIntegration(service.api, key, { scopes });
    const space = await createLiveSpace(service, id, mine.id, scopes);
    const callers = [
      key,
      integration.key,
      await sessionOf(service.api, email, password),
      (await mintToken(service.api, key, mine.id)).token,
      (await mintToken(service.api, integration.key, mine.id)).token,
      space.token,
    ];
    const statuses = () => Promise.all(callers.map((as) => readUser(as, mine.id)));
    expect(await statuses()).toEqual(callers.map(() => 200));
    await service.api.patch(`/admin/projects/${id}/status`, admin, { active: false });
    expect(await statuses()).toEqual(callers.map(() => 403));
    expect((await logIn(service.api, email, password)).status).toBe(403);
    expect((await logIn(service.api, email, 'not the password')).status).toBe(401);
    await service.api.patch(`/admin/projects/${id}/status`, admin, { active: true });
    expect(await statuses()).toEqual(callers.map(() => 200));
  });

  test('a user: 401 for its tokens and its spaces, while the project still reads and deletes it', async () => {
    const mine = await createUser(service.api, tenant.key);
    const { token } = await mintToken(service.api, tenant.key, mine.id);
    const space = await createLiveSpace(service, tenant.id, mine.id, scopes);
    await service.api.put(`/project/users/${mine.id}`, tenant.key, { active: false });
    expect(await readUser(token, mine.id)).toBe(401);
    expect(await readUser(space.token, mine.id)).toBe(401);
    expect(await readUser(tenant.key, mine.id)).toBe(200);
    expect((await service.api.post(`/project/users/${mine.id}/tokens`, tenant.key, {})).status).toBe(403);
    await service.api.put(`/project/users/${mine.id}`, tenant.key, { active: true });
    expect(await readUser(token, mine.id)).toBe(200);
    expect((await service.api.delete(`/project/users/${mine.id}`, tenant.key)).status).toBe(204);
    expect(await readUser(token, mine.id)).toBe(401);
    expect(await readUser(space.token, mine.id)).toBe(401);
  });

  test('a space: 401 for its token', async () => {
    const space = await createLiveSpace(service, tenant.id, user.id, scopes);
    expect(await readUser(space.token)).toBe(200);
    await rowsOf(service.databaseUrl, `update spaces set active = false where id = '${space.id}'`);
    expect(await readUser(space.token)).toBe(401);
  });

  test('an integration: 401 for its key and for every token that it minted, until it is active again', async () => {
    const { id, key } = await createIntegration(service.api, tenant.key, { scopes });
    const { token } = await mintToken(service.api, key, user.id);
    const byProject = await mintToken(service.api, tenant.key, user.id);
    const space = await createLiveSpace(service, tenant.id, user.id, scopes, id);
    const statuses = () => Promise.all([key, token, space.token, byProject.token].map((as) => readUser(as)));
    await service.api.put(`/project/integrations/${id}`, tenant.key, { active: false });
    expect(await statuses()).toEqual([401, 401, 401, 200]);
    await service.api.put(`/project/integrations/${id}`, tenant.key, { active: true });
    expect(await statuses()).toEqual([200, 200, 200, 200]);
    expect((await service.api.delete(`/project/integrations/${id}`, tenant.key)).status).toBe(204);
    expect(await statuses()).toEqual([401, 401, 401, 200]);
  });

  test('deleting a project ends all of its credentials', async () => {
    const { id, key, email, password } = await createTenant(service.api, admin);
    const mine = await createUser(service.api, key);
    const callers = [
      key,
      await sessionOf(service.api, email, password),
      (await mintToken(service.api, key, mine.id)).token,
    ];
    expect((await service.api.delete(`/admin/projects/${id}`, admin)).status).toBe(204);
    for (const as of callers) expect(await readUser(as, mine.id)).toBe(401);
    expect((await logIn(service.api, email, password)).status).toBe(401);
  });
});

describe('revocation', () => {
  test('takes effect on another instance with the next request, and survives a restart', async () => {
    const other = await service.another();
    try {
      const { token, jti } = await mintToken(service.api, tenant.key, user.id);
      const session = await sessionOf(service.api, tenant.email, tenant.password);
      expect(await readUser(token, user.id, other)).toBe(200);
      expect((await other.api.get('/auth/me', session)).status).toBe(200);
      await service.api.post(`/project/users/${user.id}/tokens/revoke`, tenant.key, { jti });
      await service.api.post('/auth/logout', session);
      expect(await readUser(token, user.id, other)).toBe(401);
      expect((await other.api.get('/auth/me', session)).status).toBe(401);
      await other.stop();
      const restarted = await service.another();
      try {
        expect(await readUser(token, user.id, restarted)).toBe(401);
        expect((await restarted.api.get('/auth/me', session)).status).toBe(401);
      } finally {
        await restarted.stop();
      }
    } finally {
      await other.stop();
    }
  });

  test('works by external id, and repeatedly', async () => {
    const { token, jti } = await mintToken(service.api, tenant.key, user.id);
    for (let time = 0; time < 2; time += 1) {
      const path = `/project/users/ext/${user.externalId}/tokens/revoke`;
      expect((await service.api.post(path, tenant.key, { jti })).status).toBe(204);
    }
    expect(await readUser(token)).toBe(401);
  });

  test("a token cannot be revoked by another tenant or through another user's path", async () => {
    const other = await createTenant(service.api, admin);
    const theirs = await createUser(service.api, other.key);
    const neighbour = await createUser(service.api, tenant.key);
    const { token, jti } = await mintToken(service.api, tenant.key, user.id);
    await service.api.post(`/project/users/${theirs.id}/tokens/revoke`, other.key, { jti });
    await service.api.post(`/project/users/${neighbour.id}/tokens/revoke`, tenant.key, { jti });
    const direct = await service.api.post(`/project/users/${user.id}/tokens/revoke`, other.key, { jti });
    expect(direct.status).toBe(404);
    expect(await readUser(token)).toBe(200);
  });

  test('a space has one live token: the one on its row', async () => {
    const space = await createLiveSpace(service, tenant.id, user.id, scopes);
    await rowsOf(
      service.databaseUrl,
      `update spaces set session_jti = '${randomUUID()}' where id = '${space.id}'`,
    );
    expect(await readUser(space.token)).toBe(401);
  });
});

describe('requests that arrive together', () => {
  test('with one credential, each sees the user it names and no other', async () => {
    const other = await createTenant(service.api, admin);
    const foreign = await createUser(service.api, other.key);
    const users = await Promise.all(Array.from({ length: 12 }, () => createUser(service.api, tenant.key)));
    const [first, second] = users as [(typeof users)[0], (typeof users)[0]];
    // An external id equal to another user's id.
    const twin = (await service.api.post('/project/users', tenant.key, { externalId: first.id })).body.user;
    const nobody = randomUUID();
    const { token } = await mintToken(service.api, tenant.key, first.id);
    const session = await sessionOf(service.api, tenant.email, tenant.password);
    const asked: [as: string, path: string, answer: string | number][] = [
      ...users.flatMap(({ id, externalId }): typeof asked => [
        [tenant.key, id, id],
        [tenant.key, id.toUpperCase(), id],
        [tenant.key, `ext/${externalId}`, id],
        [session, id, id],
        [other.key, id, 404],
        [token, id, id === first.id ? id : 404],
      ]),
      [tenant.key, `ext/${first.id}`, twin.id],
      [tenant.key, `ext/${second.id}`, 404],
      [tenant.key, `ext/${first.externalId.toUpperCase()}x`, 404],
      [tenant.key, foreign.id, 404],
      [tenant.key, nobody, 404],
      [other.key, foreign.id, foreign.id],
      [tenant.key, 'no-uuid', 400],
      [`${tenant.key.slice(0, -4)}0000`, first.id, 401],
      [admin, first.id, 403],
    ];
    for (let round = 0; round < 5; round += 1) {
      const answers = await Promise.all(
        asked.map(([as, path]) => service.api.get(`/project/users/${path}`, as)),
      );
      expect(answers.map(({ status, body }) => (status === 200 ? body.user.id : status))).toEqual(
        asked.map(([, , answer]) => answer),
      );
    }
  });

  test('each sees the file it names if it may', async () => {
    const users = await Promise.all(Array.from({ length: 4 }, () => createUser(service.api, tenant.key)));
    const owned = await Promise.all(
      users.map(async ({ id }) => {
        const [small, large] = [Buffer.from(`of ${id}`), Buffer.from(`of ${id}, in its space`)];
        const space = await createLiveSpace(service, tenant.id, id, scopes);
        const path = `/project/users/${id}`;
        const mine = (await upload(service.api, tenant.key, path, small)).body.file;
        const spaces = (await upload(service.api, space.token, path, large)).body.file;
        const { token } = await mintToken(service.api, tenant.key, id);
        return { id, mine, spaces, token, spaceToken: space.token };
      }),
    );
    const asked: [as: string, path: string, answer: string | number][] = [];
    for (const viewer of owned) {
      for (const { mine, spaces } of owned) {
        const own = viewer.mine.id === mine.id;
        const pathOf = (file: { id: string }) => `${viewer.id}/files/${file.id}`;
        asked.push(
          [tenant.key, pathOf(mine), own ? mine.sha256 : 404],
          [viewer.token, pathOf(spaces), own ? spaces.sha256 : 404],
          [viewer.spaceToken, pathOf(spaces), own ? spaces.sha256 : 404],
          [viewer.spaceToken, pathOf(mine), 404],
        );
      }
    }
    const answers = await Promise.all(
      asked.map(([as, path]) => service.api.get(`/project/users/${path}`, as)),
    );
    expect(answers.map(({ status, body }) => (status === 200 ? body.file.sha256 : status))).toEqual(
      asked.map(([, , answer]) => answer),
    );
  });
});

describe('minting', () => {
  const mint = (as: string, body: unknown, id = user.id) =>
    service.api.post(`/project/users/${id}/tokens`, as, body);

  test('without scopes a token gets all scopes of its minter', async () => {
    const integration = await createIntegration(service.api, tenant.key, {
      scopes: ['users:read', 'files:read'],
    });
    const { body } = await mint(integration.key, {});
    expect(body.scopes).toEqual(['users:read', 'files:read']);
    expect(body.user_id).toBe(user.id);
    expect(new Set((await mint(tenant.key, {})).body.scopes)).toEqual(new Set(scopes));
    expect((await service.api.post(`/project/users/${user.id}/tokens`, tenant.key)).status).toBe(201);
  });

  test('a subset is granted, excess scopes are 403 with the missing ones, an unknown scope is 422', async () => {
    const { key } = await createIntegration(service.api, tenant.key, {
      scopes: ['users:read', 'files:read'],
    });
    const subset = await mint(key, { scopes: ['files:read', 'files:read'] });
    expect(subset.body.scopes).toEqual(['files:read']);
    const excess = await mint(key, { scopes: ['files:read', 'files:delete'] });
    expect([excess.status, excess.body.error.details]).toEqual([403, { excess_scopes: ['files:delete'] }]);
    for (const unknown of ['files:*', '*', 'nonsense', '', 7]) {
      expect((await mint(key, { scopes: [unknown] })).status, String(unknown)).toBe(422);
    }
    expect((await mint(key, { scopes: [] })).body.scopes).toEqual([]);
  });

  test('needs users:read of an integration, and is 403 for user and space tokens', async () => {
    const { key } = await createIntegration(service.api, tenant.key, { scopes: ['users:write'] });
    expect((await mint(key, {})).body.error.details).toEqual({ missing_scope: 'users:read' });
    const { token } = await mintToken(service.api, tenant.key, user.id);
    const space = await createLiveSpace(service, tenant.id, user.id, scopes);
    for (const as of [token, space.token]) expect((await mint(as, {})).status).toBe(403);
  });

  test('a token expires after USER_TOKEN_TTL_SECONDS: valid just before, 401 just after', async () => {
    const own = await service.another({ USER_TOKEN_TTL_SECONDS: '60' });
    try {
      const reply = await own.api.post(`/project/users/${user.id}/tokens`, tenant.key, {});
      const { token, expires_at } = reply.body;
      const leftMs = Date.parse(expires_at) - own.pakhus.deps.clock();
      expect(leftMs).toBeGreaterThan(50_000);
      expect(leftMs).toBeLessThanOrEqual(60_000);
      own.advance(leftMs - 10_000);
      expect(await readUser(token, user.id, own)).toBe(200);
      own.advance(10_000);
      expect(await readUser(token, user.id, own)).toBe(401);
    } finally {
      await own.stop();
    }
  });

  test("a token never exceeds its integration's current scopes, and regains scopes with it", async () => {
    const { id, key } = await createIntegration(service.api, tenant.key, {
      scopes: ['users:read', 'plans:read'],
    });
    const { token } = await mintToken(service.api, key, user.id);
    const change = (held: Scope[]) =>
      service.api.put(`/project/integrations/${id}`, tenant.key, { scopes: held });
    expect(await readUser(token)).toBe(200);
    await change(['plans:read']);
    expect(await readUser(token)).toBe(403);
    await change([...scopes]);
    expect(await readUser(token)).toBe(200);
    // What was not in the token at minting does not come with a wider integration.
    const narrow = await mintToken(service.api, key, user.id, ['plans:read']);
    expect(await readUser(narrow.token)).toBe(403);
  });

  test("a space token has its space's scopes, regardless of its integration and its claims", async () => {
    const { id } = await createIntegration(service.api, tenant.key, { scopes: ['spaces:login'] });
    const space = await createLiveSpace(service, tenant.id, user.id, ['users:read'], id);
    expect(await readUser(space.token)).toBe(200);
    await rowsOf(service.databaseUrl, `update spaces set scopes = '{files:read}' where id = '${space.id}'`);
    expect(await readUser(space.token)).toBe(403);
  });
});

describe('token confusion', () => {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const now = () => Math.floor(Date.now() / 1000);
  const claimsOf = (more: object = {}) => ({
    sub: user.id,
    role: 'user',
    pid: tenant.id,
    jti: randomUUID(),
    iat: now(),
    exp: now() + 600,
    scopes,
    ...more,
  });
  const hmac = (claims: object, { alg = 'HS256', hash = 'sha256', secret = jwtSecret } = {}) => {
    const input = `${encode({ alg, typ: 'JWT' })}.${encode(claims)}`;
    return `${input}.${createHmac(hash, secret).update(input).digest('base64url')}`;
  };

  test('a correctly forged token works, so the refusals below mean something', async () => {
    expect(await readUser(hmac(claimsOf()))).toBe(200);
  });

  test('only HS256 with the right secret counts', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const rsInput = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode(claimsOf())}`;
    const rs256 = `${rsInput}.${signBytes('sha256', Buffer.from(rsInput), privateKey).toString('base64url')}`;
    const publicPem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const good = hmac(claimsOf());
    const [head, payload, signature] = good.split('.');
    const wrong: Record<string, string> = {
      'alg none, no signature': `${encode({ alg: 'none' })}.${payload}.`,
      'alg none, a signature': `${encode({ alg: 'none' })}.${payload}.${signature}`,
      'alg None': `${encode({ alg: 'None' })}.${payload}.`,
      'no alg': `${encode({ typ: 'JWT' })}.${payload}.${signature}`,
      HS384: hmac(claimsOf(), { alg: 'HS384', hash: 'sha384' }),
      HS512: hmac(claimsOf(), { alg: 'HS512', hash: 'sha512' }),
      'HS384 by name only': hmac(claimsOf(), { alg: 'HS384' }),
      RS256: rs256,
      'a public key as the secret': hmac(claimsOf(), { secret: publicPem }),
      'another secret': hmac(claimsOf(), { secret: `${jwtSecret}!` }),
      'the empty secret': hmac(claimsOf(), { secret: '' }),
      'no signature': `${head}.${payload}.`,
      'two parts': `${head}.${payload}`,
      'four parts': `${good}.${signature}`,
      "another payload's signature": `${head}.${encode(claimsOf({ jti: randomUUID() }))}.${signature}`,
      'a payload that is no object': hmac(['a'] as unknown as object),
      'over 4 KiB': hmac(claimsOf({ padding: 'x'.repeat(5000) })),
    };
    for (const [what, token] of Object.entries(wrong)) expect(await readUser(token), what).toBe(401);
  });

  test('a token without id, expiry, subject, role or project is 401 despite a valid signature', async () => {
    for (const missing of ['jti', 'exp', 'sub', 'role', 'pid', 'iat']) {
      expect(await readUser(hmac(claimsOf({ [missing]: undefined }))), `without ${missing}`).toBe(401);
    }
    const odd: object[] = [
      { exp: now() - 1 },
      { exp: String(now() + 600) },
      { exp: null },
      { jti: 'x' },
      { sub: 'x' },
      { pid: 'x' },
      { scopes: 'users:read' },
      { role: 'root' },
      { role: ['user'] },
      { role: '2fa_challenge' },
    ];
    for (const more of odd) expect(await readUser(hmac(claimsOf(more))), JSON.stringify(more)).toBe(401);
  });

  test("the subject must have the token's role and belong to its project", async () => {
    const other = await createTenant(service.api, admin);
    const theirs = await createUser(service.api, other.key);
    const space = await createLiveSpace(service, tenant.id, user.id, scopes);
    const foreign = await createIntegration(service.api, other.key, { scopes });
    const wrong: Record<string, object> = {
      "another tenant's project": { pid: other.id },
      "another tenant's user": { sub: theirs.id },
      "another tenant's integration": { iid: foreign.id },
      'an integration that is not there': { iid: randomUUID() },
      'a space as the user': { sub: space.id, jti: space.jti },
      'a user as the space': { role: 'space', uid: user.id },
      'a space without its owner': { role: 'space', sub: space.id, jti: space.jti },
      'a space of another owner': { role: 'space', sub: space.id, jti: space.jti, uid: theirs.id },
      'a space in another project': {
        role: 'space',
        sub: space.id,
        jti: space.jti,
        uid: user.id,
        pid: other.id,
      },
      'a project session without a row': { role: 'project', sub: tenant.id },
      'an admin session without a row': { role: 'admin', sub: tenant.id, pid: undefined },
    };
    for (const [what, more] of Object.entries(wrong))
      expect(await readUser(hmac(claimsOf(more))), what).toBe(401);
  });

  test("a live session's id does not make another account's session, nor an admin of a project", async () => {
    const session = await sessionOf(service.api, tenant.email, tenant.password);
    const claims = JSON.parse(Buffer.from(session.split('.')[1] ?? '', 'base64url').toString());
    const other = await createTenant(service.api, admin);
    for (const more of [
      { sub: other.id, pid: other.id },
      { role: 'admin' },
      { role: 'user', sub: user.id, pid: other.id },
    ]) {
      expect(await statusOf('/auth/me', hmac({ ...claims, ...more })), JSON.stringify(more)).toBe(401);
      expect(await statusOf('/admin/projects', hmac({ ...claims, ...more })), JSON.stringify(more)).toBe(401);
    }
  });

  test('unknown scopes, including the wildcard, grant nothing', async () => {
    expect(await readUser(hmac(claimsOf({ scopes: ['*', 'users:*', 'nonsense'] })))).toBe(403);
  });

  test('a session expires after JWT_EXPIRES_IN', async () => {
    const own = await service.another({ JWT_EXPIRES_IN: '10m' });
    try {
      const session = await sessionOf(own.api, tenant.email, tenant.password);
      own.advance(9 * 60_000);
      expect((await own.api.get('/auth/me', session)).status).toBe(200);
      own.advance(61_000);
      expect((await own.api.get('/auth/me', session)).status).toBe(401);
    } finally {
      await own.stop();
    }
  });
});

describe('SCOPE_ENFORCEMENT', () => {
  test.each([
    ['off', 200],
    ['warn', 200],
    ['enforce', 403],
  ] as const)(
    '%s answers a missing scope with %i, and never moves the hard boundaries',
    async (mode, status) => {
      const own = await service.another({ SCOPE_ENFORCEMENT: mode });
      try {
        const { key } = await createIntegration(own.api, tenant.key, { scopes: [] });
        expect(await readUser(key, user.id, own)).toBe(status);
        expect((await own.api.get('/project/keys', key)).status).toBe(403);
        expect((await own.api.get('/project/audit', key)).status).toBe(403);
        const { token } = await mintToken(own.api, tenant.key, user.id, []);
        expect((await own.api.get('/project/users', token)).status).toBe(403);
        const stranger = await createUser(own.api, tenant.key);
        expect(await readUser(token, stranger.id, own)).toBe(404);
      } finally {
        await own.stop();
      }
    },
  );

  test('the refusal names the missing scope', async () => {
    const { key } = await createIntegration(service.api, tenant.key, { scopes: ['plans:read'] });
    const { body } = await service.api.get('/project/users', key);
    expect(body.error).toMatchObject({ code: 'FORBIDDEN', details: { missing_scope: 'users:read' } });
    expect(body.error.message).toContain('users:read');
  });
});

describe('keys', () => {
  test('a key is shown once, is pak_ and 64 hex digits, and is kept only as a hash', async () => {
    const created = await service.api.post('/project/keys', tenant.key, { name: 'till' });
    const { api_key: plain, key } = created.body;
    expect(plain).toMatch(/^pak_[0-9a-f]{64}$/);
    expect(key).toMatchObject({
      name: 'till',
      key_prefix: plain.slice(0, 12),
      active: true,
      last_used_at: null,
    });
    const listed = await service.api.get('/project/keys?limit=100', tenant.key);
    expect(listed.text).not.toContain(plain);
    const stored = await rowsOf(service.databaseUrl, 'select k::text as row from api_keys k');
    expect(JSON.stringify(stored)).not.toContain(plain.slice(12));
  });

  test('rotating an integration ends the old key and shows the new prefix', async () => {
    const { id, key } = await createIntegration(service.api, tenant.key, { scopes });
    const rotated = await service.api.post(`/project/integrations/${id}/rotate-key`, tenant.key);
    expect(rotated.body.integration.key_prefix).toBe(rotated.body.api_key.slice(0, 12));
    expect(await readUser(key)).toBe(401);
    expect(await readUser(rotated.body.api_key)).toBe(200);
  });

  test('rotating a project replaces all of its keys with one, and leaves integrations alone', async () => {
    const { id, key } = await createTenant(service.api, admin);
    const second = (await service.api.post('/project/keys', key, {})).body.api_key;
    const integration = await createIntegration(service.api, key, { scopes });
    const rotated = await service.api.post(`/admin/projects/${id}/rotate-key`, admin);
    expect(await statusOf('/project/users', key)).toBe(401);
    expect(await statusOf('/project/users', second)).toBe(401);
    expect(await statusOf('/project/users', integration.key)).toBe(200);
    const listed = await service.api.get('/project/keys', rotated.body.api_key);
    expect(listed.body.keys.filter(({ active }: { active: boolean }) => active)).toHaveLength(1);
  });

  test('of 20 keys created concurrently beside 9 active ones, exactly one succeeds', async () => {
    const { key } = await createTenant(service.api, admin);
    for (let made = 1; made < 9; made += 1) await service.api.post('/project/keys', key, {});
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => service.api.post('/project/keys', key, {})),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(409)]);
    const { body } = await service.api.get('/project/keys?limit=100', key);
    expect(body.keys).toHaveLength(10);
    await service.api.delete(`/project/keys/${body.keys[0].id}`, key);
    expect((await service.api.post('/project/keys', key, {})).status).toBe(201);
  });

  test('a deleted key stays in the list, inactive, and is 401; deleting it again changes nothing', async () => {
    const { key } = await createTenant(service.api, admin);
    const second = (await service.api.post('/project/keys', key, {})).body;
    for (let time = 0; time < 2; time += 1) {
      expect((await service.api.delete(`/project/keys/${second.key.id}`, key)).status).toBe(204);
    }
    expect(await statusOf('/project/users', second.api_key)).toBe(401);
    const { body } = await service.api.get('/project/keys', key);
    expect(body.keys.find(({ id }: { id: string }) => id === second.key.id).active).toBe(false);
  });

  test('an integration key cannot be deleted as a project key', async () => {
    const { id, key } = await createIntegration(service.api, tenant.key, { scopes });
    const [row] = await rowsOf<{ id: string }>(
      service.databaseUrl,
      `select id from api_keys where integration_id = '${id}'`,
    );
    expect((await service.api.delete(`/project/keys/${row?.id}`, tenant.key)).status).toBe(404);
    expect(await readUser(key)).toBe(200);
  });

  test('last_used_at is null before the first use and set after it, for keys and integrations', async () => {
    const created = (await service.api.post('/project/keys', tenant.key, {})).body;
    const integration = await createIntegration(service.api, tenant.key, { scopes });
    const usedAt = async () => {
      const { body } = await service.api.get('/project/keys?limit=100', tenant.key);
      const one = await service.api.get(`/project/integrations/${integration.id}`, tenant.key);
      const key = body.keys.find(({ id }: { id: string }) => id === created.key.id);
      return [key.last_used_at, one.body.integration.last_used_at];
    };
    expect(await usedAt()).toEqual([null, null]);
    await readUser(created.api_key);
    await readUser(integration.key);
    await expect.poll(async () => (await usedAt()).every((at) => at !== null)).toBe(true);
  });
});

describe('keys: the end of a key ends what it minted, on every instance', () => {
  const password = 'ruta 66';

  /** A tenant of its own, with a space to log into and a second key that outlives the first. */
  async function stage() {
    const own = await createTenant(service.api, admin);
    const { id: userId } = await createUser(service.api, own.key);
    const second = (await service.api.post('/project/keys', own.key, {})).body;
    const externalId = unique('space');
    const made = await service.api.post(`/project/users/${userId}/spaces`, own.key, {
      external_id: externalId,
      name: 'a space',
      scopes: ['users:read'],
      password,
    });
    expect(made.status, made.text).toBe(201);
    const spaceAt = `/project/users/${userId}/spaces/${made.body.space.id}`;
    return { ...own, userId, second, externalId, spaceAt };
  }
  const spaceTokenBy = async (key: string, externalId: string): Promise<string> => {
    const reply = await service.api.post('/project/spaces/login', key, { external_id: externalId, password });
    expect(reply.status, reply.text).toBe(201);
    return reply.body.token;
  };

  const ends: [string, (own: Tenant, integrationId: string, keyId: string) => Promise<number>, boolean][] = [
    [
      'deleting a project key',
      async (own, _, keyId) => (await service.api.delete(`/project/keys/${keyId}`, own.key)).status,
      false,
    ],
    [
      "the admin's rotation",
      async (own) => (await service.api.post(`/admin/projects/${own.id}/rotate-key`, admin)).status,
      false,
    ],
    [
      "an integration's rotation",
      async (own, id) => (await service.api.post(`/project/integrations/${id}/rotate-key`, own.key)).status,
      true,
    ],
  ];

  test.each(ends)('%s', async (_name, end, ofIntegration) => {
    const other = await service.another();
    try {
      const own = await stage();
      const integration = await createIntegration(service.api, own.key, { scopes });
      const key = ofIntegration ? integration.key : own.second.api_key;
      const { token } = await mintToken(service.api, key, own.userId);
      const spaceToken = await spaceTokenBy(key, own.externalId);
      for (const as of [token, spaceToken]) expect(await readUser(as, own.userId, other)).toBe(200);
      expect(await end(own, integration.id, own.second.key.id)).toBeLessThan(300);
      for (const as of [token, spaceToken]) {
        expect(await readUser(as, own.userId, other)).toBe(401);
        expect(await readUser(as, own.userId)).toBe(401);
      }
    } finally {
      await other.stop();
    }
  });

  test('tokens of a session or of another key stay valid, and so does a password that a token set', async () => {
    const own = await stage();
    const session = await sessionOf(service.api, own.email, own.password);
    const integration = await createIntegration(service.api, own.key, { scopes });
    const survivors = [
      (await mintToken(service.api, session, own.userId)).token,
      (await mintToken(service.api, own.key, own.userId)).token,
      (await mintToken(service.api, integration.key, own.userId)).token,
    ];
    const doomed = (await mintToken(service.api, own.second.api_key, own.userId)).token;
    const set = await service.api.put(`${own.spaceAt}/credentials`, doomed, { password });
    expect(set.status, set.text).toBe(204);
    const spaceToken = await spaceTokenBy(session, own.externalId);
    await service.api.post('/auth/logout', session);
    await service.api.delete(`/project/keys/${own.second.key.id}`, own.key);
    expect(await readUser(doomed, own.userId)).toBe(401);
    for (const as of [...survivors, spaceToken]) expect(await readUser(as, own.userId)).toBe(200);
    expect(await readUser(await spaceTokenBy(own.key, own.externalId), own.userId)).toBe(200);
  });

  test('a token without a key, as signed by older releases, is valid until it expires', async () => {
    const own = await stage();
    const { token } = service.pakhus.deps.tokens.sign({
      sub: own.userId,
      role: 'user',
      pid: own.id,
      scopes,
      ttlMs: 60_000,
    });
    await service.api.post(`/admin/projects/${own.id}/rotate-key`, admin);
    expect(await readUser(token, own.userId)).toBe(200);
    service.advance(61_000);
    expect(await readUser(token, own.userId)).toBe(401);
  });

  test('a token is invalid if its key belongs to another project or does not exist', async () => {
    const [own, foreign] = [await stage(), await stage()];
    const tokenOf = (akid: string) =>
      service.pakhus.deps.tokens.sign({
        sub: own.userId,
        role: 'user',
        pid: own.id,
        scopes,
        akid,
        ttlMs: 60_000,
      }).token;
    expect(await readUser(tokenOf(own.second.key.id), own.userId)).toBe(200);
    expect(await readUser(tokenOf(foreign.second.key.id), own.userId)).toBe(401);
    expect(await readUser(tokenOf(randomUUID()), own.userId)).toBe(401);
  });
});

test('users.create: of 50 concurrent calls with one external id, one succeeds and 49 are 409', async () => {
  const externalId = unique('raced');
  const replies = await Promise.all(
    Array.from({ length: 50 }, () => service.api.post('/project/users', tenant.key, { externalId })),
  );
  expect(replies.map(({ status }) => status).sort()).toEqual([201, ...Array(49).fill(409)]);
});

test('users.create: the same external id in two projects is two separate users', async () => {
  const other = await createTenant(service.api, admin);
  const externalId = unique('shared');
  const [mine, theirs] = [
    await createUser(service.api, tenant.key, externalId),
    await createUser(service.api, other.key, externalId),
  ];
  expect((await service.api.get(`/project/users/ext/${externalId}`, tenant.key)).body.user.id).toBe(mine.id);
  expect((await service.api.get(`/project/users/ext/${externalId}`, other.key)).body.user.id).toBe(theirs.id);
});
