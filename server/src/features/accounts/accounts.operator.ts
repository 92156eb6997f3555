// What the operator does to an account from the command line, when nobody can log in any more.
import type { AuditStamp } from '../../contract/audit.ts';
import { madeUpPassword } from '../../kernel/crypto/secret.ts';
import type { Database } from '../../platform/db/postgres.ts';
import { hashQueueOfOperator, type Passwords } from '../../platform/passwords.ts';
import { recordAudit } from '../audit/audit.service.ts';
import { setPassword } from './accounts.password.ts';
import { aboutAccount, holdAccount } from './accounts.session.ts';
import { type AccountRow, findAccountByEmail, listAdmins } from './accounts.sql.ts';
import { deleteAnyTwoFactor, deleteChallenges } from './accounts.two-factor.sql.ts';

/** Says what the operator should do differently. */
export class OperatorError extends Error {}

/** The account of that e-mail, or the only admin. */
export async function chooseAccount(db: Database, email: string | null): Promise<AccountRow> {
  const [account, another] = await db.query<AccountRow>(
    email === null ? listAdmins : findAccountByEmail(email),
  );
  if (another) throw new OperatorError('There are several admins: say which one with --email');
  if (account) return account;
  throw new OperatorError(
    email === null
      ? 'There is no admin yet: the first start of Pakhus creates it'
      : `There is no account with the e-mail ${email}`,
  );
}

/** Resolves to the new password, which is kept nowhere. The second factor stays. */
export async function resetByOperator(
  db: Database,
  passwords: Passwords,
  account: AccountRow,
): Promise<string> {
  const password = madeUpPassword();
  const passwordHash = await passwords.hash(hashQueueOfOperator, password);
  await db.transaction(async (tx) => {
    await holdAccount(tx, account.id);
    await setPassword(tx, account.id, passwordHash, null);
    await recordAudit(tx, operatorStamp('auth.password_reset', account), byCommandLine(account));
  });
  return password;
}

/** Resolves to whether there was a second factor. */
export async function disableByOperator(db: Database, account: AccountRow): Promise<boolean> {
  return db.transaction(async (tx) => {
    await holdAccount(tx, account.id);
    await tx.query(deleteChallenges(account.id));
    const [gone] = await tx.query(deleteAnyTwoFactor(account.id));
    if (gone) await recordAudit(tx, operatorStamp('auth.2fa_disable', account), byCommandLine(account));
    return gone !== undefined;
  });
}

/** Nobody has logged in, so there is no id of whoever it was. */
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
