// Statements on spaces.

import type { Scope } from '../../contract/scope.ts';
import { newestFirst, type PageRequest } from '../../platform/db/paging.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';

export interface SpaceRow {
  readonly id: string;
  readonly user_id: string;
  readonly external_id: string;
  readonly name: string;
  readonly scopes: Scope[];
  readonly limit_bytes: number | null;
  readonly used_bytes: number;
  readonly reserved_bytes: number;
  readonly active: boolean;
  readonly has_password: boolean;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface LockedSpaceRow extends SpaceRow {
  /** The scopes of whoever set the password, at that time; `*` for all. Null without a password. */
  readonly password_scopes: (Scope | '*')[] | null;
}

export interface SpaceLoginRow extends SpaceRow {
  readonly password_hash: string | null;
  readonly user_active: boolean;
}

export type SpaceValues = Pick<SpaceRow, 'name' | 'scopes' | 'limit_bytes' | 'active'>;

/** The hash of a password, and the scopes of whoever set it. */
export interface SetPassword {
  readonly hash: string;
  readonly scopes: readonly (Scope | '*')[];
}

const columns = sql`id, user_id, external_id, name, scopes, limit_bytes, used_bytes, reserved_bytes, active,
  password_hash is not null as has_password, created_at, updated_at`;

export const listSpaces = (projectId: string, userId: string, after: Sql, page: PageRequest): Sql =>
  newestFirst(
    sql`select ${columns} from spaces where project_id = ${projectId} and user_id = ${userId}${after}`,
    page,
  );

export const findSpace = (projectId: string, userId: string, spaceId: string): Sql => sql`
  select ${columns} from spaces where project_id = ${projectId} and user_id = ${userId} and id = ${spaceId}`;

export const findSpaceForLogin = (projectId: string, externalId: string): Sql => sql`
  select ${columns}, password_hash, (select u.active from users u where u.id = user_id) as user_active
  from spaces where project_id = ${projectId} and external_id = ${externalId}`;

export const lockSpace = (projectId: string, userId: string, spaceId: string): Sql => sql`
  select ${columns}, password_scopes from spaces
  where project_id = ${projectId} and user_id = ${userId} and id = ${spaceId} for no key update`;

/** Exact while the user is locked. */
export const countSpaces = (projectId: string, userId: string): Sql => sql`
  select p.max_spaces as max,
    (select count(*)::int from spaces where project_id = ${projectId} and user_id = ${userId}) as spaces
  from users u
  left join plans p on p.project_id = ${projectId} and p.id = coalesce(u.plan_id,
    (select d.id from plans d where d.project_id = ${projectId} and d.is_default))
  where u.project_id = ${projectId} and u.id = ${userId}`;

export const insertSpace = (
  projectId: string,
  userId: string,
  externalId: string,
  values: SpaceValues,
  password: SetPassword | null,
): Sql => sql`
  insert into spaces (project_id, user_id, external_id, name, scopes, limit_bytes, password_hash, password_scopes)
  values (${projectId}, ${userId}, ${externalId}, ${values.name}, ${values.scopes}, ${values.limit_bytes},
    ${password?.hash ?? null}, ${password?.scopes ?? null})
  returning ${columns}`;

/** Ends the session if the space becomes inactive or loses its password. */
export const updateSpace = (
  projectId: string,
  spaceId: string,
  values: SpaceValues,
  keepsPassword: boolean,
): Sql => sql`
  update spaces set name = ${values.name}, scopes = ${values.scopes}, limit_bytes = ${values.limit_bytes},
    active = ${values.active}, updated_at = now(),
    session_jti = case when ${values.active && keepsPassword} then session_jti end,
    password_hash = case when ${keepsPassword} then password_hash end,
    password_scopes = case when ${keepsPassword} then password_scopes end
  where project_id = ${projectId} and id = ${spaceId} returning ${columns}`;

export const updateSpacePassword = (projectId: string, spaceId: string, password: SetPassword): Sql => sql`
  update spaces set password_hash = ${password.hash}, password_scopes = ${password.scopes}, session_jti = null,
    updated_at = now()
  where project_id = ${projectId} and id = ${spaceId} returning ${columns}`;

/**
 * No row if the password changed or the space became inactive since the password was verified. The space is locked first, so
 * that of two logins at once the later one revokes the token of the other.
 */
export const updateSpaceSession = (
  projectId: string,
  spaceId: string,
  jti: string,
  verifiedHash: string,
): Sql => sql`
  with previous as (
    select id, session_jti from spaces
    where project_id = ${projectId} and id = ${spaceId} and active and password_hash = ${verifiedHash} for no key update),
  revoked as (
    insert into revoked_tokens (jti, subject_id, expires_at)
    select session_jti, id, now() + interval '366 days' from previous where session_jti is not null
    on conflict do nothing)
  update spaces s set session_jti = ${jti} from previous
  where s.project_id = ${projectId} and s.id = previous.id returning s.id`;

/** If `userId` is given, only for spaces of that user. */
export const endSpaceSession = (projectId: string, jti: string, userId: string | null): Sql => sql`
  update spaces set session_jti = null
  where project_id = ${projectId} and session_jti = ${jti} and user_id = coalesce(${userId}::uuid, user_id)
  returning id, user_id`;

/**
 * The URL of an upload outlives the space token that created it, but not the end of that session. Call before the session
 * ends.
 */
export const revokeUploadsOfSpace = (projectId: string, spaceId: string): Sql =>
  revokeUploads(sql`
    select session_jti as jti, id as space_id from spaces
    where project_id = ${projectId} and id = ${spaceId} and session_jti is not null`);

/** The same for one session, also if another login has replaced it. */
export const revokeUploadsOfSession = (projectId: string, jti: string, userId: string | null): Sql =>
  revokeUploads(sql`
    select session_jti as jti, id as space_id from spaces
    where project_id = ${projectId} and session_jti = ${jti} and user_id = coalesce(${userId}::uuid, user_id)
    union select jti, space_id from uploads
    where project_id = ${projectId} and jti = ${jti} and user_id = coalesce(${userId}::uuid, user_id)
      and space_id is not null and status = 'uploading'`);

/** Under the id of the space, so that no user token is revoked by it. */
const revokeUploads = (sessions: Sql): Sql => sql`
  insert into revoked_tokens (jti, subject_id, expires_at)
  select jti, space_id, now() + interval '366 days' from (${sessions}) s on conflict do nothing`;

export const deleteSpace = (projectId: string, spaceId: string): Sql => sql`
  delete from spaces where project_id = ${projectId} and id = ${spaceId}`;
