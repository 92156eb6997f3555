// Logins under attack: floods of guesses from forged addresses, and browsers that have logged in before.
import { availableParallelism } from 'node:os';
import { Agent, request } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { recommendedCost } from '../../src/platform/passwords.ts';
import {
  alignToStep,
  challengeOf,
  codeOf,
  guard,
  post,
  randomAddress,
  wrongCodeOf,
} from '../support/accounts.ts';
import type { Reply } from '../support/api.ts';
import { outboxTo, tokenOf } from '../support/mail.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { adminSession, createTenant, sessionOf, type Tenant, unique } from '../support/tenants.ts';

let service: TestPakhus;
let admin: string;

beforeAll(async () => {
  // At their real cost, so that a flood of logins keeps the service busy.
  service = await startTestPakhus({}, undefined, { passwordCost: recommendedCost });
  admin = await adminSession(service.api);
});
afterAll(() => service.stop());

interface Login {
  readonly email?: string;
  readonly password?: string;
  readonly address?: string;
  readonly device?: string | undefined;
}

const loginOn = (on: TestPakhus, { email, password, address, device }: Login): Promise<Reply> =>
  on.api.call('POST', '/auth/login', {
    body: { email: email ?? `${unique('nobody')}@example.com`, password: password ?? 'not the password' },
    headers: {
      'x-forwarded-for': address ?? randomAddress(),
      ...(device ? { cookie: `pakhus_device=${device}` } : {}),
    },
  });
const login = (given: Login) => loginOn(service, given);

const deviceOf = ({ headers }: Reply): string => {
  const cookies = headers['set-cookie'] as string[];
  return /pakhus_device=([^;]+)/.exec(cookies.join(' '))?.[1] ?? '';
};

/** A tenant, and the cookie of a browser that has logged in to it. */
async function ownerWithDevice(on = service, as = admin): Promise<Tenant & { device: string }> {
  const tenant = await createTenant(on.api, as);
  const reply = await loginOn(on, tenant);
  expect(reply.status, reply.text).toBe(200);
  return { ...tenant, device: deviceOf(reply) };
}

const lockForStrangers = async (email: string) => {
  for (let n = 0; n < 20; n += 1) expect((await login({ email })).status).toBe(401);
};

test('logout everywhere: a browser that had logged in before is a stranger again, and a pending challenge ends', async () => {
  const owner = await ownerWithDevice();
  await lockForStrangers(owner.email);
  expect((await login(owner)).status).toBe(200);
  const { token } = (await login(owner)).body;
  expect((await service.api.post('/auth/logout-everywhere', token)).status).toBe(204);
  expect((await login(owner)).status).toBe(429);
  const guarded = await createTenant(service.api, admin);
  const session = await sessionOf(service.api, guarded.email, guarded.password);
  const { recoveryCodes } = await guard(service, guarded);
  const challenge_token = await challengeOf(service.api, guarded);
  expect((await service.api.post('/auth/logout-everywhere', session)).status).toBe(204);
  const late = await post(service.api, '/auth/2fa/login', { challenge_token, code: recoveryCodes[0] });
  expect(late.status).toBe(401);
});

describe('a flood of guesses', () => {
  /** Resolves when the flood stands in line; `answered` says how many of it have been served since. */
  async function flood(count: number, addressOf: (at: number) => string) {
    const seen = { answered: 0, done: Promise.resolve() as Promise<unknown> };
    const sent = Array.from({ length: count }, async (_, at) => {
      await login({ address: addressOf(at) });
      seen.answered += 1;
    });
    seen.done = Promise.all(sent);
    await Promise.race(sent);
    return seen;
  }
  /** How many passwords are hashed at once here: a flood is much more than that. */
  const places = Math.min(8, Math.max(1, availableParallelism() - 1));
  const count = places * 20;

  test('does not delay a browser that has logged in before, even from the same address', async () => {
    const owner = await ownerWithDevice();
    const strangers = await flood(count, randomAddress);
    expect((await login(owner)).status).toBe(200);
    expect(strangers.answered).toBeLessThan(count / 2);
    await strangers.done;
  });

  test('does not delay a password change or the creation of a project', async () => {
    const owner = await ownerWithDevice();
    const session = await sessionOf(service.api, owner.email, owner.password);
    const strangers = await flood(count, randomAddress);
    const [changed] = await Promise.all([
      service.api.put('/auth/change-password', session, {
        currentPassword: owner.password,
        newPassword: 'another password',
      }),
      createTenant(service.api, admin),
    ]);
    expect(changed.status).toBe(200);
    expect(strangers.answered).toBeLessThan((count * 3) / 4);
    await strangers.done;
  });

  test('takes turns with other connection addresses', async () => {
    const { email, password } = await createTenant(service.api, admin);
    const strangers = await flood(count, randomAddress);
    const elsewhere = new Agent({ localAddress: '127.0.0.2' });
    try {
      const reply = await request(`${service.baseUrl}/auth/login`, {
        method: 'POST',
        dispatcher: elsewhere,
        headers: { 'content-type': 'application/json', 'x-forwarded-for': randomAddress() },
        body: JSON.stringify({ email, password }),
      });
      await reply.body.dump();
      expect(reply.statusCode).toBe(200);
      expect(strangers.answered).toBeLessThan(count / 2);
    } finally {
      await strangers.done;
      await elsewhere.close();
    }
  });

  test('does not delay clients that claim no address, even from the same connection address', async () => {
    const { email, password } = await createTenant(service.api, admin);
    const strangers = await flood(count, randomAddress);
    const reply = await service.api.post('/auth/login', undefined, { email, password });
    expect(reply.status).toBe(200);
    expect(strangers.answered).toBeLessThan(count / 2);
    await strangers.done;
  });

  test('takes turns with other claimed addresses of the same connection address', async () => {
    const { email, password } = await createTenant(service.api, admin);
    const claimed = Array.from({ length: places * 4 }, randomAddress);
    const strangers = await flood(count, (at) => claimed[at % claimed.length] ?? '');
    expect((await login({ email, password })).status).toBe(200);
    expect(strangers.answered).toBeLessThan(count * 0.75);
    await strangers.done;
  });
});

describe('where no proxy is trusted', () => {
  let own: TestPakhus;
  afterEach(() => own.stop());

  /** A call that counts as a login and costs no hash. */
  const attempt = (address = randomAddress(), dispatcher?: Agent) =>
    request(`${own.baseUrl}/auth/2fa/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
      body: JSON.stringify({ challenge_token: 'x', code: '123456' }),
      ...(dispatcher ? { dispatcher } : {}),
    }).then(async ({ statusCode, headers, body }) => {
      await body.dump();
      return { status: statusCode, retryAfter: Number(headers['retry-after']) };
    });

  test('a connection address has 1,000 logins in 15 minutes regardless of claimed addresses; known browsers and other addresses have their own', async () => {
    own = await startTestPakhus();
    const owner = await ownerWithDevice(own, await adminSession(own.api));
    const before = 2;
    for (let done = before; done < 1_000; ) {
      const some = Math.min(100, 1_000 - done);
      const statuses = await Promise.all(Array.from({ length: some }, () => attempt()));
      expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set([401]));
      done += some;
    }
    const refused = await attempt();
    expect(refused.status).toBe(429);
    expect(refused.retryAfter).toBeGreaterThan(0);
    expect(refused.retryAfter).toBeLessThanOrEqual(900);
    const { device, ...stranger } = owner;
    expect((await loginOn(own, stranger)).status).toBe(429);
    expect((await loginOn(own, { ...stranger, device: `${device}x` })).status).toBe(429);
    expect((await loginOn(own, owner)).status).toBe(200);
    const elsewhere = new Agent({ localAddress: '127.0.0.2' });
    expect((await attempt(randomAddress(), elsewhere)).status).toBe(401);
    await elsewhere.close();
    own.advance(15 * 60_000);
    expect((await attempt()).status).toBe(401);
  });

  test.each([{}, { TRUST_PROXY_HOPS: '1' }])(
    'all known browsers of an account share 100 logins, also for other accounts (%j)',
    async (environment) => {
      own = await startTestPakhus(environment);
      const owner = await ownerWithDevice(own, await adminSession(own.api));
      const other = deviceOf(await loginOn(own, { ...owner, device: undefined }));
      const guess = (device: string) =>
        own.api.call('POST', '/auth/2fa/login', {
          body: { challenge_token: 'x', code: '123456' },
          headers: { 'x-forwarded-for': randomAddress(), cookie: `a=b; pakhus_device=${device}` },
        });
      const replies = await Promise.all(
        Array.from({ length: 101 }, (_, at) => guess(at % 2 ? other : owner.device)),
      );
      expect(replies.map(({ status }) => status).sort()).toEqual([...Array(100).fill(401), 429]);
      expect((await attempt()).status, 'strangers are not concerned').toBe(401);
    },
  );

  test('with TRUST_PROXY_HOPS only the address given by the proxy is limited', async () => {
    own = await startTestPakhus({ TRUST_PROXY_HOPS: '1' });
    for (let round = 0; round < 11; round += 1) {
      const statuses = await Promise.all(Array.from({ length: 100 }, () => attempt()));
      expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set([401]));
    }
  });
});

describe('a browser that has logged in before', () => {
  test('is not locked out by guesses from elsewhere', async () => {
    const owner = await ownerWithDevice();
    await lockForStrangers(owner.email);
    const { device, ...stranger } = owner;
    expect((await login(stranger)).status).toBe(429);
    const reply = await login(owner);
    expect(reply.status).toBe(200);
    expect((await login(stranger)).status, 'its success is none of theirs').toBe(429);
    expect((await login({ ...owner, device: deviceOf(reply) })).status).toBe(200);
    const session = reply.body.token;
    const change = { currentPassword: owner.password, newPassword: 'another password' };
    expect((await service.api.put('/auth/change-password', session, change)).status).toBe(200);
  });

  test('has its own limit of 10 failures in 15 minutes, which locks out nobody else', async () => {
    const owner = await ownerWithDevice();
    const other = deviceOf(await login({ email: owner.email, password: owner.password }));
    const guess = { email: owner.email, device: owner.device };
    for (let n = 0; n < 10; n += 1) expect((await login(guess)).status).toBe(401);
    const refused = await login(owner);
    expect([refused.status, refused.body.error.code]).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await login({ ...owner, device: other })).status).toBe(200);
    expect((await login({ ...owner, device: undefined })).status).toBe(200);
    service.advance(15 * 60_000);
    expect((await login(owner)).status).toBe(200);
  });

  test('keeps its failures when it gets a new cookie', async () => {
    const owner = await ownerWithDevice();
    const renewed = deviceOf(await login(owner));
    for (let n = 0; n < 10; n += 1)
      expect((await login({ email: owner.email, device: n % 2 ? renewed : owner.device })).status).toBe(401);
    expect((await login({ ...owner, device: renewed })).status).toBe(429);
  });

  test('is unknown to other accounts, and with an altered cookie', async () => {
    const [owner, victim] = [await ownerWithDevice(), await ownerWithDevice()];
    await lockForStrangers(victim.email);
    const [, deviceId, ...rest] = owner.device.split('.');
    const [victimId] = victim.device.split('.');
    for (const device of [owner.device, [victimId, deviceId, ...rest].join('.'), 'x', ''])
      expect((await login({ ...victim, device })).status, device).toBe(429);
    expect((await login(victim)).status).toBe(200);
  });

  test('is unknown again after a password reset, and stays known after a password change', async () => {
    const owner = await ownerWithDevice();
    const session = await sessionOf(service.api, owner.email, owner.password);
    const newPassword = 'another password';
    const change = { currentPassword: owner.password, newPassword };
    expect((await service.api.put('/auth/change-password', session, change)).status).toBe(200);
    await lockForStrangers(owner.email);
    expect((await login({ ...owner, password: newPassword })).status).toBe(200);

    await post(service.api, '/auth/forgot-password', { email: owner.email });
    const [mail] = await outboxTo(service.dataDir, owner.email, 1);
    const token = tokenOf(mail as Parameters<typeof tokenOf>[0]);
    const reset = await post(service.api, '/auth/reset-password', { token, newPassword: owner.password });
    expect(reset.status, reset.text).toBe(200);
    await lockForStrangers(owner.email);
    expect((await login(owner)).status).toBe(429);
    service.advance(15 * 60_000);
    const again = deviceOf(await login({ email: owner.email, password: owner.password }));
    await lockForStrangers(owner.email);
    expect((await login({ ...owner, device: again })).status).toBe(200);
  });

  test('gets no access by its cookie alone', async () => {
    const { device } = await ownerWithDevice();
    for (const cookie of [`pakhus_device=${device}`, `token=${device}`]) {
      const reply = await service.api.call('GET', '/auth/me', { headers: { cookie } });
      expect(reply.status).toBe(401);
    }
    expect((await service.api.get('/auth/me', device)).status).toBe(401);
  });

  test('is not locked out by wrong codes from somebody who knows the password', async () => {
    const tenant = await createTenant(service.api, admin);
    const guarded = await guard(service, tenant);
    alignToStep(service);
    const answer = (challenge: string, code: string, device = '') =>
      service.api.call('POST', '/auth/2fa/login', {
        body: { challenge_token: challenge, code },
        headers: { 'x-forwarded-for': randomAddress(), cookie: `pakhus_device=${device}` },
      });
    const right = () => codeOf(service, guarded.secret);
    const first = await answer(await challengeOf(service.api, tenant), right());
    expect(first.status, first.text).toBe(200);
    const device = deviceOf(first);
    alignToStep(service);
    const wrong = wrongCodeOf(service, guarded.secret);
    for (let round = 0; round < 4; round += 1) {
      const challenge = await challengeOf(service.api, tenant);
      for (let n = 0; n < 5; n += 1) expect((await answer(challenge, wrong)).status).toBe(401);
    }
    expect((await answer(await challengeOf(service.api, tenant), right())).status).toBe(429);
    expect((await answer(await challengeOf(service.api, tenant), right(), device)).status).toBe(200);
    // Its own bound: two challenges of five wrong codes each.
    for (let round = 0; round < 2; round += 1) {
      const challenge = await challengeOf(service.api, tenant);
      for (let n = 0; n < 5; n += 1) expect((await answer(challenge, wrong, device)).status).toBe(401);
    }
    expect((await answer(await challengeOf(service.api, tenant), wrong, device)).status).toBe(429);
    const { session } = guarded;
    const disabled = await service.api.post('/auth/2fa/disable', session, { code: right() });
    expect(disabled.status, 'a session is no stranger').toBe(200);
  });
});
