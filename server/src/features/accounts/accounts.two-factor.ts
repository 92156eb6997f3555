// Two-factor login: enrolling, activating, logging in with a code, disabling.
import type { Session } from '../../contract/actor.ts';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import type { Claims, SignedToken } from '../../contract/token.ts';
import { isoOf } from '../../kernel/clock.ts';
import type { Device } from '../../kernel/crypto/device-cookie.ts';
import { newRecoveryCode, recoveryCodeHash } from '../../kernel/crypto/recovery-code.ts';
import { findTotpStep, newTotpSecret } from '../../kernel/crypto/totp.ts';
import { invalid, PakhusError } from '../../kernel/error.ts';
import type { Transaction } from '../../platform/db/postgres.ts';
import { recordAudit, withAction } from '../audit/audit.service.ts';
import {
  aboutAccount,
  codeFailures,
  countAttempt,
  forgetFailures,
  knownDevice,
  type LoggedIn,
  lockAndReadAccount,
  openSession,
  refuseInactiveProject,
  sessionFailures,
  stampAs,
} from './accounts.session.ts';
import { type AccountRow, findAccount } from './accounts.sql.ts';
import {
  claimChallenge,
  claimStep,
  deleteChallenge,
  deleteChallenges,
  deleteRecoveryCode,
  deleteTwoFactor,
  findTwoFactor,
  insertChallenge,
  insertRecoveryCodes,
  markActivated,
  type TwoFactorRow,
  upsertPending,
} from './accounts.two-factor.sql.ts';

const challengeMs = 5 * 60_000;
const wrongCodesMax = 5;
const recoveryCodeCount = 10;

export async function enroll(deps: Deps, session: Session, audit: AuditStamp) {
  const { secret, url } = newTotpSecret(session.email);
  const { keyId, bytes } = deps.sealer.seal(secret, secretPurpose(session.accountId));
  await deps.db.transaction(async (tx) => {
    await lockAndReadAccount(tx, session.accountId);
    const [pending] = await tx.query(upsertPending(session.accountId, keyId, bytes));
    if (!pending) throw alreadyEnabled();
    await recordAudit(tx, audit, aboutAccount(session.accountId));
  });
  return { otpauth_url: url, secret };
}

/** Resolves to the recovery codes, which are shown only once. */
export async function activate(
  deps: Deps,
  session: Session,
  code: string,
  audit: AuditStamp,
): Promise<string[]> {
  const codes = Array.from({ length: recoveryCodeCount }, newRecoveryCode);
  await deps.db.transaction(async (tx) => {
    await lockAndReadAccount(tx, session.accountId);
    const [row] = await tx.query<TwoFactorRow>(findTwoFactor(session.accountId));
    if (!row)
      throw new PakhusError('CONFLICT', 'Two-factor login is not enrolled: call POST /auth/2fa/enroll first');
    if (row.activated_at !== null) throw alreadyEnabled();
    if (findStep(deps, row, code) === null) throw wrongCode();
    await tx.query(markActivated(session.accountId));
    await tx.query(insertRecoveryCodes(session.accountId, codes.map(recoveryCodeHash)));
    await recordAudit(tx, audit, aboutAccount(session.accountId));
  });
  return codes;
}

/** Requires a code: a stolen session must not be able to disable the second factor. */
export async function disable(deps: Deps, session: Session, code: string, audit: AuditStamp): Promise<void> {
  const { accountId } = session;
  // Before the attempt is counted: without a second factor, no code is wrong.
  if (!(await isEnabled(deps, session))) throw notEnabled();
  const failures = sessionFailures('code', session);
  await countAttempt(deps, failures);
  const right = await deps.db.transaction(async (tx) => {
    await lockAndReadAccount(tx, accountId);
    const [row] = await tx.query<TwoFactorRow>(findTwoFactor(accountId));
    if (!row || row.activated_at === null) throw notEnabled();
    // Does not claim the step, so that the code that has just logged in also works here.
    if (findStep(deps, row, code) === null && !(await useRecoveryCode(tx, accountId, code))) return false;
    await tx.query(deleteChallenges(accountId));
    await tx.query(deleteTwoFactor(accountId));
    await recordAudit(tx, audit, aboutAccount(accountId));
    return true;
  });
  if (!right) {
    noteWrongCode(deps, audit, accountId, 'disable');
    throw wrongCode();
  }
  await forgetFailures(deps, failures);
}

export async function isEnabled(deps: Deps, session: Session): Promise<boolean> {
  const [row] = await deps.db.read<TwoFactorRow>(findTwoFactor(session.accountId));
  return row !== undefined && row.activated_at !== null;
}

/** The token proves that the password was right. It is only good for the second step. */
export async function openChallenge(deps: Deps, tx: Transaction, account: AccountRow): Promise<SignedToken> {
  const challenge = deps.tokens.sign({
    sub: account.id,
    role: '2fa_challenge',
    pid: account.project_id,
    ttlMs: challengeMs,
  });
  await tx.query(insertChallenge(challenge.jti, account.id, isoOf(challenge.expiresAtMs)));
  return challenge;
}

export async function logInWithCode(
  deps: Deps,
  input: { readonly challenge_token: string; readonly code: string },
  device: Device | null,
  audit: AuditStamp,
): Promise<LoggedIn> {
  const claims = deps.tokens.verify(input.challenge_token);
  if (claims?.role !== '2fa_challenge') throw challengeEnded();
  const accountId = claims.sub;
  const failures = codeFailures(accountId, await findKnownDevice(deps, accountId, device));
  await countAttempt(deps, failures);
  // Returned rather than thrown: the transaction must commit, to count the wrong code.
  const outcome = await deps.db.transaction((tx) => attempt(deps, tx, claims, input.code, device, audit));
  if ('refused' in outcome) {
    noteWrongCode(deps, stampAs(outcome.refused, audit), accountId, 'login');
    throw new PakhusError('UNAUTHORIZED', 'The code is wrong or has been used: enter the next one');
  }
  await forgetFailures(deps, failures);
  return outcome;
}

/** Looks the account up only if the device claims to belong to it. */
async function findKnownDevice(deps: Deps, accountId: string, device: Device | null): Promise<Device | null> {
  if (device?.accountId !== accountId) return null;
  const [account] = await deps.db.read<AccountRow>(findAccount(accountId));
  return knownDevice(device, account);
}

async function attempt(
  deps: Deps,
  tx: Transaction,
  { sub: accountId, jti }: Claims,
  code: string,
  device: Device | null,
  audit: AuditStamp,
): Promise<LoggedIn | { refused: AccountRow }> {
  const account = await lockAndReadAccount(tx, accountId);
  const [claimed] = await tx.query(claimChallenge(jti, accountId, wrongCodesMax));
  if (!account || !claimed) throw challengeEnded();
  refuseInactiveProject(account);
  const method = await useCode(deps, tx, accountId, code);
  if (method === null) return { refused: account };
  await tx.query(deleteChallenge(jti));
  const opened = await openSession(deps, tx, account, device);
  const stamp = { ...stampAs(account, audit), actorKeyId: opened.session.jti };
  await recordAudit(tx, stamp, aboutAccount(accountId, { method }));
  return opened;
}

/** Consumes a code; null if it is wrong or was used already. */
async function useCode(
  deps: Deps,
  tx: Transaction,
  accountId: string,
  code: string,
): Promise<'totp' | 'recovery_code' | null> {
  const [row] = await tx.query<TwoFactorRow>(findTwoFactor(accountId));
  if (!row) return null;
  const step = findStep(deps, row, code);
  if (step !== null) {
    const [first] = await tx.query(claimStep(accountId, step));
    return first ? 'totp' : null;
  }
  return (await useRecoveryCode(tx, accountId, code)) ? 'recovery_code' : null;
}

async function useRecoveryCode(tx: Transaction, accountId: string, code: string): Promise<boolean> {
  const [used] = await tx.query(deleteRecoveryCode(accountId, recoveryCodeHash(code)));
  return used !== undefined;
}

function findStep(deps: Deps, row: TwoFactorRow, code: string): number | null {
  const secret = openSecret(deps, row);
  // Apps show the code in two groups, and people type the space.
  return secret === null ? null : findTotpStep(secret, code.replace(/\s/g, ''), deps.clock());
}

/** Null if the key is lost; recovery codes and the command line still work. */
export function openSecret(deps: Deps, row: TwoFactorRow): string | null {
  const sealed = { keyId: row.key_id, bytes: row.sealed_secret };
  const secret = deps.sealer.open(sealed, secretPurpose(row.account_id));
  if (secret === null) {
    deps.log.error(
      { account: row.account_id, key: row.key_id },
      'no known ENCRYPTION_KEY decrypts a two-factor secret: set ENCRYPTION_KEY_PREVIOUS to the key that encrypted it',
    );
  }
  return secret;
}

export const secretPurpose = (accountId: string): string => `totp:${accountId}`;

function noteWrongCode(deps: Deps, stamp: AuditStamp, accountId: string, at: 'login' | 'disable'): void {
  deps.auditQueue.add(withAction(stamp, 'auth.login_failed'), aboutAccount(accountId, { two_factor: at }));
}

const challengeEnded = () =>
  new PakhusError('UNAUTHORIZED', 'The challenge has expired: log in with your password again');

/** Not a 401: the session is still valid. */
const wrongCode = () =>
  invalid(422, [{ path: 'code', message: 'is wrong or too old: enter the current code', code: 'wrong' }]);

const alreadyEnabled = () =>
  new PakhusError('CONFLICT', 'Two-factor login is enabled already: disable it first');

const notEnabled = () =>
  new PakhusError('CONFLICT', 'Two-factor login is not enabled: there is nothing to disable');
