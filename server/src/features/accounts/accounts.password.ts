// Sets new passwords: with the old one, with a mailed link, or by the operator.
import type { Session } from '../../contract/actor.ts';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Call } from '../../contract/call.ts';
import type { Deps } from '../../contract/deps.ts';
import type { Settings } from '../../contract/settings.ts';
import { isoOf } from '../../kernel/clock.ts';
import { randomToken, sha256 } from '../../kernel/crypto/secret.ts';
import { invalid } from '../../kernel/error.ts';
import { newId } from '../../kernel/id.ts';
import type { Transaction } from '../../platform/db/postgres.ts';
import type { Policy } from '../../platform/limits/limiter.ts';
import { hashQueueOfAccount } from '../../platform/passwords.ts';
import { recordAudit } from '../audit/audit.service.ts';
import { postMail } from '../mail/mail.service.ts';
import { resetMail } from './accounts.mail.ts';
import {
  aboutAccount,
  countAttempt,
  forgetFailures,
  lockAndReadAccount,
  passwordFailures,
  sessionFailures,
  stampAs,
} from './accounts.session.ts';
import {
  type AccountRow,
  deleteReset,
  deleteResets,
  deleteSessions,
  endDevices,
  findAccount,
  findAccountByEmail,
  findReset,
  insertReset,
  toEmailKey,
  updatePassword,
} from './accounts.sql.ts';
import { deleteChallenges } from './accounts.two-factor.sql.ts';

const resetMs = 15 * 60_000;
const resetTokenBytes = 32;
/** Per mailbox, so that nobody can flood it from many addresses. */
const mailPolicy: Policy = { max: 20, windowMs: resetMs };

export const resetQueue = 'auth.forgot_password';

/** The data of the request. The account is looked up after the request has been answered. */
export interface ResetRequest {
  readonly email: string;
  readonly page: string;
  /** The page's address comes from the request's Host header. */
  readonly followsHost: boolean;
  readonly audit: AuditStamp;
}

export async function changePassword(
  deps: Deps,
  session: Session,
  input: { readonly currentPassword: string; readonly newPassword: string },
  audit: AuditStamp,
): Promise<void> {
  const failures = sessionFailures('password', session);
  const queue = hashQueueOfAccount(session.accountId);
  const [known] = await deps.db.read<AccountRow>(findAccount(session.accountId));
  const right = await deps.passwords.verify(queue, input.currentPassword, known?.password_hash ?? null, () =>
    countAttempt(deps, failures),
  );
  if (!right) throw wrongPassword();
  const passwordHash = await deps.passwords.hash(queue, input.newPassword);
  await deps.db.transaction(async (tx) => {
    const account = await lockAndReadAccount(tx, session.accountId);
    // Another change may have replaced the password in the meantime.
    if (!account || account.password_hash !== known?.password_hash) throw wrongPassword();
    await setPassword(tx, account.id, passwordHash, session.jti);
    await recordAudit(tx, audit, aboutAccount(account.id));
  });
  await forgetFailures(deps, failures);
  await forgetFailures(deps, passwordFailures(session.email, null));
}

/** Ends all sessions but `keptJti`, all challenges and reset links; without `keptJti`, known devices as well. */
export async function setPassword(
  tx: Transaction,
  accountId: string,
  passwordHash: string,
  keptJti: string | null,
): Promise<void> {
  await tx.query(updatePassword(accountId, passwordHash));
  await tx.query(deleteSessions(accountId, keptJti));
  await tx.query(deleteChallenges(accountId));
  await tx.query(deleteResets(accountId));
  if (keptJti === null) await tx.query(endDevices(accountId));
}

/** Only queues a job: the worker looks the account up, so that neither answer nor timing reveals whether it exists. */
export async function requestReset(deps: Deps, email: string, call: Call, audit: AuditStamp): Promise<void> {
  const bucket = `forgot:${sha256(toEmailKey(email)).toString('base64url')}`;
  const verdict = await deps.limiter.consume(bucket, mailPolicy);
  if (!verdict.allowed) return;
  const configured = configuredPage(deps.settings);
  const page = configured ?? `${call.origin}${resetPath}`;
  const request: ResetRequest = { email, page, followsHost: configured === null, audit };
  await deps.db.transaction((tx) => deps.queue.send(tx, resetQueue, newId(), request));
}

/** The built-in page. */
export const resetPath = '/console/reset-password';

/** Null if neither RESET_URL nor PUBLIC_URL is set. */
const configuredPage = ({ RESET_URL, PUBLIC_URL }: Settings): string | null =>
  RESET_URL ?? (PUBLIC_URL === null ? null : `${PUBLIC_URL}${resetPath}`);

/** This process's own settings take precedence over the Host header that another process received. */
export async function mailReset(deps: Deps, { email, audit, ...request }: ResetRequest): Promise<void> {
  const page = (request.followsHost ? configuredPage(deps.settings) : null) ?? request.page;
  const token = randomToken(resetTokenBytes);
  const expiresAtMs = deps.clock() + resetMs;
  if (!URL.canParse(page)) {
    deps.log.warn({ page }, 'cannot build a reset link from this address: set PUBLIC_URL or RESET_URL');
    return;
  }
  const [known] = await deps.db.read<AccountRow>(findAccountByEmail(email));
  if (!known) return;
  await deps.db.transaction(async (tx) => {
    const account = await lockAndReadAccount(tx, known.id);
    if (!account) return;
    await tx.query(insertReset(sha256(token), account.id, isoOf(expiresAtMs)));
    await postMail(deps, tx, resetMail(account.email, linkTo(page, token), resetMs / 60_000), expiresAtMs);
    await recordAudit(tx, stampAs(account, audit), aboutAccount(account.id));
  });
}

function linkTo(page: string, token: string): string {
  const link = new URL(page);
  link.searchParams.set('token', token);
  return link.href;
}

/** Two-factor login stays on: access to a mailbox is no second factor. */
export async function resetPassword(
  deps: Deps,
  input: { readonly token: string; readonly newPassword: string },
  audit: AuditStamp,
): Promise<void> {
  const tokenHash = sha256(input.token);
  // Before the expensive hash, so that guessing is cheap for us.
  const [reset] = await deps.db.read<{ account_id: string }>(findReset(tokenHash, isoOf(deps.clock())));
  if (!reset) throw invalidLink();
  const passwordHash = await deps.passwords.hash(hashQueueOfAccount(reset.account_id), input.newPassword);
  const account = await deps.db.transaction(async (tx) => {
    const held = await lockAndReadAccount(tx, reset.account_id);
    const [mine] = await tx.query(deleteReset(tokenHash));
    if (!held || !mine) throw invalidLink();
    await setPassword(tx, held.id, passwordHash, null);
    await recordAudit(tx, stampAs(held, audit), aboutAccount(held.id));
    return held;
  });
  await forgetFailures(deps, passwordFailures(account.email, null));
}

/** Not a 401: the session is still valid. */
const wrongPassword = () =>
  invalid(422, [{ path: 'currentPassword', message: 'is not the current password', code: 'wrong' }]);

const invalidLink = () =>
  invalid(422, [
    { path: 'token', message: 'is wrong, has expired or has been used: request a new link', code: 'dead' },
  ]);
