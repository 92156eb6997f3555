// Statements on accounts and their sessions. Accounts belong to the operator's floor: they are found by
// e-mail across projects, since a login names no project.
import { type Sql, sql } from '../../platform/db/sql.ts';

export interface AccountRow {
  readonly id: string;
  readonly project_id: string | null;
  readonly email: string;
  readonly password_hash: string;
  readonly project_active: boolean | null;
  readonly project_name: string | null;
}

/** How addresses are compared. */
export const emailKeyOf = (email: string): string => email.trim().toLowerCase();

const columns = sql`a.id, a.project_id, a.email, a.password_hash, p.active as project_active, p.name as project_name`;

export const findAccountByEmail = (email: string): Sql => sql`
  select ${columns} from accounts a left join projects p on p.id = a.project_id
  where a.email_key = ${emailKeyOf(email)}`;

export const findAccount = (accountId: string): Sql => sql`
  select ${columns} from accounts a left join projects p on p.id = a.project_id where a.id = ${accountId}`;

export const insertAccount = (projectId: string | null, email: string, passwordHash: string): Sql => sql`
  insert into accounts (project_id, email, email_key, password_hash)
  values (${projectId}, ${email.trim()}, ${emailKeyOf(email)}, ${passwordHash}) returning id`;

export const updateAccountEmail = (projectId: string, email: string): Sql => sql`
  update accounts set email = ${email.trim()}, email_key = ${emailKeyOf(email)}, updated_at = now()
  where project_id = ${projectId}`;

/** Several instances may start at once on an empty database: the lock lets one of them make the admin. */
export const lockAdmins: Sql = sql`lock table accounts in share row exclusive mode`;

export const countAdmins: Sql = sql`select count(*)::int as admins from accounts where project_id is null`;

export const insertSession = (jti: string, accountId: string, expiresAt: string): Sql => sql`
  insert into sessions (jti, account_id, expires_at) values (${jti}, ${accountId}, ${expiresAt})`;

export const deleteSession = (jti: string): Sql => sql`delete from sessions where jti = ${jti}`;
