// Account recovery from the command line, for when nobody can log in.
import type { AuditStamp } from '../../contract/audit.ts';
import { madeUpPassword } from '../../kernel/crypto/secret.ts';
import type { Database } from '../../platform/db/postgres.ts';
import { hashQueueOfOperator, type Passwords } from '../../platform/passwords.ts';
import { recordAudit } from '../audit/audit.service.ts';
import { setPassword } from './accounts.password.ts';
import { aboutAccount, lockAndReadAccount } from './accounts.session.ts';
import { type AccountRow, findAccountByEmail, listAdmins } from './accounts.sql.ts';
import { deleteAnyTwoFactor, deleteChallenges } from './accounts.two-factor.sql.ts';

/** Its message tells the operator what to do differently. */
export class OperatorError extends Error {}

/** The account of that e-mail, or the only admin. */
export async function chooseAccount(db: Database, email: string | null): Promise<AccountRow> {
  const [account, another] = await db.query<AccountRow>(
    email === null ? listAdmins : findAccountByEmail(email),
  );
  if (another) throw new OperatorError('There are several admins: choose one with --email');
  if (account) return account;
  throw new OperatorError(
    email === null
      ? 'There is no admin yet: start Pakhus once to create it'
      : `There is no account with the e-mail ${email}`,
  );
}

/** Resolves to the new password, which is stored as a hash only. Two-factor login stays on. */
export async function resetByOperator(
  db: Database,
  passwords: Passwords,
  account: AccountRow,
): Promise<string> {
  const password = madeUpPassword();
  const passwordHash = await passwords.hash(hashQueueOfOperator, password);
  await db.transaction(async (tx) => {
    await lockAndReadAccount(tx, account.id);
    await setPassword(tx, account.id, passwordHash, null);
    await recordAudit(tx, operatorStamp('auth.password_reset', account), byCommandLine(account));
  });
  return password;
}

/** Resolves to whether two-factor login was on. */
export async function disableByOperator(db: Database, account: AccountRow): Promise<boolean> {
  return db.transaction(async (tx) => {
    await lockAndReadAccount(tx, account.id);
    await tx.query(deleteChallenges(account.id));
    const [gone] = await tx.query(deleteAnyTwoFactor(account.id));
    if (gone) await recordAudit(tx, operatorStamp('auth.2fa_disable', account), byCommandLine(account));
    return gone !== undefined;
  });
}

/** Nobody is logged in, so there is no actor id. */
const operatorStamp = (action: AuditStamp['action'], account: AccountRow): AuditStamp => ({
  action,
  projectId: account.project_id,
  actorType: 'admin',
  actorId: null,
  actorKeyId: null,
  ipAddress: null,
  userAgent: null,
});

const byCommandLine = (account: AccountRow) => aboutAccount(account.id, { by: 'command line' });
