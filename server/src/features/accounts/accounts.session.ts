// Sessions of accounts, limits on failed logins, and helpers for changes to an account.
import type { Session } from '../../contract/actor.ts';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import { projectInactive } from '../../contract/refusals.ts';
import type { SignedToken } from '../../contract/token.ts';
import { isoOf } from '../../kernel/clock.ts';
import type { Device } from '../../kernel/crypto/device-cookie.ts';
import { sha256 } from '../../kernel/crypto/secret.ts';
import type { Transaction } from '../../platform/db/postgres.ts';
import { countUse } from '../../platform/limits/count-use.ts';
import type { Policy } from '../../platform/limits/limiter.ts';
import { type AccountRow, findAccount, insertSession, lockAccount, toEmailKey } from './accounts.sql.ts';

const windowMs = 15 * 60_000;

/** A bucket of failures, its limit, and the message when it is full. */
export interface Failures {
  readonly bucket: string;
  readonly policy: Policy;
  readonly refusal: string;
}

const ofAccount = (bucket: string): Failures => ({
  bucket,
  policy: { max: 20, windowMs },
  refusal: 'Too many failed attempts for this account',
});

const ofDevice = (bucket: string): Failures => ({
  bucket,
  policy: { max: 10, windowMs },
  refusal: 'Too many failed attempts from this browser',
});

/**
 * Counted per account as well, because client addresses can be forged. Known devices have their own bucket, so that
 * attackers cannot lock out the owner.
 */
export const passwordFailures = (email: string, known: Device | null): Failures =>
  known
    ? ofDevice(`account-device:${known.deviceId}`)
    : ofAccount(`account:${sha256(toEmailKey(email)).toString('base64url')}`);

export const codeFailures = (accountId: string, known: Device | null): Failures =>
  known ? ofDevice(`account-code-device:${known.deviceId}`) : ofAccount(`account-code:${accountId}`);

/** For a logged-in session that must prove its password or code: each session has its own bucket. */
export const sessionFailures = (what: 'password' | 'code', { jti }: Session): Failures =>
  ofAccount(`session-${what}:${jti}`);

/** The device, if it has logged in to this account since the last password reset or logout everywhere. */
export const knownDevice = (
  device: Device | null,
  account: Pick<AccountRow, 'id' | 'device_generation'> | undefined,
): Device | null =>
  device && device.accountId === account?.id && device.generation === account.device_generation
    ? device
    : null;

/** Counts an attempt before it is verified; success resets the count. */
export async function countAttempt(deps: Deps, { bucket, policy, refusal }: Failures): Promise<void> {
  await countUse(deps, bucket, policy, refusal);
}

export const forgetFailures = ({ limiter }: Deps, { bucket }: Failures): Promise<void> =>
  limiter.reset(bucket);

/** Locks and reads the account; null if it was deleted. */
export async function lockAndReadAccount(tx: Transaction, accountId: string): Promise<AccountRow | null> {
  await tx.query(lockAccount(accountId));
  const [account] = await tx.query<AccountRow>(findAccount(accountId));
  return account ?? null;
}

function signSession(deps: Deps, account: AccountRow): SignedToken {
  return deps.tokens.sign({
    sub: account.project_id ?? account.id,
    role: account.project_id === null ? 'admin' : 'project',
    pid: account.project_id,
    ttlMs: deps.settings.JWT_EXPIRES_IN,
  });
}

async function insertSessionRow(tx: Transaction, signed: SignedToken, accountId: string): Promise<void> {
  await tx.query(insertSession(signed.jti, accountId, isoOf(signed.expiresAtMs)));
}

/** The result of a login: a session, and a cookie that identifies the device next time. */
export interface LoggedIn {
  readonly session: SignedToken;
  readonly deviceCookie: string;
}

export async function openSession(
  deps: Deps,
  tx: Transaction,
  account: AccountRow,
  device: Device | null,
): Promise<LoggedIn> {
  const session = signSession(deps, account);
  await insertSessionRow(tx, session, account.id);
  const known = knownDevice(device, account);
  return { session, deviceCookie: deps.devices.issue(account.id, account.device_generation, known) };
}

export function refuseInactiveProject(account: AccountRow): void {
  if (account.project_active !== false) return;
  throw projectInactive();
}

/** Before login, the account itself is the actor. */
export const stampAs = (account: AccountRow, audit: AuditStamp): AuditStamp => ({
  ...audit,
  projectId: account.project_id,
  actorType: account.project_id === null ? 'admin' : 'project',
  actorId: account.project_id ?? account.id,
});

export const aboutAccount = (accountId: string, metadata: Readonly<Record<string, unknown>> = {}) => ({
  resourceType: 'account',
  resourceId: accountId,
  metadata,
});
