// Statements on accounts and sessions. Accounts are found by e-mail across all projects, since a login names no project.
import { type Sql, sql } from '../../platform/db/sql.ts';

export interface AccountRow {
  readonly id: string;
  readonly project_id: string | null;
  readonly email: string;
  readonly password_hash: string;
  /** Device cookies of an earlier generation are no longer trusted. */
  readonly device_generation: number;
  readonly project_active: boolean | null;
  readonly project_name: string | null;
  readonly two_factor_enabled: boolean;
}

/** E-mails are compared in this form. */
export const toEmailKey = (email: string): string => email.trim().toLowerCase();

const accounts = sql`select a.id, a.project_id, a.email, a.password_hash, a.device_generation, p.active as project_active,
    p.name as project_name, t.activated_at is not null as two_factor_enabled
  from accounts a left join projects p on p.id = a.project_id left join two_factors t on t.account_id = a.id`;

export const findAccountByEmail = (email: string): Sql => sql`
  ${accounts} where a.email_key = ${toEmailKey(email)}`;

export const findAccount = (accountId: string): Sql => sql`${accounts} where a.id = ${accountId}`;

/** At most two: enough to see whether there are several. */
export const listAdmins: Sql = sql`${accounts} where a.project_id is null order by a.created_at limit 2`;

/** A statement of its own, so that the next read sees what was committed before the lock. */
export const lockAccount = (accountId: string): Sql => sql`
  select from accounts where id = ${accountId} for no key update`;

export const insertAccount = (projectId: string | null, email: string, passwordHash: string): Sql => sql`
  insert into accounts (project_id, email, email_key, password_hash)
  values (${projectId}, ${email.trim()}, ${toEmailKey(email)}, ${passwordHash}) returning id`;

export const updateAccountEmail = (projectId: string, email: string): Sql => sql`
  update accounts set email = ${email.trim()}, email_key = ${toEmailKey(email)}, updated_at = now()
  where project_id = ${projectId}`;

/** So that only one of several instances starting at once creates the admin. */
export const lockAdmins: Sql = sql`lock table accounts in share row exclusive mode`;

export const countAdmins: Sql = sql`select count(*)::int as admins from accounts where project_id is null`;

export const insertSession = (jti: string, accountId: string, expiresAt: string): Sql => sql`
  insert into sessions (jti, account_id, expires_at) values (${jti}, ${accountId}, ${expiresAt})`;

export const deleteSession = (jti: string): Sql => sql`delete from sessions where jti = ${jti}`;

export const deleteSessions = (accountId: string, keptJti: string | null): Sql => sql`
  delete from sessions where account_id = ${accountId} and jti is distinct from ${keptJti}::uuid returning jti`;

export const updatePassword = (accountId: string, passwordHash: string): Sql => sql`
  update accounts set password_hash = ${passwordHash}, updated_at = now() where id = ${accountId}`;

export const endDevices = (accountId: string): Sql => sql`
  update accounts set device_generation = device_generation + 1 where id = ${accountId}`;

export const insertReset = (tokenHash: Buffer, accountId: string, expiresAt: string): Sql => sql`
  insert into password_resets (token_hash, account_id, expires_at) values (${tokenHash}, ${accountId}, ${expiresAt})`;

/** By the service's clock, as for tokens. */
export const findReset = (tokenHash: Buffer, now: string): Sql => sql`
  select account_id from password_resets where token_hash = ${tokenHash} and expires_at > ${now}::timestamptz`;

export const deleteReset = (tokenHash: Buffer): Sql => sql`
  delete from password_resets where token_hash = ${tokenHash} returning account_id`;

export const deleteResets = (accountId: string): Sql => sql`
  delete from password_resets where account_id = ${accountId}`;

export const deleteResetsOfProject = (projectId: string): Sql => sql`
  delete from password_resets r using accounts a where a.id = r.account_id and a.project_id = ${projectId}`;

export const deleteExpiredResets = (now: string): Sql => sql`
  delete from password_resets where expires_at < ${now}::timestamptz`;
