// Accounts of the admin and of projects: logging in and out.
import type { Session } from '../../contract/actor.ts';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import type { SignedToken } from '../../contract/token.ts';
import { tooMany } from '../../contract/too-many.ts';
import { isoOf } from '../../kernel/clock.ts';
import { PakhusError } from '../../kernel/error.ts';
import { randomToken, sha256 } from '../../kernel/secret.ts';
import {
  brokenConstraint,
  type Database,
  type Queryable,
  type Transaction,
} from '../../platform/db/postgres.ts';
import type { Policy } from '../../platform/limits/limiter.ts';
import type { Passwords } from '../../platform/passwords.ts';
import { recordAudit, withAction } from '../audit/audit.service.ts';
import {
  type AccountRow,
  countAdmins,
  deleteSession,
  emailKeyOf,
  findAccount,
  findAccountByEmail,
  insertAccount,
  insertSession,
  lockAdmins,
  updateAccountEmail,
} from './accounts.sql.ts';

/** Client addresses can be forged, so failures are counted for each account as well. */
const failurePolicy: Policy = { max: 20, windowMs: 15 * 60_000 };

export async function logIn(
  deps: Deps,
  input: { readonly email: string; readonly password: string },
  audit: AuditStamp,
): Promise<SignedToken> {
  const account = await provePassword(deps, input, audit);
  if (account.project_active === false) {
    throw new PakhusError('FORBIDDEN', 'The project is not active: ask the operator to activate it');
  }
  return openSession(deps, account, audit);
}

/** Takes the same work and the same way whether or not the account exists. */
async function provePassword(
  deps: Deps,
  input: { readonly email: string; readonly password: string },
  audit: AuditStamp,
): Promise<AccountRow> {
  const failures = `account:${sha256(emailKeyOf(input.email)).toString('base64url')}`;
  const verdict = await deps.limiter.consume(failures, failurePolicy);
  if (!verdict.allowed) throw tooMany(deps.clock(), verdict, 'Too many failed logins for this account');
  const [account] = await deps.db.read<AccountRow>(findAccountByEmail(input.email));
  const right = await deps.passwords.verify(input.password, account?.password_hash ?? null);
  if (!account || !right) {
    const stamp = withAction(account ? stampAs(account, audit) : audit, 'auth.login_failed');
    deps.auditQueue.add(stamp, {
      resourceType: 'account',
      resourceId: account?.id ?? null,
      metadata: { email: input.email },
    });
    throw new PakhusError('UNAUTHORIZED', 'E-mail or password is wrong');
  }
  await deps.limiter.reset(failures);
  return account;
}

async function openSession(deps: Deps, account: AccountRow, audit: AuditStamp): Promise<SignedToken> {
  const signed = deps.tokens.sign({
    sub: account.project_id ?? account.id,
    role: account.project_id === null ? 'admin' : 'project',
    pid: account.project_id,
    ttlMs: deps.settings.JWT_EXPIRES_IN,
  });
  await deps.db.transaction(async (tx) => {
    await tx.query(insertSession(signed.jti, account.id, isoOf(signed.expiresAtMs)));
    const stamp = { ...stampAs(account, audit), actorKeyId: signed.jti };
    await recordAudit(tx, stamp, { resourceType: 'account', resourceId: account.id });
  });
  return signed;
}

export async function logOut(deps: Deps, session: Session, audit: AuditStamp): Promise<void> {
  await deps.db.transaction(async (tx) => {
    await tx.query(deleteSession(session.jti));
    await recordAudit(tx, audit, { resourceType: 'account', resourceId: session.accountId });
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
    two_factor_enabled: false,
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
  const chosen = password ?? randomToken(15);
  const passwordHash = await passwords.hash(chosen);
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

const stampAs = (account: AccountRow, audit: AuditStamp): AuditStamp => ({
  ...audit,
  projectId: account.project_id,
  actorType: account.project_id === null ? 'admin' : 'project',
  actorId: account.project_id ?? account.id,
});
