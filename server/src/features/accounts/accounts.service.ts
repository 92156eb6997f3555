// Accounts of the admin and of projects: login, logout and creation.
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
  knownDevice,
  type LoggedIn,
  lockAndReadAccount,
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
  deleteSessions,
  endDevices,
  findAccount,
  findAccountByEmail,
  insertAccount,
  lockAccount,
  lockAdmins,
  updateAccountEmail,
} from './accounts.sql.ts';
import { deleteChallenges } from './accounts.two-factor.sql.ts';
import { openChallenge } from './accounts.two-factor.ts';

/** The right password gives a session, or a challenge if two-factor login is on. */
export type LoginOutcome =
  | ({ readonly kind: 'session' } & LoggedIn)
  | { readonly kind: 'challenge'; readonly challenge: SignedToken };

export async function logIn(
  deps: Deps,
  input: { readonly email: string; readonly password: string },
  call: Pick<Call, 'addresses' | 'device'>,
  audit: AuditStamp,
): Promise<LoginOutcome> {
  const verified = await verifyPassword(deps, input, call, audit);
  return deps.db.transaction(async (tx) => {
    const account = await lockAndReadAccount(tx, verified.id);
    // The password may have changed while it was being verified.
    if (account?.password_hash !== verified.password_hash) throw wrongPassword();
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

/** Takes the same time whether or not the account exists. */
async function verifyPassword(
  deps: Deps,
  input: { readonly email: string; readonly password: string },
  call: Pick<Call, 'addresses' | 'device'>,
  audit: AuditStamp,
): Promise<AccountRow> {
  // Read first: if the database is down, the attempt must not count as a failure.
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

const wrongPassword = () => new PakhusError('UNAUTHORIZED', 'E-mail or password is wrong: check both');

export async function logOut(deps: Deps, session: Session, audit: AuditStamp): Promise<void> {
  await deps.db.transaction(async (tx) => {
    await tx.query(deleteSession(session.jti));
    await recordAudit(tx, audit, aboutAccount(session.accountId));
  });
}

/** Locks the account first: a login at the same time either ends here too, or happens afterwards. */
export async function logOutEverywhere(deps: Deps, { accountId }: Session, audit: AuditStamp): Promise<void> {
  await deps.db.transaction(async (tx) => {
    await tx.query(lockAccount(accountId));
    const ended = await tx.query(deleteSessions(accountId, null));
    await tx.query(deleteChallenges(accountId));
    await tx.query(endDevices(accountId));
    await recordAudit(tx, audit, aboutAccount(accountId, { everywhere: true, sessions: ended.length }));
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
  // Reset links sent to the old address must not work any more.
  await tx.query(deleteResetsOfProject(projectId));
}

/** Creates the admin if there is none. Resolves to the password if it was generated, to be shown once. */
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
  throw new PakhusError('CONFLICT', 'An account with this e-mail exists already: choose another e-mail', {
    details: { field: 'email' },
  });
}
