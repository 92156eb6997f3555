// From a presented credential to an actor. Anything but a live credential is 401, and says no more than that.
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
  markKeyUsed,
  type SessionRow,
  type SpaceTokenRow,
  type SubjectNames,
  type SubjectRow,
  type UserTokenRow,
} from './credentials.sql.ts';

export interface Caller {
  readonly actor: Actor;
  /** The end-user that the path names; null when it names none or there is no such user. */
  readonly subject: Subject | null;
  readonly rate: RatePolicy | null;
  readonly cors: CorsPolicy;
}

export interface RatePolicy extends Policy {
  readonly bucket: string;
}

export interface CorsPolicy {
  /** Origins that the credential's integration allows, beside the global list. */
  readonly origins: readonly string[];
  readonly devMode: boolean;
}

const noCors: CorsPolicy = { origins: [], devMode: false };

/** What one statement found: whose credential it is, and those of the named end-users that exist. */
export interface Found {
  readonly caller: Omit<Caller, 'subject'>;
  readonly subjects: readonly Subject[];
}

/** `credential` is a Bearer token or the cookie's value. */
export async function identify(
  deps: Deps,
  credential: string,
  subjects: SubjectNames | null,
): Promise<Found> {
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
      // Also a two-factor challenge: it proves a password, and opens nothing but its own endpoint.
      throw unauthorized();
  }
}

export const unauthorized = () =>
  new PakhusError(
    'UNAUTHORIZED',
    'The credential is missing, expired or revoked: log in or send a valid key or token',
  );

/**
 * Asks again, within a transaction that has waited for its turn: whoever makes credentials must not outlive its own,
 * or keys that are being replaced could leave others behind.
 */
export async function recheckCredential(
  tx: Transaction,
  { projectId, session, keyId }: ProjectActor,
): Promise<void> {
  const statement = session ? findLiveSession(session.jti) : findLiveKey(projectId, keyId ?? '');
  const [live] = await tx.query(statement);
  if (!live) throw unauthorized();
}

/**
 * The CORS policy behind a credential that was refused: a token, dead or not, or the key of a project that is not
 * active. A page whose token has expired must be able to read so: without the headers its browser would tell it of a
 * broken network.
 */
export async function corsBehind(deps: Deps, credential: string): Promise<CorsPolicy> {
  const statement = corsStatementOf(deps, credential);
  const [row] = statement ? await deps.db.readFirst<CorsRow>(statement) : [];
  return row ? corsPolicyOf(row) : noCors;
}

function corsStatementOf(deps: Deps, credential: string): Sql | null {
  if (looksLikeApiKey(credential)) return findKeyCors(sha256(credential));
  const { pid, iid } = deps.tokens.recognise(credential) ?? {};
  return pid && iid ? findIntegrationCors(pid, iid) : null;
}

async function identifyKey(deps: Deps, key: string, subjects: SubjectNames | null): Promise<Found> {
  if (!isApiKey(key)) throw unauthorized();
  const rows = await deps.db.readFirst<KeyRow>(findKey(sha256(key), subjects));
  const [row] = rows;
  if (!row || row.integration_active === false) throw unauthorized();
  refuseInactiveProject(row);
  noteUse(deps, row);
  const { project_id: projectId, key_id: keyId, integration_id: integrationId } = row;
  if (integrationId === null) {
    const actor = { kind: 'project', projectId, session: null, keyId } as const;
    return { caller: { actor, rate: null, cors: noCors }, subjects: subjectsOf(rows) };
  }
  const grant = (row.integration_scopes ?? []) as Scope[];
  const actor = { kind: 'integration', projectId, integrationId, keyId, grant } as const;
  const rate = ratePolicyOf(deps, row, integrationId);
  return { caller: { actor, rate, cors: corsPolicyOf(row) }, subjects: subjectsOf(rows) };
}

async function identifySession(deps: Deps, claims: Claims, subjects: SubjectNames | null): Promise<Found> {
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
  return { caller: { actor, rate: null, cors: noCors }, subjects: subjectsOf(rows) };
}

async function identifyUserToken(deps: Deps, claims: Claims, subjects: SubjectNames | null): Promise<Found> {
  const { sub: userId, pid: projectId, iid: integrationId, akid, jti } = claims;
  if (projectId === null) throw unauthorized();
  const statement = findUserToken(jti, userId, projectId, integrationId, akid, subjects);
  const rows = await deps.db.readFirst<UserTokenRow>(statement);
  const [row] = rows;
  if (!row) throw unauthorized();
  refuseDeadDelegate(row, integrationId);
  const ceiling = integrationId === null ? '*' : ((row.integration_scopes ?? []) as Scope[]);
  const grant = commonGrant(claims.scopes, ceiling);
  const actor = { kind: 'user', projectId, userId, integrationId, jti, grant } as const;
  const rate = integrationId === null ? null : ratePolicyOf(deps, row, `${integrationId}:${userId}`);
  return { caller: { actor, rate, cors: corsPolicyOf(row) }, subjects: subjectsOf(rows) };
}

async function identifySpaceToken(deps: Deps, claims: Claims, subjects: SubjectNames | null): Promise<Found> {
  const { sub: spaceId, pid: projectId, uid: userId, iid: integrationId, akid, jti } = claims;
  if (projectId === null || userId === null) throw unauthorized();
  const statement = findSpaceToken(jti, spaceId, userId, projectId, integrationId, akid, subjects);
  const rows = await deps.db.readFirst<SpaceTokenRow>(statement);
  const [row] = rows;
  if (!row?.space_active) throw unauthorized();
  refuseDeadDelegate(row, integrationId);
  // Whoever logged it in: the space's own scopes are its ceiling.
  const grant = row.space_scopes as Scope[];
  const actor = { kind: 'space', projectId, userId, spaceId, integrationId, jti, grant } as const;
  const rate = integrationId === null ? null : ratePolicyOf(deps, row, `${integrationId}:${spaceId}`);
  return { caller: { actor, rate, cors: corsPolicyOf(row) }, subjects: subjectsOf(rows) };
}

function refuseDeadDelegate(row: UserTokenRow, integrationId: string | null): void {
  if (!row.user_active) throw unauthorized();
  if (integrationId !== null && row.integration_active !== true) throw unauthorized();
  refuseInactiveProject(row);
}

function refuseInactiveProject(row: { readonly project_active: boolean | null }): void {
  if (row.project_active) return;
  throw projectInactive();
}

/** Each half, most specific first: the integration's own, the project's tier, what the admin set, the environment. */
function ratePolicyOf(deps: Deps, row: UserTokenRow | KeyRow, bucket: string): RatePolicy | null {
  if (row.dev_mode) return null;
  const { RATE_LIMIT_MAX, RATE_LIMIT_WINDOW_MS } = deps.settings;
  const fallback = row.global_rate ?? { max: RATE_LIMIT_MAX, window_ms: RATE_LIMIT_WINDOW_MS };
  return {
    bucket,
    max: row.own_max ?? row.tier_max ?? fallback.max,
    windowMs: row.own_window ?? row.tier_window ?? fallback.window_ms,
  };
}

const corsPolicyOf = (row: CorsRow): CorsPolicy => ({
  origins: row.cors_origins ?? [],
  devMode: row.dev_mode ?? false,
});

function subjectsOf(rows: readonly Partial<SubjectRow>[]): Subject[] {
  const subjects: Subject[] = [];
  for (const row of rows) if (row.u_id) subjects.push(subjectOf(row as SubjectRow, row.u_id));
  return subjects;
}

const subjectOf = (row: SubjectRow, id: string): Subject => ({
  id,
  externalId: row.u_external_id,
  active: row.u_active,
  usedBytes: row.u_used_bytes,
  createdAt: row.u_created_at,
  updatedAt: row.u_updated_at,
  plan: row.p_id === null ? null : planOf(row, row.p_id),
});

const planOf = (row: SubjectRow, id: string) => ({
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

const beingNoted = new Set<string>();

/** Not awaited, and one write at a time for a key: under load every request would see the old time. */
function noteUse(deps: Deps, row: KeyRow): void {
  if (!row.use_is_news || beingNoted.has(row.key_id)) return;
  beingNoted.add(row.key_id);
  deps.db
    .query(markKeyUsed(row.project_id, row.key_id))
    .catch((error: unknown) => deps.log.warn({ err: error }, 'the last use of a key was not noted'))
    .finally(() => beingNoted.delete(row.key_id));
}
