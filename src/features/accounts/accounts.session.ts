// Sessions of accounts, and what every change of an account has in common.
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import { projectInactive } from '../../contract/refusals.ts';
import type { SignedToken } from '../../contract/token.ts';
import { countUse } from '../../contract/too-many.ts';
import { isoOf } from '../../kernel/clock.ts';
import { sha256 } from '../../kernel/secret.ts';
import type { Transaction } from '../../platform/db/postgres.ts';
import type { Policy } from '../../platform/limits/limiter.ts';
import { type AccountRow, emailKeyOf, findAccount, insertSession, lockAccount } from './accounts.sql.ts';

/** Client addresses can be forged, so failures are counted for each account as well. */
const failurePolicy: Policy = { max: 20, windowMs: 15 * 60_000 };

export const passwordFailures = (email: string): string =>
  `account:${sha256(emailKeyOf(email)).toString('base64url')}`;

export const codeFailures = (accountId: string): string => `account-code:${accountId}`;

/** Counts an attempt before it is judged, when its turn has come; whoever succeeds resets the count. */
export async function countAttempt(deps: Deps, bucket: string): Promise<void> {
  await countUse(deps, bucket, failurePolicy, 'Too many failed attempts for this account');
}

/** The account as it is now and will be until the transaction ends; null when it is gone. */
export async function holdAccount(tx: Transaction, accountId: string): Promise<AccountRow | null> {
  await tx.query(lockAccount(accountId));
  const [account] = await tx.query<AccountRow>(findAccount(accountId));
  return account ?? null;
}

export function signSession(deps: Deps, account: AccountRow): SignedToken {
  return deps.tokens.sign({
    sub: account.project_id ?? account.id,
    role: account.project_id === null ? 'admin' : 'project',
    pid: account.project_id,
    ttlMs: deps.settings.JWT_EXPIRES_IN,
  });
}

export async function keepSession(tx: Transaction, signed: SignedToken, accountId: string): Promise<void> {
  await tx.query(insertSession(signed.jti, accountId, isoOf(signed.expiresAtMs)));
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
