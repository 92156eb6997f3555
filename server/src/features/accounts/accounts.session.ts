// Sessions of accounts, and what every change of an account has in common.
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
import { type AccountRow, emailKeyOf, findAccount, insertSession, lockAccount } from './accounts.sql.ts';

const windowMs = 15 * 60_000;

/** Where failures are counted, and how many are too many. */
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
 * Client addresses can be forged, so failures are counted for each account as well; those of a browser that has logged
 * in before are counted apart, or strangers could lock its owner out.
 */
export const passwordFailures = (email: string, known: Device | null): Failures =>
  known
    ? ofDevice(`account-device:${known.deviceId}`)
    : ofAccount(`account:${sha256(emailKeyOf(email)).toString('base64url')}`);

export const codeFailures = (accountId: string, known: Device | null): Failures =>
  known ? ofDevice(`account-code-device:${known.deviceId}`) : ofAccount(`account-code:${accountId}`);

/** Of a session that must show more than itself: no stranger has one, and none counts against another. */
export const sessionFailures = (what: 'password' | 'code', { jti }: Session): Failures =>
  ofAccount(`session-${what}:${jti}`);

/** The browser, if it has logged in to this account before and no password reset has come between. */
export const knownDevice = (
  device: Device | null,
  account: Pick<AccountRow, 'id' | 'device_generation'> | undefined,
): Device | null =>
  device && device.accountId === account?.id && device.generation === account.device_generation
    ? device
    : null;

/** Counts an attempt before it is judged, when its turn has come; whoever succeeds resets the count. */
export async function countAttempt(deps: Deps, { bucket, policy, refusal }: Failures): Promise<void> {
  await countUse(deps, bucket, policy, refusal);
}

export const forgetFailures = ({ limiter }: Deps, { bucket }: Failures): Promise<void> =>
  limiter.reset(bucket);

/** The account as it is now and will be until the transaction ends; null when it is gone. */
export async function holdAccount(tx: Transaction, accountId: string): Promise<AccountRow | null> {
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

async function keepSession(tx: Transaction, signed: SignedToken, accountId: string): Promise<void> {
  await tx.query(insertSession(signed.jti, accountId, isoOf(signed.expiresAtMs)));
}

/** What a login gives to the browser: a session, and a cookie to be known by the next time. */
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
  await keepSession(tx, session, account.id);
  const known = knownDevice(device, account);
  return { session, deviceCookie: deps.devices.issue(account.id, account.device_generation, known) };
}

export function refuseInactiveProject(account: AccountRow): void {
  if (account.project_active !== false) return;
  throw projectInactive();
}

/** Who acts where nobody is logged in yet: the account itself. */
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
