// The second factor of an account: enrolling it, asking for it at login, and letting go of it.
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
  holdAccount,
  knownDevice,
  type LoggedIn,
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
    await holdAccount(tx, session.accountId);
    const [pending] = await tx.query(upsertPending(session.accountId, keyId, bytes));
    if (!pending) throw alreadyEnabled();
    await recordAudit(tx, audit, aboutAccount(session.accountId));
  });
  return { otpauth_url: url, secret };
}

/** Resolves to the recovery codes, which nobody can ever read again. */
export async function activate(
  deps: Deps,
  session: Session,
  code: string,
  audit: AuditStamp,
): Promise<string[]> {
  const codes = Array.from({ length: recoveryCodeCount }, newRecoveryCode);
  await deps.db.transaction(async (tx) => {
    await holdAccount(tx, session.accountId);
    const [row] = await tx.query<TwoFactorRow>(findTwoFactor(session.accountId));
    if (!row) throw new PakhusError('CONFLICT', 'There is nothing to activate: enroll first');
    if (row.activated_at !== null) throw alreadyEnabled();
    if (stepOf(deps, row, code) === null) throw wrongCode();
    await tx.query(markActivated(session.accountId));
    await tx.query(insertRecoveryCodes(session.accountId, codes.map(recoveryCodeHash)));
    await recordAudit(tx, audit, aboutAccount(session.accountId));
  });
  return codes;
}

/** A session alone does not get rid of the second factor: whoever holds it must show the factor itself. */
export async function disable(deps: Deps, session: Session, code: string, audit: AuditStamp): Promise<void> {
  const { accountId } = session;
  // Before it is counted: where there is nothing to disable, no code is wrong.
  if (!(await isEnabled(deps, session))) throw notEnabled();
  const failures = sessionFailures('code', session);
  await countAttempt(deps, failures);
  const right = await deps.db.transaction(async (tx) => {
    await holdAccount(tx, accountId);
    const [row] = await tx.query<TwoFactorRow>(findTwoFactor(accountId));
    if (!row || row.activated_at === null) throw notEnabled();
    // The step is not claimed: the code that has just logged in may also switch the factor off.
    if (stepOf(deps, row, code) === null && !(await useRecoveryCode(tx, accountId, code))) return false;
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

/** The token proves that the password was right, and is good for the second step alone. */
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
  if (claims?.role !== '2fa_challenge') throw deadChallenge();
  const accountId = claims.sub;
  const failures = codeFailures(accountId, await knownOf(deps, accountId, device));
  await countAttempt(deps, failures);
  // A wrong code must stay counted: its transaction commits, and the refusal follows.
  const outcome = await deps.db.transaction((tx) => attempt(deps, tx, claims, input.code, device, audit));
  if ('refused' in outcome) {
    noteWrongCode(deps, stampAs(outcome.refused, audit), accountId, 'login');
    throw new PakhusError('UNAUTHORIZED', 'The code is wrong or has been used');
  }
  await forgetFailures(deps, failures);
  return outcome;
}

/** The account is only looked up for a browser that may be known. */
async function knownOf(deps: Deps, accountId: string, device: Device | null): Promise<Device | null> {
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
  const account = await holdAccount(tx, accountId);
  const [claimed] = await tx.query(claimChallenge(jti, accountId, wrongCodesMax));
  if (!account || !claimed) throw deadChallenge();
  refuseInactiveProject(account);
  const method = await useCode(deps, tx, accountId, code);
  if (method === null) return { refused: account };
  await tx.query(deleteChallenge(jti));
  const opened = await openSession(deps, tx, account, device);
  const stamp = { ...stampAs(account, audit), actorKeyId: opened.session.jti };
  await recordAudit(tx, stamp, aboutAccount(accountId, { method }));
  return opened;
}

/** Uses a code up; null when it is wrong or somebody was quicker. */
async function useCode(
  deps: Deps,
  tx: Transaction,
  accountId: string,
  code: string,
): Promise<'totp' | 'recovery_code' | null> {
  const [row] = await tx.query<TwoFactorRow>(findTwoFactor(accountId));
  if (!row) return null;
  const step = stepOf(deps, row, code);
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

function stepOf(deps: Deps, row: TwoFactorRow, code: string): number | null {
  const secret = openSecret(deps, row);
  // Apps show a code in two groups, and people type the gap.
  return secret === null ? null : findTotpStep(secret, code.replace(/\s/g, ''), deps.clock());
}

/** Null when its key is lost; recovery codes and the command line still let the account in. */
export function openSecret(deps: Deps, row: TwoFactorRow): string | null {
  const sealed = { keyId: row.key_id, bytes: row.sealed_secret };
  const secret = deps.sealer.open(sealed, secretPurpose(row.account_id));
  if (secret === null) {
    deps.log.error(
      { account: row.account_id, key: row.key_id },
      'no known ENCRYPTION_KEY opens a two-factor secret: set ENCRYPTION_KEY_PREVIOUS to the one that sealed it',
    );
  }
  return secret;
}

export const secretPurpose = (accountId: string): string => `totp:${accountId}`;

function noteWrongCode(deps: Deps, stamp: AuditStamp, accountId: string, at: 'login' | 'disable'): void {
  deps.auditQueue.add(withAction(stamp, 'auth.login_failed'), aboutAccount(accountId, { two_factor: at }));
}

const deadChallenge = () =>
  new PakhusError('UNAUTHORIZED', 'The challenge is over: log in with your password again');

/** Not a 401: the session is as good as it was. */
const wrongCode = () => invalid(422, [{ path: 'code', message: 'is wrong or too old', code: 'wrong' }]);

const alreadyEnabled = () =>
  new PakhusError('CONFLICT', 'Two-factor login is enabled already: disable it first');

const notEnabled = () => new PakhusError('CONFLICT', 'Two-factor login is not enabled');
