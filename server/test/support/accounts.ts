// Accounts for tests: an independent implementation of RFC 6238 to check codes against, and calls from a different
// address each, so that the login limiter does not interfere.
import { createHmac, randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import type { Api, Reply } from './api.ts';
import type { TestPakhus } from './pakhus.ts';
import { logIn, sessionOf } from './tenants.ts';

const stepMs = 30_000;

export interface Account {
  readonly email: string;
  readonly password: string;
}

export interface Guarded extends Account {
  readonly session: string;
  readonly secret: string;
  readonly recoveryCodes: string[];
}

export const randomAddress = (): string => [...randomBytes(4)].join('.');

export const post = (api: Api, path: string, body: unknown, as?: string): Promise<Reply> =>
  api.call('POST', path, { body, as, headers: { 'x-forwarded-for': randomAddress() } });

/** The code of the current step, or of one `steps` away. */
export function codeOf(service: TestPakhus, secret: string, stepsAway = 0): string {
  const step = Math.floor(service.pakhus.deps.clock() / stepMs) + stepsAway;
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac('sha1', fromBase32(secret)).update(counter).digest();
  const offset = (digest.at(-1) ?? 0) & 0xf;
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

/** A code that is wrong now and stays wrong for the next steps. */
export function wrongCodeOf(service: TestPakhus, secret: string): string {
  const right = [-2, -1, 0, 1, 2, 3].map((away) => codeOf(service, secret, away));
  for (let guess = 0; ; guess += 1) {
    const code = String(guess).padStart(6, '0');
    if (!right.includes(code)) return code;
  }
}

/** Moves the service's clock to the start of a step, so that the step does not change under a test. */
export function alignToStep(service: TestPakhus, stepsMore = 0): void {
  const now = service.pakhus.deps.clock();
  service.advance(stepMs - (now % stepMs) + stepsMore * stepMs);
}

function fromBase32(text: string): Buffer {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = [...text].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/** Logs in and switches two-factor login on. */
export async function guard(service: TestPakhus, account: Account): Promise<Guarded> {
  const session = await sessionOf(service.api, account.email, account.password);
  const enrolled = await service.api.post('/auth/2fa/enroll', session);
  expect(enrolled.status, enrolled.text).toBe(200);
  const { secret } = enrolled.body;
  const activated = await service.api.post('/auth/2fa/activate', session, { code: codeOf(service, secret) });
  expect(activated.status, activated.text).toBe(200);
  return { ...account, session, secret, recoveryCodes: activated.body.recovery_codes };
}

export async function challengeOf(api: Api, { email, password }: Account): Promise<string> {
  const reply = await logIn(api, email, password);
  expect(reply.status, reply.text).toBe(200);
  expect(reply.body.two_factor_required, reply.text).toBe(true);
  return reply.body.challenge_token;
}

export const answer = (api: Api, challenge: string, code: string): Promise<Reply> =>
  post(api, '/auth/2fa/login', { challenge_token: challenge, code });
