// New passwords: by the old one, by a link that was mailed, and by the operator.
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
  holdAccount,
  passwordFailures,
  sessionFailures,
  stampAs,
} from './accounts.session.ts';
import {
  type AccountRow,
  deleteReset,
  deleteResets,
  deleteSessions,
  emailKeyOf,
  endDevices,
  findAccount,
  findAccountByEmail,
  findReset,
  insertReset,
  updatePassword,
} from './accounts.sql.ts';
import { deleteChallenges } from './accounts.two-factor.sql.ts';

const resetMs = 15 * 60_000;
const resetTokenBytes = 32;
/** Nobody's mailbox is flooded, whatever addresses the requests come from. */
const mailPolicy: Policy = { max: 20, windowMs: resetMs };

export const resetQueue = 'auth.forgot_password';

/** All that the request knows; whether there is such an account is found out after it was answered. */
export interface ResetRequest {
  readonly email: string;
  readonly page: string;
  /** Nothing but the request's Host header said where the page is. */
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
  const turn = hashQueueOfAccount(session.accountId);
  const [known] = await deps.db.read<AccountRow>(findAccount(session.accountId));
  const right = await deps.passwords.verify(turn, input.currentPassword, known?.password_hash ?? null, () =>
    countAttempt(deps, failures),
  );
  if (!right) throw wrongPassword();
  const passwordHash = await deps.passwords.hash(turn, input.newPassword);
  await deps.db.transaction(async (tx) => {
    const account = await holdAccount(tx, session.accountId);
    // Of two changes at once, the second one does not know the current password any more.
    if (!account || account.password_hash !== known?.password_hash) throw wrongPassword();
    await setPassword(tx, account.id, passwordHash, session.jti);
    await recordAudit(tx, audit, aboutAccount(account.id));
  });
  await forgetFailures(deps, failures);
  await forgetFailures(deps, passwordFailures(session.email, null));
}

/** Everything that the old password has opened ends, but for the one session that is kept; without one, also devices. */
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

/**
 * Does the same for every address, known or not: it leaves a note for the worker. The account is looked up
 * there, so that neither the answer nor its time can tell.
 */
export async function requestReset(deps: Deps, email: string, call: Call, audit: AuditStamp): Promise<void> {
  const bucket = `forgot:${sha256(emailKeyOf(email)).toString('base64url')}`;
  const verdict = await deps.limiter.consume(bucket, mailPolicy);
  if (!verdict.allowed) return;
  const configured = configuredPage(deps.settings);
  const page = configured ?? `${call.origin}${resetPath}`;
  const request: ResetRequest = { email, page, followsHost: configured === null, audit };
  await deps.db.transaction((tx) => deps.queue.send(tx, resetQueue, newId(), request));
}

/** Where the service has a page for it itself. */
export const resetPath = '/console/reset-password';

/** Null where only a Host header could say where the page is. */
const configuredPage = ({ RESET_URL, PUBLIC_URL }: Settings): string | null =>
  RESET_URL ?? (PUBLIC_URL === null ? null : `${PUBLIC_URL}${resetPath}`);

/**
 * A process that mails knows the address of the page, or it would not have started: what it knows counts before a Host
 * header that another process was sent.
 */
export async function mailReset(deps: Deps, { email, audit, ...request }: ResetRequest): Promise<void> {
  const page = (request.followsHost ? configuredPage(deps.settings) : null) ?? request.page;
  const token = randomToken(resetTokenBytes);
  const expiresAtMs = deps.clock() + resetMs;
  if (!URL.canParse(page)) {
    deps.log.warn({ page }, 'no reset link can be made from this address: set PUBLIC_URL or RESET_URL');
    return;
  }
  const [known] = await deps.db.read<AccountRow>(findAccountByEmail(email));
  if (!known) return;
  await deps.db.transaction(async (tx) => {
    const account = await holdAccount(tx, known.id);
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

/** The second factor stays as it is: a mailbox is no authenticator. */
export async function resetPassword(
  deps: Deps,
  input: { readonly token: string; readonly newPassword: string },
  audit: AuditStamp,
): Promise<void> {
  const tokenHash = sha256(input.token);
  // Looked up before the costly hash, so that guesses cost us little.
  const [reset] = await deps.db.read<{ account_id: string }>(findReset(tokenHash, isoOf(deps.clock())));
  if (!reset) throw deadLink();
  const passwordHash = await deps.passwords.hash(hashQueueOfAccount(reset.account_id), input.newPassword);
  const account = await deps.db.transaction(async (tx) => {
    const held = await holdAccount(tx, reset.account_id);
    const [mine] = await tx.query(deleteReset(tokenHash));
    if (!held || !mine) throw deadLink();
    await setPassword(tx, held.id, passwordHash, null);
    await recordAudit(tx, stampAs(held, audit), aboutAccount(held.id));
    return held;
  });
  await forgetFailures(deps, passwordFailures(account.email, null));
}

/** Not a 401: the session is as good as it was. */
const wrongPassword = () =>
  invalid(422, [{ path: 'currentPassword', message: 'is not the current password', code: 'wrong' }]);

const deadLink = () =>
  invalid(422, [
    { path: 'token', message: 'is wrong, has expired or has been used: ask for a new link', code: 'dead' },
  ]);
