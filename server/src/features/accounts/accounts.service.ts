// Accounts of the admin and of projects: logging in and out.
import type { Session } from '../../contract/actor.ts';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Call } from '../../contract/call.ts';
import type { Deps } from '../../contract/deps.ts';
import type { SignedToken } from '../../contract/token.ts';
import { madeUpPassword } from '../../kernel/crypto/secret.ts';
import { PakhusError } from '../../kernel/error.ts';
import {
  brokenConstraint,
  type Database,
  type Queryable,
  type Transaction,
} from '../../platform/db/postgres.ts';
import {
  hashQueueOfAccount,
  hashQueueOfOperator,
  hashQueueOfStrangers,
  type Passwords,
} from '../../platform/passwords.ts';
import { recordAudit, withAction } from '../audit/audit.service.ts';
import {
  aboutAccount,
  countAttempt,
  forgetFailures,
  holdAccount,
  knownDevice,
  type LoggedIn,
  openSession,
  passwordFailures,
  refuseInactiveProject,
  stampAs,
} from './accounts.session.ts';
import {
  type AccountRow,
  countAdmins,
  deleteResetsOfProject,
  deleteSession,
  findAccount,
  findAccountByEmail,
  insertAccount,
  lockAdmins,
  updateAccountEmail,
} from './accounts.sql.ts';
import { openChallenge } from './accounts.two-factor.ts';

/** What a right password leads to: a session, or the question for the second factor. */
export type LoginOutcome =
  | ({ readonly kind: 'session' } & LoggedIn)
  | { readonly kind: 'challenge'; readonly challenge: SignedToken };

export async function logIn(
  deps: Deps,
  input: { readonly email: string; readonly password: string },
  call: Pick<Call, 'addresses' | 'device'>,
  audit: AuditStamp,
): Promise<LoginOutcome> {
  const proven = await provePassword(deps, input, call, audit);
  return deps.db.transaction(async (tx) => {
    const account = await holdAccount(tx, proven.id);
    // While the old password was being proved, a new one may have ended what it opens.
    if (account?.password_hash !== proven.password_hash) throw wrongPassword();
    refuseInactiveProject(account);
    if (account.two_factor_enabled) {
      const challenge = await openChallenge(deps, tx, account);
      await recordAudit(tx, stampAs(account, audit), aboutAccount(account.id, { two_factor_required: true }));
      return { kind: 'challenge', challenge };
    }
    const opened = await openSession(deps, tx, account, call.device);
    const stamp = { ...stampAs(account, audit), actorKeyId: opened.session.jti };
    await recordAudit(tx, stamp, aboutAccount(account.id));
    return { kind: 'session', ...opened };
  });
}

/** Takes the same work and the same way whether or not the account exists. */
async function provePassword(
  deps: Deps,
  input: { readonly email: string; readonly password: string },
  call: Pick<Call, 'addresses' | 'device'>,
  audit: AuditStamp,
): Promise<AccountRow> {
  // Before it is counted: an attempt that the database could not answer is no failure of its owner.
  const [account] = await deps.db.read<AccountRow>(findAccountByEmail(input.email));
  const known = knownDevice(call.device, account);
  const failures = passwordFailures(input.email, known);
  const turn = known ? hashQueueOfAccount(known.accountId) : hashQueueOfStrangers(call.addresses);
  const right = await deps.passwords.verify(turn, input.password, account?.password_hash ?? null, () =>
    countAttempt(deps, failures),
  );
  if (!account || !right) {
    const stamp = withAction(account ? stampAs(account, audit) : audit, 'auth.login_failed');
    deps.auditQueue.add(stamp, {
      resourceType: 'account',
      resourceId: account?.id ?? null,
      metadata: { email: input.email },
    });
    throw wrongPassword();
  }
  await forgetFailures(deps, failures);
  return account;
}

const wrongPassword = () => new PakhusError('UNAUTHORIZED', 'E-mail or password is wrong');

export async function logOut(deps: Deps, session: Session, audit: AuditStamp): Promise<void> {
  await deps.db.transaction(async (tx) => {
    await tx.query(deleteSession(session.jti));
    await recordAudit(tx, audit, aboutAccount(session.accountId));
  });
}

export async function describeSession(deps: Deps, session: Session) {
  const [account] = await deps.db.read<AccountRow>(findAccount(session.accountId));
  return {
    role: account?.project_id ? ('project' as const) : ('admin' as const),
    id: account?.project_id ?? session.accountId,
    email: session.email,
    name: account?.project_name ?? null,
    project_id: account?.project_id ?? null,
    two_factor_enabled: account?.two_factor_enabled ?? false,
    expires_at: session.expiresAt,
  };
}

export async function addAccount(
  tx: Transaction,
  projectId: string,
  email: string,
  passwordHash: string,
): Promise<void> {
  await tx.query(insertAccount(projectId, email, passwordHash)).catch(explainTakenEmail);
}

export async function changeAccountEmail(tx: Transaction, projectId: string, email: string): Promise<void> {
  await tx.query(updateAccountEmail(projectId, email)).catch(explainTakenEmail);
  // Links that went to the old address open nothing any more.
  await tx.query(deleteResetsOfProject(projectId));
}

/**
 * Creates the admin on an installation that has none. Resolves to the password when it had to be made up, so
 * that it can be shown this once.
 */
export async function ensureAdmin(
  db: Database,
  passwords: Passwords,
  email: string,
  password: string | null,
): Promise<string | null> {
  if (await hasAdmin(db)) return null;
  const chosen = password ?? madeUpPassword();
  const passwordHash = await passwords.hash(hashQueueOfOperator, chosen);
  return db.transaction(async (tx) => {
    await tx.query(lockAdmins);
    if (await hasAdmin(tx)) return null;
    await tx.query(insertAccount(null, email, passwordHash));
    return password === null ? chosen : null;
  });
}

async function hasAdmin(db: Queryable): Promise<boolean> {
  const [count] = await db.query<{ admins: number }>(countAdmins);
  return (count?.admins ?? 0) > 0;
}

function explainTakenEmail(error: unknown): never {
  if (brokenConstraint(error) !== 'accounts_email_unique') throw error;
  throw new PakhusError('CONFLICT', 'An account with this e-mail exists already', {
    details: { field: 'email' },
  });
}
