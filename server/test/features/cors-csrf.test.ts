import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scopes } from '../../src/contract/scope.ts';
import { apiPrefix } from '../../src/http/route-table.ts';
import { type Api, apiOf, type Reply } from '../support/api.ts';
import { adminEmail, adminPassword, startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { freePort } from '../support/ports.ts';
import { createLiveSpace } from '../support/spaces.ts';
import {
  adminSession,
  createIntegration,
  createTenant,
  createUser,
  mintToken,
  sessionOf,
  type Tenant,
  unique,
} from '../support/tenants.ts';

const listed = 'https://console.example.com';
const ofIntegration = 'https://app.example.com:8443';
const foreign = 'https://evil.example';

let service: TestPakhus;
let admin: string;
let tenant: Tenant;
let session: string;
let user: { id: string; externalId: string };

beforeAll(async () => {
  service = await startTestPakhus({ API_CORS_ALLOW_ORIGINS: `${listed}, https://second.example` });
  admin = await adminSession(service.api);
  tenant = await createTenant(service.api, admin);
  session = await sessionOf(service.api, tenant.email, tenant.password);
  user = await createUser(service.api, tenant.key);
});
afterAll(() => service.stop());

const corsOf = ({ headers }: Reply) => ({
  origin: headers['access-control-allow-origin'] ?? null,
  credentials: headers['access-control-allow-credentials'] ?? null,
});
const none = { origin: null, credentials: null };
const open = (origin: string) => ({ origin, credentials: 'true' });

const readUser = (
  origin: string | null,
  credential: { as?: string; cookie?: string },
  on: Api = service.api,
) =>
  on.call('GET', `/project/users/${user.id}`, { ...credential, headers: origin === null ? {} : { origin } });

/** An instance that believes to be reached at `publicUrl`, and the way to it that tests have. */
async function reachedAt(publicUrl: string, more: Record<string, string> = {}) {
  const port = await freePort();
  const instance = await service.another({ ...more, PORT: String(port), PUBLIC_URL: publicUrl });
  return { instance, api: apiOf(`http://127.0.0.1:${port}${apiPrefix}`) };
}

describe('CORS of integration keys', () => {
  test('an allowed origin is reflected with credentials; another is 403 without CORS headers', async () => {
    const { key } = await createIntegration(service.api, tenant.key, {
      scopes,
      corsOrigins: [ofIntegration],
    });
    const allowed = await readUser(ofIntegration, { as: key });
    expect([allowed.status, corsOf(allowed)]).toEqual([200, open(ofIntegration)]);
    expect(allowed.headers['access-control-expose-headers']).toContain('X-RateLimit-Remaining');
    const refused = await readUser(foreign, { as: key });
    expect([refused.status, refused.body.error.code, corsOf(refused)]).toEqual([403, 'FORBIDDEN', none]);
  });

  test('a request without Origin is allowed, even if no origin is listed', async () => {
    const { key } = await createIntegration(service.api, tenant.key, { scopes });
    expect((await readUser(null, { as: key })).status).toBe(200);
    expect((await readUser(ofIntegration, { as: key })).status).toBe(403);
  });

  test('origins match exactly: scheme, host and port', async () => {
    const { key } = await createIntegration(service.api, tenant.key, {
      scopes,
      corsOrigins: [ofIntegration],
    });
    for (const near of [
      'http://app.example.com:8443',
      'https://app.example.com',
      'https://app.example.com:8444',
      'https://x.app.example.com:8443',
      'https://app.example.com:8443.evil.example',
      'https://APP.example.com:8443',
      'https://app.example.com:8443/',
      'null',
    ]) {
      expect((await readUser(near, { as: key })).status, near).toBe(403);
    }
  });

  test("the operator's list does not add origins to an integration", async () => {
    const { key } = await createIntegration(service.api, tenant.key, {
      scopes,
      corsOrigins: [ofIntegration],
    });
    expect((await readUser(listed, { as: key })).status).toBe(403);
  });

  test('an origin is refused before anything is created or counted', async () => {
    const { key } = await createIntegration(service.api, tenant.key, {
      scopes,
      corsOrigins: [ofIntegration],
      rateLimitMax: 2,
      rateLimitWindow: 60_000,
    });
    const externalId = unique('refused');
    for (let time = 0; time < 5; time += 1) {
      const reply = await service.api.call('POST', '/project/users', {
        as: key,
        body: { externalId },
        headers: { origin: foreign },
      });
      expect(reply.status).toBe(403);
    }
    expect((await service.api.get(`/project/users/ext/${externalId}`, tenant.key)).status).toBe(404);
    expect((await readUser(ofIntegration, { as: key })).headers['x-ratelimit-remaining']).toBe('1');
  });

  test('devMode reflects every origin with credentials', async () => {
    const { key } = await createIntegration(service.api, tenant.key, { scopes, devMode: true });
    for (const origin of [foreign, listed, 'http://localhost:5173', 'null']) {
      const reply = await readUser(origin, { as: key });
      expect([reply.status, corsOf(reply)]).toEqual([200, open(origin)]);
    }
  });

  test('a change of corsOrigins applies from the next request', async () => {
    const { id, key } = await createIntegration(service.api, tenant.key, { scopes });
    expect((await readUser(foreign, { as: key })).status).toBe(403);
    await service.api.put(`/project/integrations/${id}`, tenant.key, { cors_origins: [foreign] });
    expect(corsOf(await readUser(foreign, { as: key }))).toEqual(open(foreign));
  });

  test('errors for an allowed origin carry CORS headers, so that the page can read them', async () => {
    const { key } = await createIntegration(service.api, tenant.key, { corsOrigins: [ofIntegration] });
    const reply = await readUser(ofIntegration, { as: key });
    expect([reply.status, corsOf(reply)]).toEqual([403, open(ofIntegration)]);
  });

  test('corsOrigins takes origins only', async () => {
    for (const wrong of [
      '*',
      'app.example.com',
      'https://app.example.com/',
      'https://a.example/x',
      'null',
      '',
      'https://*.example.com',
      'https://a.example,b.example',
      'https://App.example.com',
      'https://app.example.com:443',
    ]) {
      const reply = await service.api.post('/project/integrations', tenant.key, { corsOrigins: [wrong] });
      expect(reply.status, wrong).toBe(422);
    }
  });

  test('an app in a web view has an origin of its own scheme', async () => {
    const origin = 'capacitor://localhost';
    const { key } = await createIntegration(service.api, tenant.key, { scopes, corsOrigins: [origin] });
    const reply = await readUser(origin, { as: key });
    expect([reply.status, corsOf(reply)]).toEqual([200, open(origin)]);
  });
});

describe('CORS of everyone else', () => {
  test("sessions, project keys and the project's tokens follow API_CORS_ALLOW_ORIGINS and are never refused", async () => {
    const { token } = await mintToken(service.api, tenant.key, user.id);
    const space = await createLiveSpace(service, tenant.id, user.id, scopes);
    for (const as of [session, tenant.key, token, space.token]) {
      expect(corsOf(await readUser(listed, { as }))).toEqual(open(listed));
      const other = await readUser(foreign, { as });
      expect([other.status, corsOf(other)]).toEqual([200, none]);
    }
  });

  test("a delegated token also brings its integration's corsOrigins, and is not refused elsewhere", async () => {
    const { id, key } = await createIntegration(service.api, tenant.key, {
      scopes,
      corsOrigins: [ofIntegration],
    });
    const { token } = await mintToken(service.api, key, user.id);
    const space = await createLiveSpace(service, tenant.id, user.id, scopes, id);
    for (const as of [token, space.token]) {
      expect(corsOf(await readUser(ofIntegration, { as }))).toEqual(open(ofIntegration));
      expect(corsOf(await readUser(listed, { as }))).toEqual(open(listed));
      const other = await readUser(foreign, { as });
      expect([other.status, corsOf(other)]).toEqual([200, none]);
    }
  });

  test('an origin is not reflected for a cookie, whatever the integration allows, unless the operator lists it', async () => {
    const strict = await createIntegration(service.api, tenant.key, { scopes, corsOrigins: [ofIntegration] });
    const loose = await createIntegration(service.api, tenant.key, { scopes, devMode: true });
    for (const { key } of [strict, loose]) {
      const { token: cookie } = await mintToken(service.api, key, user.id);
      expect(corsOf(await readUser(ofIntegration, { cookie }))).toEqual(none);
      expect(corsOf(await readUser(listed, { cookie }))).toEqual(open(listed));
    }
    expect(corsOf(await readUser(foreign, { cookie: session }))).toEqual(none);
    expect(corsOf(await readUser(listed, { cookie: session }))).toEqual(open(listed));
  });

  test("a request without a credential gets CORS headers from the operator's list only, and 401", async () => {
    const known = await readUser(listed, {});
    const other = await readUser(foreign, {});
    expect([known.status, corsOf(known), other.status, corsOf(other)]).toEqual([
      401,
      open(listed),
      401,
      none,
    ]);
  });

  test('without a list no origin is allowed, and with * every one is, without credentials', async () => {
    const [closed, starred] = await Promise.all([
      service.another({ API_CORS_ALLOW_ORIGINS: '' }),
      service.another({ API_CORS_ALLOW_ORIGINS: '*' }),
    ]);
    try {
      const star = { origin: '*', credentials: null };
      for (const credential of [{ as: tenant.key }, { as: session }, { cookie: session }, {}]) {
        expect(corsOf(await readUser(listed, credential, closed.api))).toEqual(none);
        expect(corsOf(await readUser(foreign, credential, starred.api))).toEqual(star);
      }
      const preflight = await starred.api.call('OPTIONS', '/project/users', { headers: { origin: foreign } });
      expect([preflight.status, corsOf(preflight)]).toEqual([204, star]);
      // An integration's own list still decides for its key.
      const { key } = await createIntegration(starred.api, tenant.key, { scopes });
      expect((await readUser(foreign, { as: key }, starred.api)).status).toBe(403);
    } finally {
      await Promise.all([closed.stop(), starred.stop()]);
    }
  });

  test('anybody may read the OpenAPI document, and a listed page with credentials', async () => {
    const read = async (origin: string) =>
      corsOf(await service.api.call('GET', '/openapi.json', { headers: { origin } }));
    expect([await read(listed), await read(foreign)]).toEqual([
      open(listed),
      { origin: '*', credentials: null },
    ]);
  });

  test('Vary: Origin is on every response', async () => {
    const replies = [
      await service.api.get('/health'),
      await service.api.get('/nothing'),
      await service.api.get('/openapi.json'),
      await readUser(foreign, { as: tenant.key }),
      await readUser(null, {}),
      await service.api.call('OPTIONS', '/project/users'),
    ];
    for (const { headers } of replies) expect(String(headers.vary)).toMatch(/\borigin\b/i);
  });
});

describe('CORS of refusals', () => {
  test('a page can read that its token or key is no longer valid; other pages cannot', async () => {
    const own = await createTenant(service.api, admin);
    const { id } = await createUser(service.api, own.key);
    const { key } = await createIntegration(service.api, own.key, { scopes, corsOrigins: [ofIntegration] });
    const [revoked, expired] = [await mintToken(service.api, key, id), await mintToken(service.api, key, id)];
    await service.api.post(`/project/users/${id}/tokens/revoke`, own.key, { jti: revoked.jti });
    const read = (as: string, origin: string) =>
      service.api.call('GET', `/project/users/${id}`, { as, headers: { origin } });
    const judge = async (as: string, status: number) => {
      const [mine, theirs] = [await read(as, ofIntegration), await read(as, foreign)];
      expect([mine.status, corsOf(mine), theirs.status, corsOf(theirs)]).toEqual([
        status,
        open(ofIntegration),
        status,
        none,
      ]);
    };
    await judge(revoked.token, 401);
    const lastingMs = 3_600_000;
    service.advance(lastingMs);
    await judge(expired.token, 401).finally(() => service.advance(-lastingMs));
    await service.api.patch(`/admin/projects/${own.id}/status`, admin, { active: false });
    await judge(key, 403);
    expect(corsOf(await read('pak_nonsense', ofIntegration))).toEqual(none);
  });

  test("the operator's origins can read every reply, even for unknown routes", async () => {
    for (const [at, status] of [
      ['/nope', 404],
      ['/%zz', 400],
      ['/auth/me', 401],
    ] as const) {
      const reply = await service.api.call('GET', at, { headers: { origin: listed } });
      expect([reply.status, corsOf(reply)], at).toEqual([status, open(listed)]);
      expect(corsOf(await service.api.call('GET', at, { headers: { origin: foreign } }))).toEqual(none);
    }
  });
});

describe('preflights', () => {
  test.each(['/project/users', '/admin/projects', '/auth/login', '/nothing', `/project/users/${foreign}`])(
    'OPTIONS %s is answered for every origin, with credentials',
    async (path) => {
      const reply = await service.api.call('OPTIONS', path, {
        headers: {
          origin: foreign,
          'access-control-request-method': 'PUT',
          'access-control-request-headers': 'authorization,x-anything',
        },
      });
      expect([reply.status, corsOf(reply)]).toEqual([204, open(foreign)]);
      expect(reply.headers['access-control-allow-headers']).toBe('authorization,x-anything');
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        expect(reply.headers['access-control-allow-methods']).toContain(method);
      }
    },
  );

  test('preflights count against no limit', async () => {
    const address = unique('address');
    for (let time = 0; time < 15; time += 1) {
      const headers = { origin: foreign, 'x-forwarded-for': address };
      expect((await service.api.call('OPTIONS', '/auth/login', { headers })).status).toBe(204);
    }
  });
});

describe('CSRF', () => {
  const createPlan = (headers: Record<string, string>, credential: { as?: string; cookie?: string }) =>
    service.api
      .call('POST', '/project/plans', { ...credential, body: { name: 'p', maxFileSize: 1 }, headers })
      .then(({ status }) => status);
  const login = (headers: Record<string, string>, api = service.api) =>
    api.call('POST', '/auth/login', {
      body: { email: adminEmail, password: adminPassword },
      headers: { 'x-forwarded-for': unique('address'), ...headers },
    });
  const ownOrigin = () => new URL(service.baseUrl).origin;

  test('an unsafe request with the cookie is refused from another site and accepted from our own', async () => {
    const cookie = { cookie: session };
    expect(await createPlan({ 'sec-fetch-site': 'cross-site' }, cookie)).toBe(403);
    expect(await createPlan({ origin: foreign }, cookie)).toBe(403);
    expect(await createPlan({ origin: 'null' }, cookie)).toBe(403);
    expect(await createPlan({ origin: ownOrigin(), 'sec-fetch-site': 'cross-site' }, cookie)).toBe(403);
    expect(await createPlan({ origin: foreign, 'sec-fetch-site': 'same-origin' }, cookie)).toBe(403);
    expect(await createPlan({ origin: ownOrigin() }, cookie)).toBe(201);
    expect(await createPlan({ origin: ownOrigin(), 'sec-fetch-site': 'same-origin' }, cookie)).toBe(201);
    expect(await createPlan({ origin: listed }, cookie)).toBe(201);
    expect(await createPlan({}, cookie)).toBe(201);
  });

  test('a refused forgery changes nothing', async () => {
    const mine = await createTenant(service.api, admin);
    const cookie = await sessionOf(service.api, mine.email, mine.password);
    expect(await createPlan({ origin: foreign }, { cookie })).toBe(403);
    expect((await service.api.get('/project/plans', mine.key)).body.plans).toEqual([]);
    const headers = { origin: foreign };
    expect((await service.api.call('POST', '/auth/logout', { cookie, headers })).status).toBe(403);
    expect((await service.api.call('GET', '/auth/me', { cookie })).status).toBe(200);
  });

  test('a credential in the header cannot be forged, so its origin does not matter', async () => {
    for (const as of [session, tenant.key]) {
      expect(await createPlan({ origin: foreign, 'sec-fetch-site': 'cross-site' }, { as })).toBe(201);
    }
  });

  test('reads with a cookie are allowed from anywhere; the browser hides the reply from the page', async () => {
    const reply = await service.api.call('GET', '/auth/me', {
      cookie: session,
      headers: { origin: foreign, 'sec-fetch-site': 'cross-site' },
    });
    expect([reply.status, corsOf(reply)]).toEqual([200, none]);
  });

  test('below /auth every unsafe request is checked, with a bearer token or with none', async () => {
    for (const headers of [{ origin: foreign }, { 'sec-fetch-site': 'cross-site' }, { origin: 'null' }]) {
      const reply = await login(headers);
      expect([reply.status, reply.headers['set-cookie'] ?? null]).toEqual([403, null]);
      expect((await service.api.call('POST', '/auth/logout', { as: session, headers })).status).toBe(403);
    }
    for (const headers of [
      { origin: listed },
      { origin: ownOrigin() },
      { 'sec-fetch-site': 'same-site' },
      {},
    ]) {
      expect((await login(headers)).status, JSON.stringify(headers)).toBe(200);
    }
  });

  test('a refused login counts against no limit', async () => {
    const address = unique('address');
    for (let time = 0; time < 15; time += 1) {
      expect((await login({ origin: foreign, 'x-forwarded-for': address })).status).toBe(403);
    }
    expect((await login({ 'x-forwarded-for': address })).status).toBe(200);
  });

  test('* in API_CORS_ALLOW_ORIGINS does not open sessions to every page', async () => {
    const starred = await service.another({ API_CORS_ALLOW_ORIGINS: '*' });
    try {
      expect((await login({ origin: foreign }, starred.api)).status).toBe(403);
    } finally {
      await starred.stop();
    }
  });

  test('our own origin is the Host that was addressed, http or https', async () => {
    const host = 'files.example.com';
    expect((await login({ host, origin: `https://${host}` })).status).toBe(200);
    expect((await login({ host, origin: `http://${host}` })).status).toBe(200);
    expect((await login({ host, origin: 'https://files.example.com.evil.example' })).status).toBe(403);
    expect((await login({ host, origin: `https://${host}:444` })).status).toBe(403);
  });

  test('with PUBLIC_URL our own origin is that one, regardless of Host', async () => {
    const { instance, api } = await reachedAt('https://files.example.com');
    try {
      expect((await login({ origin: 'https://files.example.com' }, api)).status).toBe(200);
      expect((await login({ origin: 'http://files.example.com' }, api)).status).toBe(403);
      expect((await login({ host: 'evil.example', origin: 'https://evil.example' }, api)).status).toBe(403);
    } finally {
      await instance.stop();
    }
  });
});

describe('the session cookie', () => {
  const cookieOf = async (api: Api, headers: Record<string, string> = {}) => {
    const reply = await api.call('POST', '/auth/login', {
      body: { email: adminEmail, password: adminPassword },
      headers: { 'x-forwarded-for': unique('address'), ...headers },
    });
    expect(reply.status, reply.text).toBe(200);
    const [session = '', device = ''] = reply.headers['set-cookie'] as string[];
    const [pair = '', ...attributes] = session.split('; ');
    const [devicePair = '', ...deviceAttributes] = device.split('; ');
    expect(devicePair).toMatch(/^pakhus_device=[\w.-]+$/);
    return {
      value: pair.slice('token='.length),
      token: reply.body.token as string,
      attributes,
      deviceAttributes,
    };
  };

  test('is the token: HttpOnly, SameSite=Lax, Path=/, and expires with the session', async () => {
    const { value, token, attributes } = await cookieOf(service.api);
    expect(value).toBe(token);
    expect(attributes).toEqual(expect.arrayContaining(['HttpOnly', 'SameSite=Lax', 'Path=/']));
    expect(attributes).not.toContain('Secure');
    expect(attributes.some((attribute) => attribute.startsWith('Domain'))).toBe(false);
    expect(attributes).toContain(`Max-Age=${7 * 86_400}`);
  });

  test('comes with a device cookie that is as safe and lasts a year', async () => {
    const { deviceAttributes } = await cookieOf(service.api);
    expect(deviceAttributes.sort()).toEqual([
      'HttpOnly',
      `Max-Age=${365 * 86_400}`,
      'Path=/',
      'SameSite=Lax',
    ]);
  });

  test('is Secure exactly if the public origin is https', async () => {
    const [https, http] = [
      await reachedAt('https://files.example.com'),
      await reachedAt('http://files.example.com'),
    ];
    try {
      const overHttps = await cookieOf(https.api);
      const overHttp = await cookieOf(http.api);
      for (const cookie of ['attributes', 'deviceAttributes'] as const) {
        expect(overHttps[cookie], cookie).toContain('Secure');
        expect(overHttp[cookie], cookie).not.toContain('Secure');
      }
    } finally {
      await Promise.all([https.instance.stop(), http.instance.stop()]);
    }
  });

  test('is cleared by logout', async () => {
    const { token } = await cookieOf(service.api);
    const reply = await service.api.call('POST', '/auth/logout', { cookie: token });
    expect(String(reply.headers['set-cookie'])).toMatch(/^token=; .*Max-Age=0/);
  });
});
