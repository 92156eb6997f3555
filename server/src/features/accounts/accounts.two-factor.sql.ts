// Statements on two-factor secrets, used codes, recovery codes and login challenges.
import { type Sql, sql } from '../../platform/db/sql.ts';

export interface TwoFactorRow {
  readonly account_id: string;
  readonly key_id: string;
  readonly sealed_secret: Buffer;
  readonly activated_at: string | null;
}

export const findTwoFactor = (accountId: string): Sql => sql`
  select account_id, key_id, sealed_secret, activated_at from two_factors where account_id = ${accountId}`;

/** Returns no row if a second factor is already active. */
export const upsertPending = (accountId: string, keyId: string, sealedSecret: Buffer): Sql => sql`
  insert into two_factors (account_id, key_id, sealed_secret) values (${accountId}, ${keyId}, ${sealedSecret})
  on conflict (account_id) do update
    set key_id = excluded.key_id, sealed_secret = excluded.sealed_secret, created_at = now()
    where two_factors.activated_at is null
  returning account_id`;

export const markActivated = (accountId: string): Sql => sql`
  update two_factors set activated_at = now() where account_id = ${accountId} and activated_at is null
  returning account_id`;

export const deleteTwoFactor = (accountId: string): Sql => sql`
  delete from two_factors where account_id = ${accountId} and activated_at is not null returning account_id`;

/** Includes one that was never activated. */
export const deleteAnyTwoFactor = (accountId: string): Sql => sql`
  delete from two_factors where account_id = ${accountId} returning activated_at`;

export const insertRecoveryCodes = (accountId: string, hashes: readonly Buffer[]): Sql => sql`
  insert into recovery_codes (account_id, code_hash) select ${accountId}, unnest(${hashes}::bytea[])`;

export const deleteRecoveryCode = (accountId: string, hash: Buffer): Sql => sql`
  delete from recovery_codes where account_id = ${accountId} and code_hash = ${hash} returning account_id`;

/** Returns a row only for the first use of a step. */
export const claimStep = (accountId: string, step: number): Sql => sql`
  insert into used_totp_steps (account_id, step) values (${accountId}, ${step}) on conflict do nothing
  returning step`;

export const insertChallenge = (jti: string, accountId: string, expiresAt: string): Sql => sql`
  insert into login_challenges (jti, account_id, expires_at) values (${jti}, ${accountId}, ${expiresAt})`;

/** Counts the attempt before the code is verified; success deletes the challenge and its count. */
export const claimChallenge = (jti: string, accountId: string, failuresMax: number): Sql => sql`
  update login_challenges set failures = failures + 1
  where jti = ${jti} and account_id = ${accountId} and failures < ${failuresMax} returning failures`;

export const deleteChallenge = (jti: string): Sql => sql`delete from login_challenges where jti = ${jti}`;

export const deleteChallenges = (accountId: string): Sql => sql`
  delete from login_challenges where account_id = ${accountId}`;

export const deleteExpiredChallenges = (now: string): Sql => sql`
  delete from login_challenges where expires_at < ${now}::timestamptz`;

export const deleteStepsBefore = (step: number): Sql => sql`delete from used_totp_steps where step < ${step}`;

/** Paged by `after`, because rows that no key decrypts stay and would be listed again and again. */
export const listSealedOtherwise = (keyId: string, after: string | null, limit: number): Sql => sql`
  select account_id, key_id, sealed_secret, activated_at from two_factors
  where key_id <> ${keyId} and (${after}::uuid is null or account_id > ${after})
  order by account_id limit ${limit}`;

/** Only if the row has not changed since it was read: a new enrollment may have replaced it. */
export const updateSealed = (row: TwoFactorRow, keyId: string, sealedSecret: Buffer): Sql => sql`
  update two_factors set key_id = ${keyId}, sealed_secret = ${sealedSecret}
  where account_id = ${row.account_id} and sealed_secret = ${row.sealed_secret}`;
