// The statements that authenticate. Each finds, in one snapshot, the credential, every flag that could disable it, its CORS
// and rate policy, and the end-users that the paths name.
import { noSql, type Sql, sql } from '../../platform/db/sql.ts';

export interface SubjectRow {
  readonly u_id: string | null;
  readonly u_external_id: string;
  readonly u_active: boolean;
  readonly u_used_bytes: number;
  readonly u_reserved_bytes: number;
  readonly u_created_at: string;
  readonly u_updated_at: string;
  readonly p_id: string | null;
  readonly p_name: string;
  readonly p_description: string | null;
  readonly p_storage_limit: number | null;
  readonly p_max_file_size: number;
  readonly p_allowed_mimes: string[];
  readonly p_max_files: number | null;
  readonly p_max_spaces: number | null;
  readonly p_is_default: boolean;
  readonly p_created_at: string;
  readonly p_updated_at: string;
}

export interface CorsRow {
  readonly cors_origins: string[] | null;
  readonly dev_mode: boolean | null;
}

interface PolicyRow extends CorsRow {
  readonly project_active: boolean | null;
  readonly integration_active: boolean | null;
  readonly integration_scopes: string[] | null;
  readonly own_max: number | null;
  readonly own_window: number | null;
  readonly tier_max: number | null;
  readonly tier_window: number | null;
  readonly global_rate: { max: number; window_ms: number } | null;
}

export interface KeyRow extends PolicyRow, Partial<SubjectRow> {
  readonly key_id: string;
  readonly project_id: string;
  readonly integration_id: string | null;
  /** The recorded last use is more than a minute old. */
  readonly use_is_news: boolean;
}

export interface SessionRow extends PolicyRow, Partial<SubjectRow> {
  readonly account_id: string;
  readonly project_id: string | null;
  readonly email: string;
  readonly expires_at: string;
}

export interface UserTokenRow extends PolicyRow, Partial<SubjectRow> {
  readonly project_id: string;
  readonly user_active: boolean;
}

export interface SpaceTokenRow extends UserTokenRow {
  readonly space_scopes: string[];
  readonly space_active: boolean;
}

/** The end-users that requests name, by id or by external id. */
export interface SubjectNames {
  readonly by: 'userId' | 'externalId';
  readonly names: readonly string[];
}

/** Recorded to the minute: finer is not worth a write. */
const useIsNews = sql`coalesce(last_used_at < now() - interval '1 minute', true)`;

export const findKey = (keyHash: Buffer, subjects: SubjectNames | null): Sql => sql`
  with credential as (
    select k.id as key_id, k.project_id, k.integration_id, ${useIsNews} as use_is_news, ${policyColumns}
    from api_keys k
    join projects pr on pr.id = k.project_id
    left join integrations i on i.id = k.integration_id
    left join settings g on g.key = 'rate_limit' and k.integration_id is not null
    where k.key_hash = ${keyHash} and k.active)
  ${withSubjects(subjects)}`;

export const findSession = (jti: string, subjects: SubjectNames | null): Sql => sql`
  with credential as (
    select a.id as account_id, a.project_id, a.email, s.expires_at, pr.active as project_active
    from sessions s
    join accounts a on a.id = s.account_id
    left join projects pr on pr.id = a.project_id
    where s.jti = ${jti} and s.expires_at > now())
  ${withSubjects(subjects)}`;

export const findUserToken = (
  jti: string,
  userId: string,
  projectId: string,
  integrationId: string | null,
  keyId: string | null,
  subjects: SubjectNames | null,
): Sql => sql`
  with credential as (
    select u.project_id, u.active as user_active, ${policyColumns}
    from users u
    join projects pr on pr.id = u.project_id
    left join integrations i on i.id = ${integrationId}::uuid and i.project_id = u.project_id
    left join settings g on g.key = 'rate_limit' and i.id is not null
    where u.id = ${userId} and u.project_id = ${projectId} and ${keyIsActive(projectId, keyId)}
      and not exists (select from revoked_tokens r where r.jti = ${jti} and r.subject_id = u.id))
  ${withSubjects(subjects)}`;

export const findSpaceToken = (
  jti: string,
  spaceId: string,
  userId: string,
  projectId: string,
  integrationId: string | null,
  keyId: string | null,
  subjects: SubjectNames | null,
): Sql => sql`
  with credential as (
    select sp.project_id, u.active as user_active, sp.scopes as space_scopes, sp.active as space_active, ${policyColumns}
    from spaces sp
    join users u on u.id = sp.user_id
    join projects pr on pr.id = sp.project_id
    left join integrations i on i.id = ${integrationId}::uuid and i.project_id = sp.project_id
    left join settings g on g.key = 'rate_limit' and i.id is not null
    where sp.id = ${spaceId} and sp.user_id = ${userId} and sp.project_id = ${projectId} and sp.session_jti = ${jti}
      and ${keyIsActive(projectId, keyId)})
  ${withSubjects(subjects)}`;

/** Whether the key that minted a token is still active. A null key: a session minted it, or an old release. */
const keyIsActive = (projectId: string, keyId: string | null): Sql => sql`(${keyId}::uuid is null or exists (
  select from api_keys mk where mk.id = ${keyId}::uuid and mk.project_id = ${projectId} and mk.active))`;

/** Returns a row if the key is still active. */
export const findLiveKey = (projectId: string, keyId: string): Sql => sql`
  select from api_keys where project_id = ${projectId} and id = ${keyId} and active`;

export const findLiveSession = (jti: string): Sql => sql`
  select from sessions where jti = ${jti} and expires_at > now()`;

/** The CORS policy of a key's integration, whether or not the key is active. */
export const findKeyCors = (keyHash: Buffer): Sql => sql`
  select i.cors_origins, i.dev_mode
  from api_keys k join integrations i on i.id = k.integration_id and i.project_id = k.project_id
  where k.key_hash = ${keyHash}`;

export const findIntegrationCors = (projectId: string, integrationId: string): Sql => sql`
  select cors_origins, dev_mode from integrations where id = ${integrationId} and project_id = ${projectId}`;

export const markKeyUsed = (projectId: string, keyId: string): Sql => sql`
  update api_keys set last_used_at = now()
  where project_id = ${projectId} and id = ${keyId} and ${useIsNews}`;

const policyColumns: Sql = sql`pr.active as project_active, i.active as integration_active,
  i.scopes as integration_scopes, i.cors_origins, i.dev_mode, i.rate_limit_max as own_max,
  i.rate_limit_window as own_window, pr.rate_limit_max as tier_max, pr.rate_limit_window as tier_window,
  g.value as global_rate`;

const subjectColumns: Sql = sql`u.id as u_id, u.external_id as u_external_id, u.active as u_active,
  u.used_bytes as u_used_bytes, u.reserved_bytes as u_reserved_bytes, u.created_at as u_created_at, u.updated_at as u_updated_at,
  p.id as p_id, p.name as p_name, p.description as p_description, p.storage_limit as p_storage_limit,
  p.max_file_size as p_max_file_size, p.allowed_mimes as p_allowed_mimes, p.max_files as p_max_files, p.max_spaces as p_max_spaces, p.is_default as p_is_default,
  p.created_at as p_created_at, p.updated_at as p_updated_at`;

/** One row per end-user found, or one without. Users without their own plan have the project's default plan. */
function withSubjects(subjects: SubjectNames | null): Sql {
  if (subjects === null) return sql`select * from credential ${noSql}`;
  const { by, names } = subjects;
  const named =
    by === 'userId' ? sql`u.id = any(${names}::uuid[])` : sql`u.external_id = any(${names}::text[])`;
  return sql`select credential.*, ${subjectColumns} from credential
    left join users u on u.project_id = credential.project_id and ${named}
    left join plans p on p.id = coalesce(u.plan_id,
      (select d.id from plans d where d.project_id = u.project_id and d.is_default))`;
}
