import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scopes } from '../../src/contract/scope.ts';
import type { Api, Reply } from '../support/api.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
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

let service: TestPakhus;
let admin: string;
let tenant: Tenant;

beforeAll(async () => {
  service = await startTestPakhus({ RATE_LIMIT_MAX: '70', RATE_LIMIT_WINDOW_MS: '5000' });
  admin = await adminSession(service.api);
  tenant = await createTenant(service.api, admin);
});
afterAll(() => service.stop());

const limitOf = ({ headers }: Reply) => headers['x-ratelimit-limit'] ?? null;
const remainingOf = ({ headers }: Reply) => headers['x-ratelimit-remaining'] ?? null;
const users = (as: string, api: Api = service.api) => api.get('/project/users', as);
const readUser = (id: string, as: string) => service.api.get(`/project/users/${id}`, as);
const limited = (max: number, more: object = {}) => ({
  scopes,
  rateLimitMax: max,
  rateLimitWindow: 60_000,
  ...more,
});

function secondsUntilReset({ headers }: Reply, on: TestPakhus = service): number {
  return Number(headers['x-ratelimit-reset']) - on.pakhus.deps.clock() / 1000;
}

describe('resolution, most specific first', () => {
  test("devMode, then the integration's limit, the project's tier, the admin's setting, the environment", async () => {
    const own = await startTestPakhus({ RATE_LIMIT_MAX: '70', RATE_LIMIT_WINDOW_MS: '5000' });
    try {
      const { api } = own;
      const session = await adminSession(api);
      const { id, key } = await createTenant(api, session);
      const { key: as } = await createIntegration(api, key, { scopes });
      const seen = async () => {
        // Each look begins with a new window, so that its length shows.
        own.advance(86_400_000 / 2);
        const reply = await users(as, api);
        const seconds = secondsUntilReset(reply, own);
        return { limit: Number(limitOf(reply)), windowSeconds: Math.round(seconds / 5) * 5 };
      };
      expect(await seen()).toEqual({ limit: 70, windowSeconds: 5 });
      await api.put('/admin/settings/rate-limit', session, { max: 60, window_ms: 10_000 });
      expect(await seen()).toEqual({ limit: 60, windowSeconds: 10 });
      await api.patch(`/admin/projects/${id}`, session, { rateLimitMax: 50, rateLimitWindow: 20_000 });
      expect(await seen()).toEqual({ limit: 50, windowSeconds: 20 });
      const [integration] = (await api.get('/project/integrations', key)).body.integrations;
      const change = (fields: object) => api.put(`/project/integrations/${integration.id}`, key, fields);
      await change({ rateLimitMax: 40, rateLimitWindow: 30_000 });
      expect(await seen()).toEqual({ limit: 40, windowSeconds: 30 });
      await change({ rateLimitMax: null });
      expect(await seen(), 'half a policy').toEqual({ limit: 50, windowSeconds: 30 });
      await change({ devMode: true });
      expect(limitOf(await users(as, api))).toBeNull();
      // And back down, as each is taken away again.
      await change({ devMode: false, rateLimitMax: null, rateLimitWindow: null });
      expect(await seen()).toEqual({ limit: 50, windowSeconds: 20 });
      await api.patch(`/admin/projects/${id}`, session, { rateLimitMax: null, rateLimitWindow: null });
      expect(await seen()).toEqual({ limit: 60, windowSeconds: 10 });
    } finally {
      await own.stop();
    }
  });

  test("the admin's setting applies on every instance from the next request", async () => {
    const own = await startTestPakhus();
    const other = await own.another();
    try {
      const session = await adminSession(own.api);
      const { key } = await createTenant(own.api, session);
      const { key: as } = await createIntegration(own.api, key, { scopes });
      expect([limitOf(await users(as, own.api)), limitOf(await users(as, other.api))]).toEqual([
        '1000',
        '1000',
      ]);
      for (const max of [9, 12]) {
        const put = await own.api.put('/admin/settings/rate-limit', session, { max, window_ms: 60_000 });
        expect(put.body).toEqual({ max, window_ms: 60_000 });
        expect((await other.api.get('/admin/settings/rate-limit', session)).body).toEqual(put.body);
        expect(limitOf(await users(as, own.api))).toBe(String(max));
        expect(limitOf(await users(as, other.api))).toBe(String(max));
      }
    } finally {
      await other.stop();
      await own.stop();
    }
  });

  test('a setting out of range is 422 and changes nothing', async () => {
    const before = (await service.api.get('/admin/settings/rate-limit', admin)).body;
    expect(before).toEqual({ max: 70, window_ms: 5000 });
    for (const body of [
      { max: 0, window_ms: 1000 },
      { max: 1, window_ms: 999 },
      { max: 1.5, window_ms: 1000 },
      { max: '5', window_ms: 1000 },
      { max: 5 },
      {},
    ]) {
      const reply = await service.api.put('/admin/settings/rate-limit', admin, body);
      expect(reply.status, JSON.stringify(body)).toBe(422);
    }
    expect((await service.api.get('/admin/settings/rate-limit', admin)).body).toEqual(before);
    for (const fields of [{ rateLimitMax: 0 }, { rateLimitWindow: 999 }]) {
      expect((await service.api.post('/project/integrations', tenant.key, fields)).status).toBe(422);
    }
  });
});

describe('over the limit', () => {
  test('is 429 with Retry-After and the three headers, until the window ends', async () => {
    const { key } = await createIntegration(service.api, tenant.key, limited(2));
    expect([remainingOf(await users(key)), remainingOf(await users(key))]).toEqual(['1', '0']);
    const over = await users(key);
    expect([over.status, over.body.error.code]).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
    expect([limitOf(over), remainingOf(over)]).toEqual(['2', '0']);
    const retryAfter = Number(over.headers['retry-after']);
    expect(retryAfter).toBeGreaterThan(0);
    expect(retryAfter).toBeLessThanOrEqual(60);
    expect(secondsUntilReset(over)).toBeLessThanOrEqual(61);
    service.advance(retryAfter * 1000);
    const again = await users(key);
    expect([again.status, remainingOf(again)]).toEqual([200, '1']);
  });

  test('a changed window applies at once, however long the old one had left', async () => {
    const { id, key } = await createIntegration(
      service.api,
      tenant.key,
      limited(1, { rateLimitWindow: 3_600_000 }),
    );
    expect([(await users(key)).status, (await users(key)).status]).toEqual([200, 429]);
    await service.api.put(`/project/integrations/${id}`, tenant.key, { rateLimitWindow: 1_000 });
    expect([(await users(key)).status, (await users(key)).status]).toEqual([200, 429]);
    service.advance(1_000);
    expect((await users(key)).status).toBe(200);
  });

  test('of 50 concurrent calls exactly max are allowed', async () => {
    const { key } = await createIntegration(service.api, tenant.key, limited(10));
    const replies = await Promise.all(Array.from({ length: 50 }, () => users(key)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(10);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(40);
  });

  test('a limited call changes nothing', async () => {
    const { key } = await createIntegration(service.api, tenant.key, limited(1));
    await users(key);
    const externalId = unique('limited');
    expect((await service.api.post('/project/users', key, { externalId })).status).toBe(429);
    expect((await service.api.get(`/project/users/ext/${externalId}`, tenant.key)).status).toBe(404);
  });

  test('one integration does not use up the limit of another', async () => {
    const [one, other] = [
      await createIntegration(service.api, tenant.key, limited(1)),
      await createIntegration(service.api, tenant.key, limited(1)),
    ];
    await users(one.key);
    expect([(await users(one.key)).status, (await users(other.key)).status]).toEqual([429, 200]);
  });

  test('a new key of the same integration is the same bucket', async () => {
    const { id, key } = await createIntegration(service.api, tenant.key, limited(1));
    await users(key);
    const rotated = await service.api.post(`/project/integrations/${id}/rotate-key`, tenant.key);
    expect((await users(rotated.body.api_key)).status).toBe(429);
  });
});

describe('who is counted', () => {
  test('each subject of an integration has a bucket shared by its tokens; the key has its own', async () => {
    const { id, key } = await createIntegration(service.api, tenant.key, limited(4));
    const [anna, bent] = [
      await createUser(service.api, tenant.key),
      await createUser(service.api, tenant.key),
    ];
    const tokenOf = async (userId: string) => (await mintToken(service.api, key, userId)).token;
    const [first, second, other] = [await tokenOf(anna.id), await tokenOf(anna.id), await tokenOf(bent.id)];
    const space = await createLiveSpace(service, tenant.id, anna.id, scopes, id);
    expect(remainingOf(await readUser(anna.id, first))).toBe('3');
    expect(remainingOf(await readUser(anna.id, second))).toBe('2');
    expect(remainingOf(await readUser(bent.id, other))).toBe('3');
    expect(remainingOf(await readUser(anna.id, space.token))).toBe('3');
    // Three mints and this call.
    expect(remainingOf(await users(key))).toBe('0');
    expect((await users(key)).status).toBe(429);
    expect((await readUser(anna.id, first)).status).toBe(200);
  });

  test('project keys, sessions and tokens that the project minted are not limited', async () => {
    const { id, key, email, password } = await createTenant(service.api, admin);
    await service.api.patch(`/admin/projects/${id}`, admin, { rateLimitMax: 1, rateLimitWindow: 60_000 });
    const mine = await createUser(service.api, key);
    const callers = [
      key,
      await sessionOf(service.api, email, password),
      (await mintToken(service.api, key, mine.id)).token,
      (await createLiveSpace(service, id, mine.id, scopes)).token,
    ];
    for (const as of callers) {
      for (let call = 0; call < 3; call += 1) {
        const reply = await readUser(mine.id, as);
        expect([reply.status, limitOf(reply)]).toEqual([200, null]);
      }
    }
  });

  test('a devMode integration is never limited, nor are its tokens', async () => {
    const { key } = await createIntegration(service.api, tenant.key, limited(1, { devMode: true }));
    const mine = await createUser(service.api, tenant.key);
    const { token } = await mintToken(service.api, key, mine.id);
    for (let call = 0; call < 5; call += 1) {
      const replies = [await users(key), await readUser(mine.id, token)];
      expect(replies.map((reply) => [reply.status, limitOf(reply)])).toEqual([
        [200, null],
        [200, null],
      ]);
    }
  });

  test('an invalid credential is 401 and counts against no limit', async () => {
    const { key } = await createIntegration(service.api, tenant.key, limited(2));
    for (let call = 0; call < 5; call += 1) expect((await users(`${key.slice(0, -1)}x`)).status).toBe(401);
    expect(remainingOf(await users(key))).toBe('1');
  });
});

describe('logging in', () => {
  const attempt = (headers: Record<string, string>, fields: object = {}, on: TestPakhus = service) =>
    on.api.call('POST', '/auth/login', {
      body: { email: `${unique('nobody')}@example.com`, password: 'wrong password', ...fields },
      headers,
    });
  const attempts = async (count: number, headers: () => Record<string, string>, on: TestPakhus = service) => {
    const statuses: number[] = [];
    for (let time = 0; time < count; time += 1) statuses.push((await attempt(headers(), {}, on)).status);
    return statuses;
  };
  const ten = (status: number) => Array(10).fill(status);

  test('an address has 10 attempts in 15 minutes, successful ones included; then 429 until the window ends', async () => {
    const address = unique('address');
    const headers = () => ({ 'x-forwarded-for': address });
    const right = { email: tenant.email, password: tenant.password };
    expect((await attempt(headers(), right)).status).toBe(200);
    expect(await attempts(9, headers)).toEqual(Array(9).fill(401));
    const over = await attempt(headers(), right);
    expect([over.status, over.body.error.code, limitOf(over)]).toEqual([429, 'RATE_LIMIT_EXCEEDED', '10']);
    const retryAfter = Number(over.headers['retry-after']);
    expect(retryAfter).toBeLessThanOrEqual(900);
    expect(retryAfter).toBeGreaterThan(800);
    service.advance((retryAfter - 5) * 1000);
    expect((await attempt(headers(), right)).status).toBe(429);
    service.advance(6_000);
    expect((await attempt(headers(), right)).status).toBe(200);
  });

  test('the client address is the first X-Forwarded-For entry, regardless of the others', async () => {
    const address = unique('address');
    const headers = () => ({
      'x-forwarded-for': `${address}, ${unique('proxy')}`,
      'x-real-ip': unique('real'),
    });
    expect(await attempts(11, headers)).toEqual([...ten(401), 429]);
    expect((await attempt({ 'x-forwarded-for': unique('address') })).status).toBe(401);
  });

  test('then X-Real-IP, then the socket', async () => {
    const own = await startTestPakhus();
    try {
      const address = unique('address');
      expect(await attempts(11, () => ({ 'x-real-ip': address }), own)).toEqual([...ten(401), 429]);
      expect(await attempts(11, () => ({}), own)).toEqual([...ten(401), 429]);
      expect((await attempt({ 'x-real-ip': unique('address') }, {}, own)).status).toBe(401);
    } finally {
      await own.stop();
    }
  });

  test('with TRUST_PROXY_HOPS=n it is the n-th entry from the right, which a client cannot forge', async () => {
    const own = await startTestPakhus({ TRUST_PROXY_HOPS: '2' });
    try {
      const forged = () => ({
        'x-forwarded-for': `${unique('forged')}, 192.0.2.7, 10.0.0.1`,
        'x-real-ip': unique('r'),
      });
      expect(await attempts(11, forged, own)).toEqual([...ten(401), 429]);
      expect((await attempt({ 'x-forwarded-for': '192.0.2.8, 10.0.0.1' }, {}, own)).status).toBe(401);
      // Fewer entries than proxies: someone went around them, and X-Real-IP is as forgeable.
      const around = () => ({ 'x-forwarded-for': unique('forged'), 'x-real-ip': unique('real') });
      expect(await attempts(11, around, own)).toEqual([...ten(401), 429]);
    } finally {
      await own.stop();
    }
  });

  test('20 failures for an account from 20 addresses give 429, even for the right password', async () => {
    const { email, password } = await createTenant(service.api, admin);
    const from = () => ({ 'x-forwarded-for': unique('address') });
    const failures = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        attempt(from(), { email: at % 2 ? email : ` ${email.toUpperCase()} `, password: 'not the password' }),
      ),
    );
    expect(failures.map(({ status }) => status)).toEqual(Array(20).fill(401));
    const locked = await attempt(from(), { email, password });
    expect([locked.status, locked.body.error.code]).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
    expect(Number(locked.headers['retry-after'])).toBeGreaterThan(0);
    expect([limitOf(locked), remainingOf(locked)]).toEqual(['20', '0']);
    service.advance(15 * 60_000);
    expect((await attempt(from(), { email, password })).status).toBe(200);
  });

  test('a success resets the failures; unknown accounts are counted the same way', async () => {
    const { email, password } = await createTenant(service.api, admin);
    const from = () => ({ 'x-forwarded-for': unique('address') });
    for (let round = 0; round < 2; round += 1) {
      for (let time = 0; time < 12; time += 1) {
        expect((await attempt(from(), { email, password: 'not the password' })).status).toBe(401);
      }
      expect((await attempt(from(), { email, password })).status).toBe(200);
    }
    const nobody = `${unique('nobody')}@example.com`;
    const statuses = await Promise.all(
      Array.from({ length: 25 }, () => attempt(from(), { email: nobody }).then(({ status }) => status)),
    );
    expect(statuses.sort()).toEqual([...Array(20).fill(401), ...Array(5).fill(429)]);
  });
});

test('rate limit: a limited caller gets the headers of the draft beside the usual ones', async () => {
  const { key } = await createIntegration(service.api, tenant.key, {
    rateLimitMax: 2,
    rateLimitWindow: 60_000,
  });
  const { headers } = await service.api.get('/project/users', key);
  expect(headers['ratelimit-policy']).toBe('"requests";q=2;w=60');
  expect(headers.ratelimit).toMatch(/^"requests";r=1;t=([1-9]|[1-5]\d|60)$/);
  await service.api.get('/project/users', key);
  const refused = await service.api.get('/project/users', key);
  expect(refused.status).toBe(429);
  expect(refused.headers.ratelimit).toMatch(/^"requests";r=0;t=\d+$/);
  expect(refused.headers['retry-after']).toMatch(/^\d+$/);
  const unlimited = await service.api.get('/project/users', tenant.key);
  expect(unlimited.headers.ratelimit).toBeUndefined();
});
