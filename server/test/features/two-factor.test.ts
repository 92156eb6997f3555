import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reseal } from '../../src/features/accounts/accounts.jobs.ts';
import {
  alignToStep,
  answer,
  challengeOf,
  codeOf,
  type Guarded,
  guard,
  post,
  wrongCodeOf,
} from '../support/accounts.ts';
import { rowsOf } from '../support/database.ts';
import { outboxTo, tokenOf } from '../support/mail.ts';
import { adminEmail, adminPassword, startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { adminSession, createTenant, logIn, sessionOf, type Tenant } from '../support/tenants.ts';

let service: TestPakhus;
let admin: string;

beforeAll(async () => {
  service = await startTestPakhus();
  admin = await adminSession(service.api);
});
afterAll(() => service.stop());

const guardedTenant = async (on = service): Promise<Guarded & Tenant> => {
  const tenant = await createTenant(on.api, on === service ? admin : await adminSession(on.api));
  return { ...tenant, ...(await guard(on, tenant)) };
};

const meOf = async (session: string) => (await service.api.get('/auth/me', session)).body.session;
const enabledFor = async (session: string) =>
  (await service.api.get('/auth/2fa/status', session)).body.enabled;

async function actionsOf({ key }: Tenant): Promise<string[]> {
  const { body } = await service.api.get('/project/audit?limit=100', key);
  return body.logs
    .map(({ action }: { action: string }) => action)
    .filter((action: string) => action.startsWith('auth.'));
}

/** Opens challenges one after another: concurrent logins would count as password failures. */
async function challengesOf(account: Guarded, count: number): Promise<string[]> {
  const made: string[] = [];
  for (let n = 0; n < count; n += 1) made.push(await challengeOf(service.api, account));
  return made;
}

describe('life cycle', () => {
  test('enroll, activate, log in by code and by recovery code, and disable work over HTTP and are all audited', async () => {
    const tenant = await createTenant(service.api, admin);
    const session = await sessionOf(service.api, tenant.email, tenant.password);
    expect(await enabledFor(session)).toBe(false);

    const enrolled = await service.api.post('/auth/2fa/enroll', session);
    const { secret, otpauth_url } = enrolled.body;
    expect(Object.keys(enrolled.body).sort()).toEqual(['otpauth_url', 'secret']);
    expect(await enabledFor(session), 'pending is not enabled').toBe(false);
    expect((await logIn(service.api, tenant.email, tenant.password)).body.token).toBeTruthy();
    expect(otpauth_url).toContain(`secret=${secret}`);

    const activated = await service.api.post('/auth/2fa/activate', session, {
      code: codeOf(service, secret),
    });
    expect(activated.status, activated.text).toBe(200);
    const codes: string[] = activated.body.recovery_codes;
    expect(await enabledFor(session)).toBe(true);
    expect((await meOf(session)).two_factor_enabled).toBe(true);

    const login = await logIn(service.api, tenant.email, tenant.password);
    expect(login.status).toBe(200);
    expect(Object.keys(login.body).sort()).toEqual(['challenge_token', 'two_factor_required']);
    expect(login.headers['set-cookie']).toBeUndefined();
    const second = await answer(service.api, login.body.challenge_token, codeOf(service, secret));
    expect(second.status, second.text).toBe(200);
    expect(Object.keys(second.body)).toEqual(['token']);
    const [sessionCookie, device] = second.headers['set-cookie'] as string[];
    expect(sessionCookie).toMatch(
      new RegExp(`^token=${second.body.token}; Path=/; HttpOnly; SameSite=Lax; Max-Age=\\d+$`),
    );
    expect(device).toMatch(/^pakhus_device=/);
    expect(await meOf(second.body.token)).toMatchObject({ role: 'project', two_factor_enabled: true });

    const third = await answer(
      service.api,
      await challengeOf(service.api, tenant),
      ` ${codes[3]?.toUpperCase().replaceAll('-', ' ')}`,
    );
    expect(third.status, 'however the recovery code is written').toBe(200);

    const disabled = await service.api.post('/auth/2fa/disable', session, { code: codeOf(service, secret) });
    expect([disabled.status, disabled.body]).toEqual([200, { ok: true }]);
    expect(await enabledFor(session)).toBe(false);
    expect((await logIn(service.api, tenant.email, tenant.password)).body.token).toBeTruthy();
    const left = await rowsOf(
      service.databaseUrl,
      `select from recovery_codes join accounts a on a.id = account_id where a.project_id = '${tenant.id}'`,
    );
    expect(left).toEqual([]);
    expect((await actionsOf(tenant)).reverse()).toEqual([
      'auth.login',
      'auth.2fa_enroll',
      'auth.login',
      'auth.2fa_activate',
      'auth.login',
      'auth.2fa_login',
      'auth.login',
      'auth.2fa_login',
      'auth.2fa_disable',
      'auth.login',
    ]);
  });

  test('the admin has the same routes', async () => {
    const own = await startTestPakhus();
    try {
      const guarded = await guard(own, { email: adminEmail, password: adminPassword });
      const { body } = await answer(
        own.api,
        await challengeOf(own.api, guarded),
        codeOf(own, guarded.secret),
      );
      expect((await own.api.get('/auth/me', body.token)).body.session).toMatchObject({
        role: 'admin',
        two_factor_enabled: true,
      });
      expect((await own.api.get('/admin/projects', body.token)).status).toBe(200);
    } finally {
      await own.stop();
    }
  });

  test('the otpauth URL holds issuer, account, SHA-1, 6 digits, 30 seconds and a 160-bit secret', async () => {
    const tenant = await createTenant(service.api, admin);
    const session = await sessionOf(service.api, tenant.email, tenant.password);
    const { body } = await service.api.post('/auth/2fa/enroll', session);
    const url = new URL(body.otpauth_url);
    expect([url.protocol, url.host]).toEqual(['otpauth:', 'totp']);
    expect(decodeURIComponent(url.pathname)).toBe(`/Pakhus:${tenant.email}`);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      issuer: 'Pakhus',
      secret: body.secret,
      algorithm: 'SHA1',
      digits: '6',
      period: '30',
    });
    expect(body.secret).toMatch(/^[A-Z2-7]{32}$/);
  });

  test('there are ten distinct recovery codes of 120 bits each', async () => {
    const { recoveryCodes } = await guardedTenant();
    expect(new Set(recoveryCodes).size).toBe(10);
    for (const code of recoveryCodes) expect(code).toMatch(/^[a-z2-7]{6}(-[a-z2-7]{6}){3}$/);
  });

  test('enrolling again before activation replaces the secret; after activation it is refused with 409', async () => {
    const tenant = await createTenant(service.api, admin);
    const session = await sessionOf(service.api, tenant.email, tenant.password);
    const first = (await service.api.post('/auth/2fa/enroll', session)).body.secret;
    const second = (await service.api.post('/auth/2fa/enroll', session)).body.secret;
    expect(second).not.toBe(first);
    const activate = (code: string) => service.api.post('/auth/2fa/activate', session, { code });
    expect((await activate(codeOf(service, first))).status).toBe(422);
    expect((await activate(codeOf(service, second))).status).toBe(200);
    const refused = await service.api.post('/auth/2fa/enroll', session);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'CONFLICT']);
    expect((await activate(codeOf(service, second))).status).toBe(409);
    const login = await answer(service.api, await challengeOf(service.api, tenant), codeOf(service, second));
    expect(login.status, 'the refused enrolment changed nothing').toBe(200);
  });

  test('activating without an enrolment, or disabling when inactive, is refused with 409', async () => {
    const tenant = await createTenant(service.api, admin);
    const session = await sessionOf(service.api, tenant.email, tenant.password);
    expect((await service.api.post('/auth/2fa/activate', session, { code: '123456' })).status).toBe(409);
    expect((await service.api.post('/auth/2fa/disable', session, { code: '123456' })).status).toBe(409);
    await service.api.post('/auth/2fa/enroll', session);
    // However often: these are not wrong codes.
    for (let nth = 0; nth < 21; nth += 1)
      expect((await service.api.post('/auth/2fa/disable', session, { code: '123456' })).status).toBe(409);
  });

  test('a wrong code neither activates nor disables, and keeps the session', async () => {
    const guarded = await guardedTenant();
    const code = wrongCodeOf(service, guarded.secret);
    for (const wrong of [code, guarded.recoveryCodes[0]?.slice(1), 'abcdef', '1'])
      expect((await service.api.post('/auth/2fa/disable', guarded.session, { code: wrong })).status).toBe(
        422,
      );
    expect(await enabledFor(guarded.session)).toBe(true);
    expect(await actionsOf(guarded)).toContain('auth.login_failed');
    const byRecovery = await service.api.post('/auth/2fa/disable', guarded.session, {
      code: guarded.recoveryCodes[9],
    });
    expect(byRecovery.status).toBe(200);
  });

  test('of 20 concurrent activations, one gets the recovery codes, and those codes work', async () => {
    const tenant = await createTenant(service.api, admin);
    const session = await sessionOf(service.api, tenant.email, tenant.password);
    const { secret } = (await service.api.post('/auth/2fa/enroll', session)).body;
    const replies = await Promise.all(
      Array.from({ length: 20 }, () =>
        service.api.post('/auth/2fa/activate', session, { code: codeOf(service, secret) }),
      ),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(409)]);
    const [code] = replies.find(({ status }) => status === 200)?.body.recovery_codes ?? [];
    expect((await answer(service.api, await challengeOf(service.api, tenant), code)).status).toBe(200);
  });
});

describe('codes', () => {
  test('a code one step early or late is accepted, two steps are refused', async () => {
    const own = await startTestPakhus();
    try {
      const guarded = await guardedTenant(own);
      alignToStep(own, 5);
      for (const [away, status] of [
        [-2, 401],
        [2, 401],
        [-1, 200],
        [1, 200],
        [0, 200],
      ] as const) {
        const reply = await answer(
          own.api,
          await challengeOf(own.api, guarded),
          codeOf(own, guarded.secret, away),
        );
        expect(reply.status, `${away} steps away`).toBe(status);
      }
    } finally {
      await own.stop();
    }
  });

  test('a code that was used to log in is refused a second time; the next code works', async () => {
    const guarded = await guardedTenant();
    const code = codeOf(service, guarded.secret);
    const next = codeOf(service, guarded.secret, 1);
    const [first, second] = await challengesOf(guarded, 2);
    expect((await answer(service.api, first as string, code)).status).toBe(200);
    expect((await answer(service.api, second as string, code)).status).toBe(401);
    expect((await answer(service.api, second as string, next)).status).toBe(200);
  });

  test('a recovery code works once, and the others stay valid', async () => {
    const { recoveryCodes: codes, ...guarded } = await guardedTenant();
    const [first, second] = await challengesOf({ ...guarded, recoveryCodes: codes }, 2);
    expect((await answer(service.api, first as string, codes[0] as string)).status).toBe(200);
    expect((await answer(service.api, second as string, codes[0] as string)).status).toBe(401);
    expect((await answer(service.api, second as string, codes[1] as string)).status).toBe(200);
  });

  test.each([
    ['TOTP', (guarded: Guarded) => codeOf(service, guarded.secret)],
    ['recovery', (guarded: Guarded) => guarded.recoveryCodes[0] as string],
  ])('of 50 logins at once with one %s code, each with a challenge of its own, one wins', async (_, pick) => {
    const guarded = await guardedTenant();
    const challenges = await challengesOf(guarded, 50);
    const code = pick(guarded);
    const replies = await Promise.all(challenges.map((challenge) => answer(service.api, challenge, code)));
    const won = replies.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    for (const { status } of replies) expect([200, 401, 429]).toContain(status);
    expect((await actionsOf(guarded)).filter((action) => action === 'auth.2fa_login')).toHaveLength(1);
    const sessions = await rowsOf(
      service.databaseUrl,
      `select from sessions join accounts a on a.id = account_id where a.project_id = '${guarded.id}'`,
    );
    expect(sessions, 'the one that activated, and the one that won').toHaveLength(2);
  });

  test('of 50 concurrent logins with one challenge and a valid code, one succeeds', async () => {
    const guarded = await guardedTenant();
    const challenge = await challengeOf(service.api, guarded);
    const replies = await Promise.all(
      guarded.recoveryCodes
        .flatMap((code) => Array<string>(5).fill(code))
        .map((code) => answer(service.api, challenge, code)),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test('20 wrong codes in 15 minutes lock the second factor of the account, for every challenge', async () => {
    const own = await startTestPakhus();
    try {
      const guarded = await guardedTenant(own);
      alignToStep(own);
      const code = wrongCodeOf(own, guarded.secret);
      for (let round = 0; round < 4; round += 1) {
        const challenge = await challengeOf(own.api, guarded);
        for (let n = 0; n < 5; n += 1) expect((await answer(own.api, challenge, code)).status).toBe(401);
      }
      const challenge = await challengeOf(own.api, guarded);
      const refused = await answer(own.api, challenge, codeOf(own, guarded.secret));
      expect(refused.status).toBe(429);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
      own.advance(15 * 60_000);
      const later = await answer(own.api, await challengeOf(own.api, guarded), codeOf(own, guarded.secret));
      expect(later.status).toBe(200);
    } finally {
      await own.stop();
    }
  });
});

describe('challenges', () => {
  test('five wrong codes end a challenge; a new challenge is not affected', async () => {
    const guarded = await guardedTenant();
    const [ended, fresh] = await challengesOf(guarded, 2);
    const wrong = wrongCodeOf(service, guarded.secret);
    for (let n = 0; n < 5; n += 1)
      expect((await answer(service.api, ended as string, wrong)).status).toBe(401);
    const right = codeOf(service, guarded.secret);
    expect((await answer(service.api, ended as string, right)).status).toBe(401);
    expect((await answer(service.api, fresh as string, right)).status).toBe(200);
    const { body } = await service.api.get('/project/audit?action=auth.login_failed', guarded.key);
    expect(body.logs).toHaveLength(5);
    expect(body.logs[0]).toMatchObject({
      actor_type: 'project',
      actor_id: guarded.id,
      metadata: { two_factor: 'login' },
    });
  });

  test('four wrong codes do not end a challenge', async () => {
    const guarded = await guardedTenant();
    const challenge = await challengeOf(service.api, guarded);
    const wrong = wrongCodeOf(service, guarded.secret);
    for (let n = 0; n < 4; n += 1) await answer(service.api, challenge, wrong);
    expect((await answer(service.api, challenge, codeOf(service, guarded.secret))).status).toBe(200);
  });

  test('a challenge can be used once', async () => {
    const guarded = await guardedTenant();
    const challenge = await challengeOf(service.api, guarded);
    const [first, second] = guarded.recoveryCodes as [string, string];
    expect((await answer(service.api, challenge, first)).status).toBe(200);
    expect((await answer(service.api, challenge, second)).status).toBe(401);
  });

  test('a challenge expires after five minutes', async () => {
    const own = await startTestPakhus();
    try {
      const guarded = await guardedTenant(own);
      const [first, second] = guarded.recoveryCodes as [string, string];
      const inTime = await challengeOf(own.api, guarded);
      own.advance(5 * 60_000 - 10_000);
      expect((await answer(own.api, inTime, first)).status).toBe(200);
      const late = await challengeOf(own.api, guarded);
      own.advance(5 * 60_000 + 1_000);
      expect((await answer(own.api, late, second)).status).toBe(401);
    } finally {
      await own.stop();
    }
  });

  test('a password change ends open challenges, and so does disabling the second factor', async () => {
    const guarded = await guardedTenant();
    const [code, another] = guarded.recoveryCodes as [string, string];
    const before = await challengeOf(service.api, guarded);
    const newPassword = 'another password entirely';
    const changed = await service.api.put('/auth/change-password', guarded.session, {
      currentPassword: guarded.password,
      newPassword,
    });
    expect(changed.status).toBe(200);
    expect((await answer(service.api, before, code)).status).toBe(401);
    const after = await challengeOf(service.api, { email: guarded.email, password: newPassword });
    await service.api.post('/auth/2fa/disable', guarded.session, { code: another });
    expect((await answer(service.api, after, code)).status).toBe(401);
  });

  test('an inactive project is 403, at the password step and at the code step', async () => {
    const guarded = await guardedTenant();
    const challenge = await challengeOf(service.api, guarded);
    await service.api.patch(`/admin/projects/${guarded.id}/status`, admin, { active: false });
    expect((await logIn(service.api, guarded.email, guarded.password)).status).toBe(403);
    expect((await answer(service.api, challenge, codeOf(service, guarded.secret))).status).toBe(403);
    await service.api.patch(`/admin/projects/${guarded.id}/status`, admin, { active: true });
    expect((await answer(service.api, challenge, codeOf(service, guarded.secret))).status).toBe(200);
  });

  test('a password reset does not skip the second factor', async () => {
    const guarded = await guardedTenant();
    const newPassword = 'another password entirely';
    await post(service.api, '/auth/forgot-password', { email: guarded.email });
    const [mail] = await outboxTo(service.dataDir, guarded.email);
    const token = tokenOf(mail as NonNullable<typeof mail>);
    expect((await post(service.api, '/auth/reset-password', { token, newPassword })).status).toBe(200);
    const challenge = await challengeOf(service.api, { email: guarded.email, password: newPassword });
    expect((await answer(service.api, challenge, codeOf(service, guarded.secret))).status).toBe(200);
  });
});

describe('at rest', () => {
  const key = () => randomBytes(32).toString('hex');
  const stored = (on: TestPakhus) =>
    rowsOf<{ account_id: string; key_id: string; sealed_secret: Buffer }>(
      on.databaseUrl,
      'select * from two_factors order by created_at',
    );

  test('neither secrets nor recovery codes are readable in the database', async () => {
    const { secret, recoveryCodes } = await guardedTenant();
    const rows = await rowsOf(
      service.databaseUrl,
      `select t::text as row, encode(sealed_secret, 'escape') as bytes from two_factors t
       union all select r::text, encode(code_hash, 'escape') from recovery_codes r
       union all select l::text, '' from audit_logs l`,
    );
    const text = JSON.stringify(rows);
    for (const shown of [secret, ...recoveryCodes, ...recoveryCodes.map((code) => code.replaceAll('-', ''))])
      expect(text).not.toContain(shown);
  });

  test('ENCRYPTION_KEY can be rotated without losing a second factor, and the old key can be removed afterwards', async () => {
    const [old, young] = [key(), key()];
    const first = await startTestPakhus({ ENCRYPTION_KEY: old });
    const running = [first];
    const restart = async (environment: Record<string, string>) => {
      const next = await first.another(environment);
      running.push(next);
      return next;
    };
    try {
      const guarded = await guardedTenant(first);
      const [before] = await stored(first);
      const logsIn = async (on: TestPakhus, away: number) =>
        (await answer(on.api, await challengeOf(on.api, guarded), codeOf(on, guarded.secret, away))).status;
      const lost = await restart({ ENCRYPTION_KEY: young });
      expect(await logsIn(lost, -1), 'no known key opens the secret').toBe(401);
      const recovery = await answer(
        lost.api,
        await challengeOf(lost.api, guarded),
        guarded.recoveryCodes[0] as string,
      );
      expect(recovery.status, 'recovery codes need no key').toBe(200);
      // More rows than one batch that no key can decrypt: they must not block the rotation.
      await rowsOf(
        first.databaseUrl,
        `with made as (insert into accounts (id, email, email_key, password_hash)
          select ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, n || '@x', n || '@x', ''
          from generate_series(1, 1000) n returning id)
        insert into two_factors (account_id, key_id, sealed_secret) select id, 'lost', '' from made`,
      );
      const rotating = await restart({ ENCRYPTION_KEY: young, ENCRYPTION_KEY_PREVIOUS: old });
      expect(await logsIn(rotating, 0)).toBe(200);
      await reseal(rotating.pakhus.deps);
      const [after] = await stored(first);
      expect(after?.key_id).not.toBe(before?.key_id);
      expect(await logsIn(lost, 1), 'the new key alone is enough now').toBe(200);
    } finally {
      for (const one of running.reverse()) await one.stop();
    }
  });

  test('a derived key survives a change of JWT_SECRET, and a later ENCRYPTION_KEY', async () => {
    const [before, after] = ['the secret before the change!!!!', 'the secret after the change!!!!!'];
    const first = await startTestPakhus({ JWT_SECRET: before });
    const second = await first.another({ JWT_SECRET: after, JWT_SECRET_PREVIOUS: before });
    const third = await first.another({ JWT_SECRET: before, ENCRYPTION_KEY: key() });
    try {
      const guarded = await guardedTenant(first);
      const logsIn = async (on: TestPakhus, away: number) =>
        (await answer(on.api, await challengeOf(on.api, guarded), codeOf(on, guarded.secret, away))).status;
      expect([await logsIn(second, 0), await logsIn(third, 1)]).toEqual([200, 200]);
    } finally {
      await third.stop();
      await second.stop();
      await first.stop();
    }
  });

  test("a secret copied to another account's row cannot be decrypted", async () => {
    const own = await startTestPakhus();
    try {
      const mine = await guardedTenant(own);
      const theirs = await guardedTenant(own);
      await rowsOf(
        own.databaseUrl,
        `update two_factors t set sealed_secret = o.sealed_secret from two_factors o
         where o.account_id = (select id from accounts where project_id = '${mine.id}')
           and t.account_id = (select id from accounts where project_id = '${theirs.id}')`,
      );
      const challenge = await challengeOf(own.api, theirs);
      expect((await answer(own.api, challenge, codeOf(own, mine.secret))).status).toBe(401);
    } finally {
      await own.stop();
    }
  });
});
