// Identifies the caller by its credential. Every invalid credential gets the same 401.
import type { Actor, ProjectActor } from '../../contract/actor.ts';
import type { Deps } from '../../contract/deps.ts';
import { projectInactive } from '../../contract/refusals.ts';
import { commonGrant, type Scope } from '../../contract/scope.ts';
import type { Subject } from '../../contract/subject.ts';
import type { Claims } from '../../contract/token.ts';
import { isApiKey, looksLikeApiKey, sha256 } from '../../kernel/crypto/secret.ts';
import { PakhusError } from '../../kernel/error.ts';
import type { Transaction } from '../../platform/db/postgres.ts';
import type { Sql } from '../../platform/db/sql.ts';
import type { Policy } from '../../platform/limits/limiter.ts';
import {
  type CorsRow,
  findIntegrationCors,
  findKey,
  findKeyCors,
  findLiveKey,
  findLiveSession,
  findSession,
  findSpaceToken,
  findUserToken,
  type KeyRow,
  type SessionRow,
  type SpaceTokenRow,
  type SubjectNames,
  type SubjectRow,
  type UserTokenRow,
} from './credentials.sql.ts';

export interface Caller {
  readonly actor: Actor;
  /** The end-user that the path names; null if it names none, or one that does not exist. */
  readonly subject: Subject | null;
  readonly rate: RatePolicy | null;
  readonly cors: CorsPolicy;
}

export interface RatePolicy extends Policy {
  readonly bucket: string;
}

export interface CorsPolicy {
  /** Origins that the integration allows, in addition to the global list. */
  readonly origins: readonly string[];
  readonly devMode: boolean;
}

const noCors: CorsPolicy = { origins: [], devMode: false };

/** The result of one statement: the caller, and those of the named end-users that exist. */
export interface Identification {
  readonly caller: Omit<Caller, 'subject'>;
  readonly subjects: readonly Subject[];
}

/** `credential` is a Bearer token or the cookie's value. */
export async function identify(
  deps: Deps,
  credential: string,
  subjects: SubjectNames | null,
): Promise<Identification> {
  if (looksLikeApiKey(credential)) return identifyKey(deps, credential, subjects);
  const claims = deps.tokens.verify(credential);
  switch (claims?.role) {
    case 'admin':
    case 'project':
      return identifySession(deps, claims, subjects);
    case 'user':
      return identifyUserToken(deps, claims, subjects);
    case 'space':
      return identifySpaceToken(deps, claims, subjects);
    default:
      // A two-factor challenge, too: it is only good for its own endpoint.
      throw unauthorized();
  }
}

export const unauthorized = () =>
  new PakhusError(
    'UNAUTHORIZED',
    'The credential is missing, expired or revoked: log in or send a valid key or token',
  );

/**
 * Checks the credential again inside a transaction that may have waited for a lock. Otherwise a key that is being revoked
 * could still create new credentials.
 */
export async function requireLiveCredential(
  tx: Transaction,
  { projectId, session, keyId }: ProjectActor,
): Promise<void> {
  const statement = session ? findLiveSession(session.jti) : findLiveKey(projectId, keyId ?? '');
  const [live] = await tx.query(statement);
  if (!live) throw unauthorized();
}

/**
 * The CORS policy of a credential that was refused: an expired or revoked token, or a key of an inactive project. Without
 * CORS headers, the page would see a network error instead of the 401.
 */
export async function findCorsPolicy(deps: Deps, credential: string): Promise<CorsPolicy> {
  const statement = buildCorsStatement(deps, credential);
  const [row] = statement ? await deps.db.readFirst<CorsRow>(statement) : [];
  return row ? toCorsPolicy(row) : noCors;
}

function buildCorsStatement(deps: Deps, credential: string): Sql | null {
  if (looksLikeApiKey(credential)) return findKeyCors(sha256(credential));
  const { pid, iid } = deps.tokens.recognise(credential) ?? {};
  return pid && iid ? findIntegrationCors(pid, iid) : null;
}

async function identifyKey(deps: Deps, key: string, subjects: SubjectNames | null): Promise<Identification> {
  if (!isApiKey(key)) throw unauthorized();
  const rows = await deps.db.readFirst<KeyRow>(findKey(sha256(key), subjects));
  const [row] = rows;
  if (!row || row.integration_active === false) throw unauthorized();
  refuseInactiveProject(row);
  if (row.use_is_news) deps.keyUses.record(row.project_id, row.key_id);
  const { project_id: projectId, key_id: keyId, integration_id: integrationId } = row;
  if (integrationId === null) {
    const actor = { kind: 'project', projectId, session: null, keyId } as const;
    return { caller: { actor, rate: null, cors: noCors }, subjects: toSubjects(rows) };
  }
  const grant = (row.integration_scopes ?? []) as Scope[];
  const actor = { kind: 'integration', projectId, integrationId, keyId, grant } as const;
  const rate = resolveRatePolicy(deps, row, integrationId);
  return { caller: { actor, rate, cors: toCorsPolicy(row) }, subjects: toSubjects(rows) };
}

async function identifySession(
  deps: Deps,
  claims: Claims,
  subjects: SubjectNames | null,
): Promise<Identification> {
  const rows = await deps.db.readFirst<SessionRow>(findSession(claims.jti, subjects));
  const [row] = rows;
  if (!row || claims.sub !== (row.project_id ?? row.account_id)) throw unauthorized();
  if ((claims.role === 'admin') !== (row.project_id === null)) throw unauthorized();
  const session = { accountId: row.account_id, jti: claims.jti, email: row.email, expiresAt: row.expires_at };
  if (row.project_id === null) {
    const actor = { kind: 'admin', accountId: row.account_id, session } as const;
    return { caller: { actor, rate: null, cors: noCors }, subjects: [] };
  }
  refuseInactiveProject(row);
  const actor = { kind: 'project', projectId: row.project_id, session, keyId: null } as const;
  return { caller: { actor, rate: null, cors: noCors }, subjects: toSubjects(rows) };
}

async function identifyUserToken(
  deps: Deps,
  claims: Claims,
  subjects: SubjectNames | null,
): Promise<Identification> {
  const { sub: userId, pid: projectId, iid: integrationId, akid, jti } = claims;
  if (projectId === null) throw unauthorized();
  const statement = findUserToken(jti, userId, projectId, integrationId, akid, subjects);
  const rows = await deps.db.readFirst<UserTokenRow>(statement);
  const [row] = rows;
  if (!row) throw unauthorized();
  refuseInactiveOwner(row, integrationId);
  const ceiling = integrationId === null ? '*' : ((row.integration_scopes ?? []) as Scope[]);
  const grant = commonGrant(claims.scopes, ceiling);
  const actor = { kind: 'user', projectId, userId, integrationId, keyId: akid, jti, grant } as const;
  const rate = integrationId === null ? null : resolveRatePolicy(deps, row, `${integrationId}:${userId}`);
  return { caller: { actor, rate, cors: toCorsPolicy(row) }, subjects: toSubjects(rows) };
}

async function identifySpaceToken(
  deps: Deps,
  claims: Claims,
  subjects: SubjectNames | null,
): Promise<Identification> {
  const { sub: spaceId, pid: projectId, uid: userId, iid: integrationId, akid, jti } = claims;
  if (projectId === null || userId === null) throw unauthorized();
  const statement = findSpaceToken(jti, spaceId, userId, projectId, integrationId, akid, subjects);
  const rows = await deps.db.readFirst<SpaceTokenRow>(statement);
  const [row] = rows;
  if (!row?.space_active) throw unauthorized();
  refuseInactiveOwner(row, integrationId);
  // The space's own scopes apply, regardless of who logged in.
  const grant = row.space_scopes as Scope[];
  const actor = {
    kind: 'space',
    projectId,
    userId,
    spaceId,
    integrationId,
    keyId: akid,
    jti,
    grant,
  } as const;
  const rate = integrationId === null ? null : resolveRatePolicy(deps, row, `${integrationId}:${spaceId}`);
  return { caller: { actor, rate, cors: toCorsPolicy(row) }, subjects: toSubjects(rows) };
}

function refuseInactiveOwner(row: UserTokenRow, integrationId: string | null): void {
  if (!row.user_active) throw unauthorized();
  if (integrationId !== null && row.integration_active !== true) throw unauthorized();
  refuseInactiveProject(row);
}

function refuseInactiveProject(row: { readonly project_active: boolean | null }): void {
  if (row.project_active) return;
  throw projectInactive();
}

/** Max and window separately, most specific first: integration, project, admin setting, environment. */
function resolveRatePolicy(deps: Deps, row: UserTokenRow | KeyRow, bucket: string): RatePolicy | null {
  if (row.dev_mode) return null;
  const { RATE_LIMIT_MAX, RATE_LIMIT_WINDOW_MS } = deps.settings;
  const fallback = row.global_rate ?? { max: RATE_LIMIT_MAX, window_ms: RATE_LIMIT_WINDOW_MS };
  return {
    bucket,
    max: row.own_max ?? row.tier_max ?? fallback.max,
    windowMs: row.own_window ?? row.tier_window ?? fallback.window_ms,
  };
}

const toCorsPolicy = (row: CorsRow): CorsPolicy => ({
  origins: row.cors_origins ?? [],
  devMode: row.dev_mode ?? false,
});

function toSubjects(rows: readonly Partial<SubjectRow>[]): Subject[] {
  const subjects: Subject[] = [];
  for (const row of rows) if (row.u_id) subjects.push(toSubject(row as SubjectRow, row.u_id));
  return subjects;
}

const toSubject = (row: SubjectRow, id: string): Subject => ({
  id,
  externalId: row.u_external_id,
  active: row.u_active,
  usedBytes: row.u_used_bytes,
  reservedBytes: row.u_reserved_bytes,
  createdAt: row.u_created_at,
  updatedAt: row.u_updated_at,
  plan: row.p_id === null ? null : toPlan(row, row.p_id),
});

const toPlan = (row: SubjectRow, id: string) => ({
  id,
  name: row.p_name,
  description: row.p_description,
  storageLimit: row.p_storage_limit,
  maxFileSize: row.p_max_file_size,
  allowedMimes: row.p_allowed_mimes,
  maxFiles: row.p_max_files,
  maxSpaces: row.p_max_spaces,
  isDefault: row.p_is_default,
  createdAt: row.p_created_at,
  updatedAt: row.p_updated_at,
});
