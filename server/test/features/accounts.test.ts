import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { post, randomAddress } from '../support/accounts.ts';
import { rowsOf } from '../support/database.ts';
import { outboxTo, readOutbox, tokenOf } from '../support/mail.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { until } from '../support/processes.ts';
import { adminSession, createTenant, logIn, sessionOf, type Tenant, unique } from '../support/tenants.ts';

const newPassword = 'another password entirely';

let service: TestPakhus;
let admin: string;

beforeAll(async () => {
  service = await startTestPakhus();
  admin = await adminSession(service.api);
});
afterAll(() => service.stop());

const meStatus = async (session: string) => (await service.api.get('/auth/me', session)).status;
const loginStatus = async ({ email }: Tenant, password: string) =>
  (await logIn(service.api, email, password)).status;

async function auditOf(tenant: Tenant, action: string) {
  const { body } = await service.api.get(`/project/audit?action=${action}`, tenant.key);
  return body.logs;
}

async function tokenFor({ email }: Tenant, count = 1): Promise<string> {
  expect((await post(service.api, '/auth/forgot-password', { email })).status).toBe(200);
  const mails = await outboxTo(service.dataDir, email, count);
  return tokenOf(mails[count - 1] as (typeof mails)[0]);
}

const reset = (token: string, password = newPassword) =>
  post(service.api, '/auth/reset-password', { token, newPassword: password });

describe('change password', () => {
  test('ends the other sessions of the account, keeps this one, and is audited', async () => {
    const tenant = await createTenant(service.api, admin);
    const bystander = await createTenant(service.api, admin);
    const [mine, other, theirs] = [
      await sessionOf(service.api, tenant.email, tenant.password),
      await sessionOf(service.api, tenant.email, tenant.password),
      await sessionOf(service.api, bystander.email, bystander.password),
    ];
    const changed = await service.api.put('/auth/change-password', mine, {
      currentPassword: tenant.password,
      newPassword,
    });
    expect([changed.status, changed.body]).toEqual([200, { ok: true }]);
    expect(await Promise.all([mine, other, theirs].map(meStatus))).toEqual([200, 401, 200]);
    expect(await loginStatus(tenant, tenant.password)).toBe(401);
    expect(await loginStatus(tenant, newPassword)).toBe(200);
    expect((await service.api.get('/project/users', tenant.key)).status).toBe(200);
    expect(await auditOf(tenant, 'auth.password_change')).toMatchObject([
      { actor_type: 'project', actor_id: tenant.id, resource_type: 'account' },
    ]);
  });

  test('a wrong current password or a bad new one is 422 and changes nothing', async () => {
    const tenant = await createTenant(service.api, admin);
    const session = await sessionOf(service.api, tenant.email, tenant.password);
    const wrong = [
      { currentPassword: 'not the password', newPassword },
      { currentPassword: tenant.password, newPassword: 'seven77' },
      { currentPassword: tenant.password, newPassword: '\u00e9'.repeat(129) },
      { currentPassword: tenant.password },
      { newPassword },
    ];
    for (const body of wrong) {
      const { status, body: reply } = await service.api.put('/auth/change-password', session, body);
      expect([status, reply.error.code], JSON.stringify(body)).toEqual([422, 'VALIDATION_ERROR']);
    }
    expect(await meStatus(session)).toBe(200);
    expect(await loginStatus(tenant, tenant.password)).toBe(200);
    expect(await auditOf(tenant, 'auth.password_change')).toEqual([]);
  });

  test('a session cannot be used to guess the current password: 429 after 20 failures in 15 minutes', async () => {
    const tenant = await createTenant(service.api, admin);
    const session = await sessionOf(service.api, tenant.email, tenant.password);
    const guess = (currentPassword: string) =>
      service.api.put('/auth/change-password', session, { currentPassword, newPassword });
    for (let n = 0; n < 20; n += 1) expect((await guess('not the password')).status).toBe(422);
    const refused = await guess(tenant.password);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  });

  test('no login with the old password survives the change, even if they race', async () => {
    const tenant = await createTenant(service.api, admin);
    const session = await sessionOf(service.api, tenant.email, tenant.password);
    // Another instance, so that its logins wait for each other while the password is changed on this one.
    const busy = await service.another();
    try {
      const [changed, ...logins] = await Promise.all([
        service.api.put('/auth/change-password', session, { currentPassword: tenant.password, newPassword }),
        ...Array.from({ length: 18 }, () => logIn(busy.api, tenant.email, tenant.password)),
      ]);
      expect(changed.status).toBe(200);
      const opened = logins.filter(({ status }) => status === 200).map(({ body }) => body.token);
      expect(await Promise.all(opened.map(meStatus))).toEqual(opened.map(() => 401));
      expect(await meStatus(session)).toBe(200);
    } finally {
      await busy.stop();
    }
  });

  test('of 12 concurrent changes from one current password, exactly one succeeds', async () => {
    const tenant = await createTenant(service.api, admin);
    const session = await sessionOf(service.api, tenant.email, tenant.password);
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        service.api.put('/auth/change-password', session, {
          currentPassword: tenant.password,
          newPassword: `${newPassword} ${n}`,
        }),
      ),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await auditOf(tenant, 'auth.password_change')).toHaveLength(1);
  });
});

describe('forgot and reset', () => {
  test('the link sets the password once, ends every session, and is audited', async () => {
    const tenant = await createTenant(service.api, admin);
    const session = await sessionOf(service.api, tenant.email, tenant.password);
    const token = await tokenFor(tenant);
    expect(await loginStatus(tenant, tenant.password), 'asking alone changes nothing').toBe(200);
    const done = await reset(token);
    expect([done.status, done.body]).toEqual([200, { ok: true }]);
    expect(done.headers['set-cookie'], 'a reset opens no session').toBeUndefined();
    expect(await meStatus(session)).toBe(401);
    expect(await loginStatus(tenant, tenant.password)).toBe(401);
    expect(await loginStatus(tenant, newPassword)).toBe(200);
    const again = await reset(token, 'a third password');
    expect([again.status, again.body.error.code]).toEqual([422, 'VALIDATION_ERROR']);
    expect(again.body.error.details.issues[0].path).toBe('token');
    expect(await auditOf(tenant, 'auth.password_reset')).toMatchObject([{ actor_id: tenant.id }]);
    expect(await auditOf(tenant, 'auth.password_forgot')).toMatchObject([{ actor_id: tenant.id }]);
  });

  test('the admin resets a password in the same way', async () => {
    const own = await startTestPakhus();
    try {
      const session = await adminSession(own.api);
      await post(own.api, '/auth/forgot-password', { email: ' ADMIN@pakhus.local ' });
      const [mail] = await outboxTo(own.dataDir, 'admin@pakhus.local');
      const token = tokenOf(mail as NonNullable<typeof mail>);
      const done = await post(own.api, '/auth/reset-password', { token, new_password: newPassword });
      expect(done.status, done.text).toBe(200);
      expect((await own.api.get('/auth/me', session)).status).toBe(401);
      expect((await logIn(own.api, 'admin@pakhus.local', newPassword)).status).toBe(200);
    } finally {
      await own.stop();
    }
  });

  test('a link expires after 15 minutes', async () => {
    const own = await startTestPakhus();
    try {
      const tenant = await createTenant(own.api, await adminSession(own.api));
      const ask = () => post(own.api, '/auth/forgot-password', { email: tenant.email });
      await ask();
      await ask();
      const [first, second] = (await outboxTo(own.dataDir, tenant.email, 2)).map(tokenOf);
      own.advance(15 * 60_000 - 30_000);
      const inTime = await post(own.api, '/auth/reset-password', { token: first, newPassword });
      expect(inTime.status, inTime.text).toBe(200);
      await ask();
      const third = (await outboxTo(own.dataDir, tenant.email, 3)).map(tokenOf).at(-1);
      own.advance(15 * 60_000);
      for (const token of [second, third])
        expect((await post(own.api, '/auth/reset-password', { token, newPassword })).status).toBe(422);
    } finally {
      await own.stop();
    }
  });

  test('using a link or changing the password or e-mail invalidates all other links', async () => {
    const tenant = await createTenant(service.api, admin);
    const first = await tokenFor(tenant);
    const second = await tokenFor(tenant, 2);
    expect((await reset(second)).status).toBe(200);
    expect((await reset(first)).status).toBe(422);
    const third = await tokenFor(tenant, 3);
    const session = await sessionOf(service.api, tenant.email, newPassword);
    await service.api.put('/auth/change-password', session, {
      currentPassword: newPassword,
      newPassword: tenant.password,
    });
    expect((await reset(third)).status).toBe(422);
    const fourth = await tokenFor(tenant, 4);
    const moved = await service.api.patch(`/admin/projects/${tenant.id}`, admin, {
      email: `${unique('moved')}@example.com`,
    });
    expect(moved.status).toBe(200);
    expect((await reset(fourth)).status).toBe(422);
  });

  test('of 50 concurrent resets with one token, exactly one succeeds', async () => {
    const tenant = await createTenant(service.api, admin);
    const token = await tokenFor(tenant);
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, n) => reset(token, `${newPassword} ${n}`)),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array(49).fill(422)]);
    const winner = replies.findIndex(({ status }) => status === 200);
    expect(await loginStatus(tenant, `${newPassword} ${winner}`)).toBe(200);
    expect(await auditOf(tenant, 'auth.password_reset')).toHaveLength(1);
  });

  test('the database holds only the hash of a token, and the queue holds it encrypted', async () => {
    const tenant = await createTenant(service.api, admin);
    const token = await tokenFor(tenant);
    const stored = await rowsOf(
      service.databaseUrl,
      `select j::text as row from pgboss.job j union all select a::text from pgboss.archive a
       union all select r::text from password_resets r union all select l::text from audit_logs l`,
    );
    expect(stored.length).toBeGreaterThan(2);
    expect(JSON.stringify(stored)).not.toContain(token);
  });

  test('a reset unlocks an account locked by failed logins', async () => {
    const tenant = await createTenant(service.api, admin);
    for (let n = 0; n < 20; n += 1) expect(await loginStatus(tenant, 'wrong password')).toBe(401);
    expect(await loginStatus(tenant, tenant.password)).toBe(429);
    expect((await reset(await tokenFor(tenant))).status).toBe(200);
    expect(await loginStatus(tenant, newPassword)).toBe(200);
  });

  test('an address gets at most 20 mails in 15 minutes, and the reply does not reveal it', async () => {
    const tenant = await createTenant(service.api, admin);
    for (let n = 0; n < 23; n += 1) {
      const { status, body } = await post(service.api, '/auth/forgot-password', { email: tenant.email });
      expect([status, body]).toEqual([200, { ok: true }]);
    }
    await until('an empty queue', async () => {
      const waiting = await rowsOf(
        service.databaseUrl,
        `select from pgboss.job where state < 'completed' and name in ('mail.send', 'auth.forgot_password')`,
      );
      return waiting.length === 0;
    });
    const mails = await readOutbox(service.dataDir);
    expect(mails.filter(({ to }) => to?.[0]?.address === tenant.email)).toHaveLength(20);
  });

  test('a bad token or password is 422, and a bad password does not use up the token', async () => {
    const tenant = await createTenant(service.api, admin);
    const token = await tokenFor(tenant);
    for (const wrong of ['x', `${token}x`, token.slice(1), '\u00e9', 'a'.repeat(256)])
      expect((await reset(wrong)).status, wrong).toBe(422);
    for (const wrong of ['short', 'x'.repeat(257)]) expect((await reset(token, wrong)).status).toBe(422);
    expect((await post(service.api, '/auth/reset-password', {})).status).toBe(422);
    expect((await reset(token)).status).toBe(200);
  });
});

describe('nobody can find out whether an account exists', () => {
  test('forgot-password answers the same for existing and unknown accounts', async () => {
    const tenant = await createTenant(service.api, admin);
    const unknown = `${unique('nobody')}@example.com`;
    const [known, stranger] = await Promise.all(
      [tenant.email, unknown].map((email) => post(service.api, '/auth/forgot-password', { email })),
    );
    expect(known?.text).toBe(stranger?.text);
    expect([known?.status, stranger?.status]).toEqual([200, 200]);
    expect(Object.keys(known?.headers ?? {}).sort()).toEqual(Object.keys(stranger?.headers ?? {}).sort());
    await outboxTo(service.dataDir, tenant.email);
    expect(JSON.stringify(await readOutbox(service.dataDir))).not.toContain(unknown);
  });

  test('login answers the same for a wrong password and an unknown account', async () => {
    const tenant = await createTenant(service.api, admin);
    const [known, stranger] = [
      await logIn(service.api, tenant.email, 'not the password'),
      await logIn(service.api, `${unique('nobody')}@example.com`, 'not the password'),
    ];
    expect(known.text).toBe(stranger.text);
    expect([known.status, stranger.status]).toEqual([401, 401]);
    expect(Object.keys(known.headers).sort()).toEqual(Object.keys(stranger.headers).sort());
  });

  test('unknown accounts are locked by failures like known ones', async () => {
    const email = `${unique('nobody')}@example.com`;
    for (let n = 0; n < 20; n += 1) expect((await logIn(service.api, email, 'x')).status).toBe(401);
    expect((await logIn(service.api, email, 'x')).status).toBe(429);
  });
});

describe('login limiter', () => {
  test.each([
    ['/auth/login', { email: 'nobody@example.com', password: 'x' }, 401],
    ['/auth/forgot-password', { email: 'nobody@example.com' }, 200],
    ['/auth/2fa/login', { challenge_token: 'x', code: '123456' }, 401],
  ])('%s allows 10 attempts per address in 15 minutes', async (path, body, status) => {
    const own = await startTestPakhus();
    try {
      const address = randomAddress();
      const attempt = () => own.api.call('POST', path, { body, headers: { 'x-forwarded-for': address } });
      for (let n = 0; n < 10; n += 1) expect((await attempt()).status).toBe(status);
      expect((await attempt()).status).toBe(429);
      expect((await post(own.api, path, body)).status, 'another address').toBe(status);
      own.advance(15 * 60_000 + 1);
      expect((await attempt()).status).toBe(status);
    } finally {
      await own.stop();
    }
  });
});

describe('JWT_SECRET_PREVIOUS', () => {
  const [before, after] = ['the secret before the change!!!!', 'the secret after the change!!!!!'];

  test('signatures of the previous secret stay valid, and new tokens use the current one', async () => {
    const first = await startTestPakhus({ JWT_SECRET: before });
    const second = await first.another({ JWT_SECRET: after, JWT_SECRET_PREVIOUS: before });
    const third = await first.another({ JWT_SECRET: after });
    try {
      const status = async (on: TestPakhus, session: string) =>
        (await on.api.get('/auth/me', session)).status;
      const old = await adminSession(first.api);
      const young = await adminSession(second.api);
      expect([await status(first, old), await status(second, old), await status(third, old)]).toEqual([
        200, 200, 401,
      ]);
      expect([await status(first, young), await status(second, young), await status(third, young)]).toEqual([
        401, 200, 200,
      ]);
      for (let nth = 0; nth < 2; nth += 1) await createTenant(first.api, old);
      const { next_cursor } = (await first.api.get('/admin/projects?limit=1', old)).body;
      const turned = async (on: TestPakhus) =>
        (await on.api.get(`/admin/projects?limit=1&cursor=${next_cursor}`, young)).status;
      expect([await turned(second), await turned(third)]).toEqual([200, 400]);
    } finally {
      await third.stop();
      await second.stop();
      await first.stop();
    }
  });
});
