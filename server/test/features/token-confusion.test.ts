// Every kind of token on every kind of route: each is refused or accepted as the contract says, and none passes
// for another kind.
import { createHmac, generateKeyPairSync, randomUUID, sign as signBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isPublic } from '../../src/contract/route.ts';
import { scopes } from '../../src/contract/scope.ts';
import { endpoints } from '../../src/http/route-table.ts';
import { answer, challengeOf, codeOf, type Guarded, guard, post } from '../support/accounts.ts';
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
} from '../support/tenants.ts';

const jwtSecret = 'the secret of this file, long enough to sign';

let service: TestPakhus;
let tenant: Tenant;
let guarded: Guarded & Tenant;
let user: { id: string; externalId: string };
let tokens: Readonly<Record<Holder, string>>;

type Holder =
  | 'challenge'
  | 'admin session'
  | 'project session'
  | 'project key'
  | 'integration key'
  | 'user'
  | 'space';

beforeAll(async () => {
  service = await startTestPakhus({ JWT_SECRET: jwtSecret });
  const { api } = service;
  const admin = await adminSession(api);
  tenant = await createTenant(api, admin);
  user = await createUser(api, tenant.key);
  const other = await createTenant(api, admin);
  guarded = { ...other, ...(await guard(service, other)) };
  tokens = {
    challenge: await challengeOf(api, guarded),
    'admin session': admin,
    'project session': await sessionOf(api, tenant.email, tenant.password),
    'project key': tenant.key,
    'integration key': (await createIntegration(api, tenant.key, { scopes })).key,
    user: (await mintToken(api, tenant.key, user.id)).token,
    space: (await createLiveSpace(service, tenant.id, user.id, scopes)).token,
  };
});
afterAll(() => service.stop());

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function forged(claims: object, { alg = 'HS256', hash = 'sha256', secret = jwtSecret } = {}): string {
  const input = `${encode({ alg, typ: 'JWT' })}.${encode(claims)}`;
  return `${input}.${createHmac(hash, secret).update(input).digest('base64url')}`;
}

const claimsOf = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

describe('which token opens which route', () => {
  /** One route of every kind, with a valid body, so that only the credential decides. */
  const routes = {
    account: { method: 'GET', path: () => '/auth/me' },
    'second factor': { method: 'GET', path: () => '/auth/2fa/status' },
    admin: { method: 'GET', path: () => '/admin/projects' },
    owner: { method: 'GET', path: () => '/project/keys' },
    collection: { method: 'GET', path: () => '/project/users' },
    'one user': { method: 'GET', path: () => `/project/users/${user.id}` },
    'one user, by external id': { method: 'GET', path: () => `/project/users/ext/${user.externalId}` },
    files: { method: 'GET', path: () => `/project/users/${user.id}/files` },
    spaces: { method: 'GET', path: () => `/project/users/${user.id}/spaces` },
    minting: { method: 'POST', path: () => `/project/users/${user.id}/tokens` },
  } as const;

  const table: readonly [keyof typeof routes, Readonly<Record<Holder, number>>][] = [
    ['account', row(401, 200, 200, 403, 403, 403, 403)],
    ['second factor', row(401, 200, 200, 403, 403, 403, 403)],
    ['admin', row(401, 200, 403, 403, 403, 403, 403)],
    ['owner', row(401, 403, 200, 200, 403, 403, 403)],
    ['collection', row(401, 403, 200, 200, 200, 403, 403)],
    ['one user', row(401, 403, 200, 200, 200, 200, 200)],
    ['one user, by external id', row(401, 403, 200, 200, 200, 200, 200)],
    ['files', row(401, 403, 200, 200, 200, 200, 200)],
    ['spaces', row(401, 403, 200, 200, 403, 200, 403)],
    ['minting', row(401, 403, 201, 201, 201, 403, 403)],
  ];

  function row(
    ...statuses: [number, number, number, number, number, number, number]
  ): Record<Holder, number> {
    const [challenge, admin, project, key, integration, userToken, space] = statuses;
    return {
      challenge,
      'admin session': admin,
      'project session': project,
      'project key': key,
      'integration key': integration,
      user: userToken,
      space,
    };
  }

  test.each(table)('%s', async (kind, expected) => {
    const { method, path } = routes[kind];
    const body = method === 'POST' ? { body: { scopes: [] } } : {};
    const found: Record<string, number> = {};
    for (const [holder, token] of Object.entries(tokens))
      found[holder] = (await service.api.call(method, path(), { as: token, ...body })).status;
    expect(found).toEqual(expected);
  });

  test.each(table)(
    '%s, sent as a cookie: tokens work as before, API keys are 401',
    async (kind, expected) => {
      const { method, path } = routes[kind];
      const body = method === 'POST' ? { body: { scopes: [] } } : {};
      const found: Record<string, number> = {};
      for (const [holder, token] of Object.entries(tokens))
        found[holder] = (await service.api.call(method, path(), { cookie: token, ...body })).status;
      expect(found).toEqual({ ...expected, 'project key': 401, 'integration key': 401 });
    },
  );
});

describe('a challenge', () => {
  test('is 401 on every guarded route, as bearer and as cookie', async () => {
    const surprises: string[] = [];
    for (const { route, path } of endpoints) {
      if (isPublic(route.access)) continue;
      const filled = path
        .replace(':userId', user.id)
        .replace(':externalId', user.externalId)
        .replace(/:\w+/g, () => randomUUID());
      const replies = await Promise.all([
        service.api.call(route.method, filled, { as: tokens.challenge }),
        service.api.call(route.method, filled, { cookie: tokens.challenge }),
      ]);
      for (const { status } of replies)
        if (status !== 401) surprises.push(`${route.method} ${path}: ${status}`);
    }
    expect(surprises).toEqual([]);
  });

  test('still works at /auth/2fa/login afterwards, and no other token does', async () => {
    const code = codeOf(service, guarded.secret);
    for (const [holder, token] of Object.entries(tokens)) {
      if (holder === 'challenge') continue;
      const reply = await answer(service.api, token, code);
      expect(reply.status, holder).toBe(401);
      expect(reply.headers['set-cookie'], holder).toBeUndefined();
    }
    // A session of the same account is not a challenge either.
    expect((await answer(service.api, guarded.session, code)).status).toBe(401);
    const challenge = await challengeOf(service.api, guarded);
    expect((await answer(service.api, challenge, code)).status).toBe(200);
  });

  test('must be in the body: in the header or the cookie it is ignored', async () => {
    const challenge = await challengeOf(service.api, guarded);
    const [code = ''] = guarded.recoveryCodes;
    for (const where of [{ as: challenge }, { cookie: challenge }]) {
      const bare = await service.api.call('POST', '/auth/2fa/login', { ...where, body: { code } });
      expect(bare.status).toBe(422);
      const dead = await service.api.call('POST', '/auth/2fa/login', {
        ...where,
        body: { challenge_token: 'x', code },
      });
      expect(dead.status).toBe(401);
    }
    expect((await answer(service.api, challenge, code)).status, 'the code was not used up').toBe(200);
  });

  test('cannot be turned into another token or made from one, even with a valid signature', async () => {
    const [, code = ''] = guarded.recoveryCodes;
    const challenge = claimsOf(await challengeOf(service.api, guarded));
    const session = claimsOf(guarded.session);
    const wrong: Record<string, object> = {
      'an id that was never issued': { ...challenge, jti: randomUUID() },
      'another account': { ...challenge, sub: randomUUID() },
      'the project as the subject': { ...challenge, sub: guarded.id },
      'a session as a challenge': { ...session, role: '2fa_challenge' },
      'without an id': { ...challenge, jti: undefined },
      'without an expiry': { ...challenge, exp: undefined },
      'without a subject': { ...challenge, sub: undefined },
      expired: { ...challenge, exp: Math.floor(Date.now() / 1000) - 1 },
    };
    for (const [what, claims] of Object.entries(wrong))
      expect((await answer(service.api, forged(claims), code)).status, what).toBe(401);
    const asSession = { ...challenge, role: 'project', sub: guarded.id, pid: guarded.id };
    expect((await service.api.get('/auth/me', forged(asSession))).status, 'a challenge as a session').toBe(
      401,
    );
    expect((await answer(service.api, forged(challenge), code)).status, 'itself').toBe(200);
  });
});

describe('forged tokens', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();

  function forgeries(genuine: string): Record<string, string> {
    const claims = claimsOf(genuine);
    const [head, payload, signature] = genuine.split('.');
    const rsInput = `${encode({ alg: 'RS256', typ: 'JWT' })}.${payload}`;
    return {
      'alg none': `${encode({ alg: 'none', typ: 'JWT' })}.${payload}.`,
      'alg none with the signature': `${encode({ alg: 'none', typ: 'JWT' })}.${payload}.${signature}`,
      'alg nOnE': `${encode({ alg: 'nOnE' })}.${payload}.`,
      'no signature': `${head}.${payload}.`,
      HS384: forged(claims, { alg: 'HS384', hash: 'sha384' }),
      HS512: forged(claims, { alg: 'HS512', hash: 'sha512' }),
      RS256: `${rsInput}.${signBytes('sha256', Buffer.from(rsInput), privateKey).toString('base64url')}`,
      'a public key as the secret': forged(claims, { secret: pem }),
      'another secret': forged(claims, { secret: `${jwtSecret}.` }),
      'without jti': forged({ ...claims, jti: undefined }),
      'without exp': forged({ ...claims, exp: undefined }),
      'a jti that is not a UUID': forged({ ...claims, jti: '1' }),
      'an exp that is text': forged({ ...claims, exp: String(claims.exp) }),
      'an exp without end': forged(claims).replace(payload ?? '', encode({ ...claims, exp: 1e15 })),
    };
  }

  const places = [
    ['admin session', '/admin/projects'],
    ['project session', '/auth/me'],
    ['user', null],
    ['space', null],
  ] as const;

  test.each(places)(
    'of a %s token are 401, as bearer and as cookie; the same claims with a valid signature pass',
    async (holder, path) => {
      const target = path ?? `/project/users/${user.id}`;
      const genuine = tokens[holder];
      expect((await service.api.get(target, forged(claimsOf(genuine)))).status).toBe(200);
      for (const [what, token] of Object.entries(forgeries(genuine))) {
        expect((await service.api.get(target, token)).status, what).toBe(401);
        expect((await service.api.call('GET', target, { cookie: token })).status, what).toBe(401);
      }
    },
  );

  test('of a challenge are 401 and do not use up the challenge', async () => {
    const challenge = await challengeOf(service.api, guarded);
    const [, , code = ''] = guarded.recoveryCodes;
    for (const [what, token] of Object.entries(forgeries(challenge)))
      expect((await answer(service.api, token, code)).status, what).toBe(401);
    expect((await answer(service.api, challenge, code)).status).toBe(200);
  });

  test('re-signing a token with another role is 401: its claims must match the database', async () => {
    const user401: Record<string, object> = {
      'user as admin': { ...claimsOf(tokens.user), role: 'admin' },
      'user as project': { ...claimsOf(tokens.user), role: 'project', sub: tenant.id },
      'user as space': { ...claimsOf(tokens.user), role: 'space' },
      'space as user': { ...claimsOf(tokens.space), role: 'user' },
      'project as admin': { ...claimsOf(tokens['project session']), role: 'admin' },
      'admin as project': { ...claimsOf(tokens['admin session']), role: 'project', pid: tenant.id },
    };
    for (const [what, claims] of Object.entries(user401))
      for (const path of ['/auth/me', '/admin/projects', `/project/users/${user.id}`])
        expect((await service.api.get(path, forged(claims))).status, `${what} on ${path}`).toBe(401);
  });
});

describe('a token in the cookie against another in the header', () => {
  const me = async (cookie: string, as: string) => service.api.call('GET', '/auth/me', { cookie, as });

  test('the cookie takes precedence over a token in the header, valid or not', async () => {
    const { 'admin session': admin, 'project session': project, challenge, user: userToken } = tokens;
    expect((await me(project, admin)).body.session.role).toBe('project');
    expect((await me(admin, project)).body.session.role).toBe('admin');
    expect((await me(admin, challenge)).body.session.role).toBe('admin');
    expect((await me(admin, 'not-a-token')).body.session.role).toBe('admin');
    expect((await me(challenge, admin)).status).toBe(401);
    expect((await me('not-a-token', admin)).status).toBe(401);
    expect((await me(userToken, admin)).status).toBe(403);
    expect((await me(tenant.key, admin)).status).toBe(401);
  });

  test('an API key in the header takes precedence over any cookie', async () => {
    for (const cookie of [...Object.values(tokens), 'not-a-token']) {
      const reply = await service.api.call('GET', '/project/keys', { cookie, as: tenant.key });
      expect(reply.status).toBe(200);
    }
  });

  test('login and the two-factor step ignore both', async () => {
    const challenge = await challengeOf(service.api, guarded);
    const [, , , code = ''] = guarded.recoveryCodes;
    const { body, status } = await service.api.call('POST', '/auth/2fa/login', {
      cookie: tokens['admin session'],
      as: tokens.user,
      body: { challenge_token: challenge, code },
      headers: { 'x-forwarded-for': randomUUID() },
    });
    expect(status).toBe(200);
    expect((await service.api.get('/auth/me', body.token)).body.session.project_id).toBe(guarded.id);
  });
});

test('token confusion: a reset token is not accepted as a credential, and no credential as a reset token', async () => {
  for (const [holder, token] of Object.entries(tokens)) {
    const reply = await post(service.api, '/auth/reset-password', { token, newPassword: 'a new password' });
    expect(reply.status, holder).toBe(422);
  }
});
