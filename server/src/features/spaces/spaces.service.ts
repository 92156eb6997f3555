// Spaces: parts of a user's storage, each with its own login and at most one live session.
import {
  grantOf,
  type IntegrationActor,
  type ProjectActor,
  pinnedUserOf,
  type UserActor,
} from '../../contract/actor.ts';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import { spaceNotFound, tooMany } from '../../contract/refusals.ts';
import { isWithin, type Scope, withoutRepeats } from '../../contract/scope.ts';
import { usualMax } from '../../contract/subject.ts';
import { isoOf } from '../../kernel/clock.ts';
import { PakhusError } from '../../kernel/error.ts';
import { afterCursor, type PageRequest, toPage } from '../../platform/db/paging.ts';
import { brokenConstraint, type Transaction } from '../../platform/db/postgres.ts';
import { projectTransaction, readPage } from '../../platform/db/project-work.ts';
import { countUse } from '../../platform/limits/count-use.ts';
import type { Policy } from '../../platform/limits/limiter.ts';
import { hashQueueOfSpaces } from '../../platform/passwords.ts';
import { changeOf, recordAudit, withAction } from '../audit/audit.service.ts';
import { eventOf, recordChange } from '../events/events.record.ts';
import { moveFilesOfSpace } from '../files/files.service.ts';
import { lockProjectShared } from '../locks/locks.project.ts';
import { cancelUploadsOfSpace } from '../uploads/uploads.service.ts';
import { lockOwner } from '../users/users.service.ts';
import {
  countSpaces,
  deleteSpace,
  endSpaceSession,
  findSpace,
  findSpaceForLogin,
  insertSpace,
  type LockedSpaceRow,
  listSpaces,
  lockSpace,
  revokeUploadsOfSession,
  revokeUploadsOfSpace,
  type SetPassword,
  type SpaceLoginRow,
  type SpaceRow,
  updateSpace,
  updateSpacePassword,
  updateSpaceSession,
} from './spaces.sql.ts';
import { type NewSpaceInput, type SpaceChangeInput, viewSpace } from './spaces.wire.ts';

type Manager = ProjectActor | UserActor;

const loginFailurePolicy: Policy = { max: 10, windowMs: 15 * 60_000 };

export async function listUserSpaces(deps: Deps, projectId: string, userId: string, page: PageRequest) {
  const list = `spaces:${userId}`;
  const rows = await readPage<SpaceRow>(
    deps,
    projectId,
    listSpaces(projectId, userId, afterCursor(deps, list, page.cursor), page),
  );
  return toPage(deps, list, rows, page.limit);
}

export async function readSpace(
  deps: Deps,
  projectId: string,
  userId: string,
  spaceId: string,
): Promise<SpaceRow> {
  const [row] = await deps.db.read<SpaceRow>(findSpace(projectId, userId, spaceId));
  if (!row) throw spaceNotFound();
  return row;
}

export async function createSpace(
  deps: Deps,
  actor: Manager,
  userId: string,
  input: NewSpaceInput,
  audit: AuditStamp,
): Promise<SpaceRow> {
  const scopes = withoutRepeats(input.scopes ?? []);
  refuseExcessScopes(actor, scopes);
  const values = { name: input.name, scopes, limit_bytes: input.limit_bytes ?? null, active: true };
  const password = input.password === undefined ? null : await hashWithScopes(deps, actor, input.password);
  return projectTransaction(deps, actor.projectId, async (tx) => {
    await lockOwner(tx, actor.projectId, userId);
    await refuseTooMany(tx, actor.projectId, userId);
    const statement = insertSpace(actor.projectId, userId, input.external_id, values, password);
    const [row] = await tx.query<SpaceRow>(statement).catch(explainConflict);
    const space = row as SpaceRow;
    const subject = about(space, { new: { external_id: input.external_id, ...values } });
    await recordChange(tx, audit, subject, spaceEvent(actor.projectId, 'space.created', space));
    return space;
  });
}

/** Call with the owner locked, so that concurrent creations are counted one after the other. */
async function refuseTooMany(tx: Transaction, projectId: string, userId: string): Promise<void> {
  const [counted] = await tx.query<{ spaces: number; max: number | null }>(countSpaces(projectId, userId));
  const max = counted?.max ?? usualMax.spaces;
  if ((counted?.spaces ?? 0) >= max) throw tooMany('spaces', 'maxSpaces', max);
}

export async function changeSpace(
  deps: Deps,
  actor: Manager,
  userId: string,
  spaceId: string,
  input: SpaceChangeInput,
  audit: AuditStamp,
): Promise<SpaceRow> {
  if (input.scopes) refuseExcessScopes(actor, input.scopes);
  return projectTransaction(deps, actor.projectId, async (tx) => {
    const before = await lockAndRead(tx, actor.projectId, userId, spaceId);
    // Otherwise a caller could remove scopes it lacks, set a password, and wait until the owner adds them again.
    if (input.scopes) refuseExcessScopes(actor, before.scopes);
    const values = {
      name: input.name ?? before.name,
      scopes: input.scopes ? withoutRepeats(input.scopes) : before.scopes,
      limit_bytes: input.limit_bytes === undefined ? before.limit_bytes : input.limit_bytes,
      active: input.active ?? before.active,
    };
    const keepsPassword = passwordCovers(before, values.scopes);
    if (!values.active || !keepsPassword) await tx.query(revokeUploadsOfSpace(actor.projectId, spaceId));
    const [row] = await tx.query<SpaceRow>(updateSpace(actor.projectId, spaceId, values, keepsPassword));
    const after = row as SpaceRow;
    const subject = about(after, changeOf({ ...before }, { ...after }));
    await recordChange(tx, audit, subject, spaceEvent(actor.projectId, 'space.updated', after));
    return after;
  });
}

/** Whoever set the password may still know it, and must not gain scopes that they did not hold then. */
function passwordCovers(before: LockedSpaceRow, scopes: readonly Scope[]): boolean {
  if (!before.has_password) return true;
  const held = before.password_scopes ?? [];
  const added = scopes.filter((scope) => !before.scopes.includes(scope));
  return held.includes('*') || added.every((scope) => held.includes(scope));
}

async function hashWithScopes(deps: Deps, actor: Manager, password: string): Promise<SetPassword> {
  const grant = grantOf(actor);
  return {
    hash: await deps.passwords.hash(hashQueueOfSpaces(actor.projectId), password),
    scopes: grant === '*' ? ['*'] : grant,
  };
}

/** Its files move to the owner's level; the owner's usage does not change. */
export async function removeSpace(
  deps: Deps,
  projectId: string,
  userId: string,
  spaceId: string,
  audit: AuditStamp,
): Promise<void> {
  const remove = async (tx: Transaction) => {
    // Deleting the project locks the same files in another order.
    await lockProjectShared(tx, projectId);
    await lockOwner(tx, projectId, userId);
    const space = await lockAndRead(tx, projectId, userId, spaceId);
    await cancelUploadsOfSpace(tx, projectId, userId, spaceId, audit);
    await moveFilesOfSpace(deps, tx, projectId, spaceId);
    await tx.query(deleteSpace(projectId, spaceId));
    const subject = about(space, { old: { external_id: space.external_id, name: space.name } });
    await recordChange(tx, audit, subject, spaceEvent(projectId, 'space.deleted', space));
  };
  // It may have millions of files.
  await projectTransaction(deps, projectId, remove, 'long');
}

/** The caller must hold all scopes of the space, since it could log in with the password. */
export async function setSpacePassword(
  deps: Deps,
  actor: Manager,
  userId: string,
  spaceId: string,
  plain: string,
  audit: AuditStamp,
): Promise<void> {
  const { projectId } = actor;
  const password = await hashWithScopes(deps, actor, plain);
  const { external_id } = await projectTransaction(deps, projectId, async (tx) => {
    const space = await lockAndRead(tx, projectId, userId, spaceId);
    refuseExcessScopes(actor, space.scopes);
    await tx.query(revokeUploadsOfSpace(projectId, spaceId));
    const [changed] = await tx.query<SpaceRow>(updateSpacePassword(projectId, spaceId, password));
    const event = spaceEvent(projectId, 'space.updated', changed as SpaceRow);
    await recordChange(tx, audit, about(space, {}), event);
    return space;
  });
  await deps.limiter.reset(loginFailures(projectId, external_id));
}

export async function logIntoSpace(
  deps: Deps,
  actor: ProjectActor | IntegrationActor,
  input: { readonly external_id: string; readonly password: string },
  audit: AuditStamp,
) {
  const { space, hash } = await proveSpacePassword(deps, actor.projectId, input, audit);
  if (!space.active || !space.user_active) {
    throw new PakhusError(
      'FORBIDDEN',
      'The space or its owner is not active: ask the project to activate it',
    );
  }
  const { token, jti, expiresAtMs } = deps.tokens.sign({
    sub: space.id,
    role: 'space',
    pid: actor.projectId,
    uid: space.user_id,
    iid: actor.kind === 'integration' ? actor.integrationId : null,
    akid: actor.keyId,
    scopes: space.scopes,
    ttlMs: deps.settings.SPACE_TOKEN_TTL_SECONDS * 1000,
  });
  await projectTransaction(deps, actor.projectId, async (tx) => {
    const [session] = await tx.query(updateSpaceSession(actor.projectId, space.id, jti, hash));
    if (!session) throw wrongCredentials();
    await recordAudit(tx, audit, about(space, { jti }));
  });
  return {
    token,
    jti,
    space_id: space.id,
    user_id: space.user_id,
    scopes: space.scopes,
    expires_at: isoOf(expiresAtMs),
  };
}

const loginFailures = (projectId: string, externalId: string): string => `space:${projectId}:${externalId}`;

/** Failures also count for an external id that does not exist: both cases must look the same. */
async function proveSpacePassword(
  deps: Deps,
  projectId: string,
  input: { readonly external_id: string; readonly password: string },
  audit: AuditStamp,
) {
  const failures = loginFailures(projectId, input.external_id);
  // Read first: if the database is down, the attempt must not count as a failure.
  const [space] = await deps.db.read<SpaceLoginRow>(findSpaceForLogin(projectId, input.external_id));
  const hash = space?.password_hash ?? null;
  const right = await deps.passwords.verify(hashQueueOfSpaces(projectId), input.password, hash, () =>
    countUse(deps, failures, loginFailurePolicy, 'Too many failed logins for this space'),
  );
  if (!space || hash === null || !right) {
    deps.auditQueue.add(withAction(audit, 'auth.login_failed'), {
      resourceType: 'space',
      resourceId: space?.id ?? null,
      userId: space?.user_id ?? null,
      metadata: { external_id: input.external_id },
    });
    throw wrongCredentials();
  }
  await deps.limiter.reset(failures);
  return { space, hash };
}

export async function revokeSpaceToken(
  deps: Deps,
  actor: ProjectActor | IntegrationActor | UserActor,
  jti: string,
  audit: AuditStamp,
): Promise<void> {
  const { projectId } = actor;
  await projectTransaction(deps, projectId, async (tx) => {
    const userId = pinnedUserOf(actor);
    await tx.query(revokeUploadsOfSession(projectId, jti, userId));
    const [ended] = await tx.query<{ user_id: string }>(endSpaceSession(projectId, jti, userId));
    // No audit row if there was no such session.
    if (ended)
      await recordAudit(tx, audit, { resourceType: 'token', resourceId: jti, userId: ended.user_id });
  });
}

const wrongCredentials = () =>
  new PakhusError('UNAUTHORIZED', 'The external id or the password of the space is wrong: check both');

function refuseExcessScopes(actor: Manager, scopes: readonly Scope[]): void {
  const excess = scopes.filter((scope) => !isWithin([scope], grantOf(actor)));
  if (excess.length === 0) return;
  throw new PakhusError('FORBIDDEN', `You can only grant scopes you hold; missing: ${excess.join(', ')}`, {
    details: { excess_scopes: excess },
  });
}

async function lockAndRead(
  tx: Transaction,
  projectId: string,
  userId: string,
  spaceId: string,
): Promise<LockedSpaceRow> {
  const [row] = await tx.query<LockedSpaceRow>(lockSpace(projectId, userId, spaceId));
  if (!row) throw spaceNotFound();
  return row;
}

function explainConflict(error: unknown): never {
  if (brokenConstraint(error) !== 'spaces_external_id_unique') throw error;
  throw new PakhusError(
    'CONFLICT',
    'A space with this external id exists already in this project: choose another external id',
    {
      details: { field: 'external_id' },
    },
  );
}

const spaceEvent = (
  projectId: string,
  type: 'space.created' | 'space.updated' | 'space.deleted',
  space: SpaceRow,
) => eventOf(projectId, type, space.user_id, viewSpace(space));

const about = (space: SpaceRow, metadata: object) => ({
  resourceType: 'space',
  resourceId: space.id,
  userId: space.user_id,
  metadata: metadata as Record<string, unknown>,
});
