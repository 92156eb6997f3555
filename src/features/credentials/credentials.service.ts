// From a presented credential to an actor. Anything but a live credential is 401, and says no more than that.
import type { Actor } from '../../contract/actor.ts';
import type { Deps } from '../../contract/deps.ts';
import { projectInactive } from '../../contract/refusals.ts';
import { commonGrant, type Scope } from '../../contract/scope.ts';
import type { Subject } from '../../contract/subject.ts';
import type { Claims } from '../../contract/token.ts';
import { PakhusError } from '../../kernel/error.ts';
import { isApiKey, looksLikeApiKey, sha256 } from '../../kernel/secret.ts';
import { sharedWithinTurn } from '../../kernel/turn.ts';
import type { Policy } from '../../platform/limits/limiter.ts';
import {
  findKey,
  findSession,
  findSpaceToken,
  findUserToken,
  type KeyRow,
  markKeyUsed,
  type SessionRow,
  type SpaceTokenRow,
  type SubjectPath,
  type SubjectRow,
  type UserTokenRow,
} from './credentials.sql.ts';

export type { SubjectPath } from './credentials.sql.ts';

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

/** `credential` is a Bearer token or the cookie's value. */
export type Identify = (credential: string, subject: SubjectPath) => Promise<Caller>;

/** Requests of one caller for one user come in bursts: those that arrive together share one statement. */
export function createIdentify(deps: Deps): Identify {
  const shared = sharedWithinTurn<Caller>();
  return (credential, subject) =>
    shared(`${credential} ${nameOf(subject)}`, () => identify(deps, credential, subject));
}

/** Kinds apart: an external id may look like an id. */
function nameOf(subject: SubjectPath): string {
  if (subject === null) return '';
  return 'userId' in subject ? `id ${subject.userId}` : `external ${subject.externalId}`;
}

/** Throws at once what can be told without the database. */
function identify(deps: Deps, credential: string, subject: SubjectPath): Promise<Caller> {
  if (looksLikeApiKey(credential)) return identifyKey(deps, credential, subject);
  const claims = deps.tokens.verify(credential);
  switch (claims?.role) {
    case 'admin':
    case 'project':
      return identifySession(deps, claims, subject);
    case 'user':
      return identifyUserToken(deps, claims, subject);
    case 'space':
      return identifySpaceToken(deps, claims, subject);
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

async function identifyKey(deps: Deps, key: string, path: SubjectPath): Promise<Caller> {
  if (!isApiKey(key)) throw unauthorized();
  const [row] = await deps.db.read<KeyRow>(findKey(sha256(key), path));
  if (!row || row.integration_active === false) throw unauthorized();
  refuseInactiveProject(row);
  noteUse(deps, row);
  const { project_id: projectId, key_id: keyId, integration_id: integrationId } = row;
  if (integrationId === null) {
    return {
      actor: { kind: 'project', projectId, session: null, keyId },
      subject: subjectOf(row),
      rate: null,
      cors: noCors,
    };
  }
  const grant = (row.integration_scopes ?? []) as Scope[];
  return {
    actor: { kind: 'integration', projectId, integrationId, keyId, grant },
    subject: subjectOf(row),
    rate: ratePolicyOf(deps, row, integrationId),
    cors: corsPolicyOf(row),
  };
}

async function identifySession(deps: Deps, claims: Claims, path: SubjectPath): Promise<Caller> {
  const [row] = await deps.db.read<SessionRow>(findSession(claims.jti, path));
  if (!row || claims.sub !== (row.project_id ?? row.account_id)) throw unauthorized();
  if ((claims.role === 'admin') !== (row.project_id === null)) throw unauthorized();
  const session = { accountId: row.account_id, jti: claims.jti, email: row.email, expiresAt: row.expires_at };
  if (row.project_id === null) {
    return {
      actor: { kind: 'admin', accountId: row.account_id, session },
      subject: null,
      rate: null,
      cors: noCors,
    };
  }
  refuseInactiveProject(row);
  const actor = { kind: 'project', projectId: row.project_id, session, keyId: null } as const;
  return { actor, subject: subjectOf(row), rate: null, cors: noCors };
}

async function identifyUserToken(deps: Deps, claims: Claims, path: SubjectPath): Promise<Caller> {
  const { sub: userId, pid: projectId, iid: integrationId, jti } = claims;
  if (projectId === null) throw unauthorized();
  const [row] = await deps.db.read<UserTokenRow>(findUserToken(jti, userId, projectId, integrationId, path));
  if (!row) throw unauthorized();
  refuseDeadDelegate(row, integrationId);
  const ceiling = integrationId === null ? '*' : ((row.integration_scopes ?? []) as Scope[]);
  return {
    actor: {
      kind: 'user',
      projectId,
      userId,
      integrationId,
      jti,
      grant: commonGrant(claims.scopes, ceiling),
    },
    subject: subjectOf(row),
    rate: integrationId === null ? null : ratePolicyOf(deps, row, `${integrationId}:${userId}`),
    cors: corsPolicyOf(row),
  };
}

async function identifySpaceToken(deps: Deps, claims: Claims, path: SubjectPath): Promise<Caller> {
  const { sub: spaceId, pid: projectId, uid: userId, iid: integrationId, jti } = claims;
  if (projectId === null || userId === null) throw unauthorized();
  const statement = findSpaceToken(jti, spaceId, userId, projectId, integrationId, path);
  const [row] = await deps.db.read<SpaceTokenRow>(statement);
  if (!row?.space_active) throw unauthorized();
  refuseDeadDelegate(row, integrationId);
  return {
    // Whoever logged it in: the space's own scopes are its ceiling.
    actor: {
      kind: 'space',
      projectId,
      userId,
      spaceId,
      integrationId,
      jti,
      grant: row.space_scopes as Scope[],
    },
    subject: subjectOf(row),
    rate: integrationId === null ? null : ratePolicyOf(deps, row, `${integrationId}:${spaceId}`),
    cors: corsPolicyOf(row),
  };
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

/** Most specific first: the integration's own, the project's tier, what the admin set, the environment. */
function ratePolicyOf(deps: Deps, row: UserTokenRow | KeyRow, bucket: string): RatePolicy | null {
  if (row.dev_mode) return null;
  const { RATE_LIMIT_MAX, RATE_LIMIT_WINDOW_MS } = deps.settings;
  const fallback = row.global_rate ?? { max: RATE_LIMIT_MAX, window_ms: RATE_LIMIT_WINDOW_MS };
  const tierWindow = row.tier_max === null ? fallback.window_ms : (row.tier_window ?? fallback.window_ms);
  if (row.own_max === null) return { bucket, max: row.tier_max ?? fallback.max, windowMs: tierWindow };
  return { bucket, max: row.own_max, windowMs: row.own_window ?? tierWindow };
}

const corsPolicyOf = (row: UserTokenRow | KeyRow): CorsPolicy => ({
  origins: row.cors_origins ?? [],
  devMode: row.dev_mode ?? false,
});

function subjectOf(row: Partial<SubjectRow>): Subject | null {
  if (!row.u_id) return null;
  const found = row as SubjectRow;
  return {
    id: row.u_id,
    externalId: found.u_external_id,
    active: found.u_active,
    usedBytes: found.u_used_bytes,
    createdAt: found.u_created_at,
    updatedAt: found.u_updated_at,
    plan: found.p_id === null ? null : planOf(found, found.p_id),
  };
}

const planOf = (row: SubjectRow, id: string) => ({
  id,
  name: row.p_name,
  description: row.p_description,
  storageLimit: row.p_storage_limit,
  maxFileSize: row.p_max_file_size,
  allowedMimes: row.p_allowed_mimes,
  isDefault: row.p_is_default,
  createdAt: row.p_created_at,
  updatedAt: row.p_updated_at,
});

const usedEveryMs = 60_000;
const beingNoted = new Set<string>();

/** Not awaited, and one write at a time for a key: under load every request would see the old time. */
function noteUse(deps: Deps, row: KeyRow): void {
  if (row.last_used_at !== null && deps.clock() - Date.parse(row.last_used_at) < usedEveryMs) return;
  if (beingNoted.has(row.key_id)) return;
  beingNoted.add(row.key_id);
  deps.db
    .query(markKeyUsed(row.project_id, row.key_id))
    .catch((error: unknown) => deps.log.warn({ err: error }, 'the last use of a key was not noted'))
    .finally(() => beingNoted.delete(row.key_id));
}
