// Shares as those manage them who own the file. Whoever has the link comes in by shares.open.ts.
import { pinnedSpaceOf, type TenantActor } from '../../contract/actor.ts';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import { isoOf } from '../../kernel/clock.ts';
import { randomToken } from '../../kernel/crypto/secret.ts';
import { invalid, PakhusError } from '../../kernel/error.ts';
import { newId } from '../../kernel/id.ts';
import { parseTimestamp } from '../../kernel/text/timestamp.ts';
import { afterCursor, type PageRequest, toPage } from '../../platform/db/paging.ts';
import type { Transaction } from '../../platform/db/postgres.ts';
import { projectTransaction, readPage, search } from '../../platform/db/project-work.ts';
import { hashQueueOfSpaces } from '../../platform/passwords.ts';
import { changeOf, recordAudit } from '../audit/audit.service.ts';
import { eventOf, recordChange } from '../events/events.record.ts';
import { fileNotFound, readFile } from '../files/files.service.ts';
import { hashShareToken, passwordFailures } from './shares.open.ts';
import {
  countShares,
  deleteShare,
  findShare,
  insertShare,
  listSharesOfFile,
  listSharesOfUser,
  lockOwner,
  lockShare,
  lockSharedFile,
  type ShareRow,
  type ShareScope,
  type ShareValues,
  updateShare,
} from './shares.sql.ts';
import { type ShareChangeValues, type ShareInputValues, viewShare } from './shares.wire.ts';

const sharesOfFileMax = 100;

const scopeOf = (actor: TenantActor, userId: string): ShareScope => ({
  projectId: actor.projectId,
  userId,
  spaceId: pinnedSpaceOf(actor),
});

export async function listFileShares(
  deps: Deps,
  actor: TenantActor,
  userId: string,
  fileId: string,
  page: PageRequest,
) {
  await readFile(deps, actor, userId, fileId);
  const list = `shares:${fileId}`;
  const after = afterCursor(deps, list, page.cursor);
  const statement = listSharesOfFile(scopeOf(actor, userId), fileId, after, page);
  const rows = await readPage<ShareRow>(deps, actor.projectId, statement);
  return toPage(deps, list, rows, page.limit);
}

export async function listUserShares(deps: Deps, actor: TenantActor, userId: string, page: PageRequest) {
  const scope = scopeOf(actor, userId);
  const list = `shares:${scope.spaceId ?? userId}`;
  const statement = listSharesOfUser(scope, afterCursor(deps, list, page.cursor), page);
  // Of a space, few of the user's shares may be.
  const read = scope.spaceId === null ? readPage<ShareRow> : search<ShareRow>;
  return toPage(deps, list, await read(deps, actor.projectId, statement), page.limit);
}

export async function readShare(
  deps: Deps,
  actor: TenantActor,
  userId: string,
  fileId: string,
  shareId: string,
): Promise<ShareRow> {
  const [row] = await deps.db.read<ShareRow>(findShare(scopeOf(actor, userId), fileId, shareId));
  if (!row) throw shareNotFound();
  return row;
}

export interface CreatedShare {
  readonly share: ShareRow;
  /** The secret of its URL, which is not kept. */
  readonly token: string;
}

export async function createShare(
  deps: Deps,
  actor: TenantActor,
  userId: string,
  fileId: string,
  input: ShareInputValues,
  audit: AuditStamp,
): Promise<CreatedShare> {
  const scope = scopeOf(actor, userId);
  const values: ShareValues = {
    name: input.name ?? null,
    expires_at: toExpiry(deps, input.expires_at) ?? null,
    max_downloads: input.max_downloads ?? null,
    active: true,
  };
  // Found before the password is hashed, which costs more than anything else here.
  await readFile(deps, actor, userId, fileId);
  const passwordHash = (await hashPassword(deps, actor.projectId, input.password)) ?? null;
  const token = randomToken(32);
  const row = { ...values, id: newId(), tokenHash: hashShareToken(token), passwordHash };
  return projectTransaction(deps, actor.projectId, async (tx) => {
    await refuseTooMany(tx, scope, fileId);
    const [share] = (await tx.query<ShareRow>(insertShare(scope, fileId, row))) as [ShareRow];
    const view = viewShare(share);
    const { id: _, ...shown } = view;
    await recordChange(
      tx,
      audit,
      about(share, userId, { new: shown }),
      eventOf(actor.projectId, 'share.created', userId, view),
    );
    return { share, token };
  });
}

export async function changeShare(
  deps: Deps,
  actor: TenantActor,
  userId: string,
  fileId: string,
  shareId: string,
  input: ShareChangeValues,
  audit: AuditStamp,
): Promise<ShareRow> {
  const { projectId } = actor;
  const scope = scopeOf(actor, userId);
  const expiry = toExpiry(deps, input.expires_at);
  await readShare(deps, actor, userId, fileId, shareId);
  const passwordHash = await hashPassword(deps, projectId, input.password);
  const after = await projectTransaction(deps, projectId, async (tx) => {
    const [before] = await tx.query<ShareRow>(lockShare(scope, fileId, shareId));
    if (!before) throw shareNotFound();
    const values: ShareValues = {
      name: input.name === undefined ? before.name : input.name,
      expires_at: expiry === undefined ? before.expires_at : expiry,
      max_downloads: input.max_downloads === undefined ? before.max_downloads : input.max_downloads,
      active: input.active ?? before.active,
    };
    const [changed] = (await tx.query<ShareRow>(updateShare(projectId, shareId, values, passwordHash))) as [
      ShareRow,
    ];
    const newPassword = passwordHash ? { password: 'changed' } : {};
    const subject = about(changed, userId, { ...changeOf({ ...before }, { ...changed }), ...newPassword });
    if (before.active && !changed.active) await recordRevoked(tx, projectId, userId, changed, audit, subject);
    else await recordAudit(tx, audit, subject);
    return changed;
  });
  if (passwordHash !== undefined) await deps.limiter.reset(passwordFailures(shareId));
  return after;
}

export async function removeShare(
  deps: Deps,
  actor: TenantActor,
  userId: string,
  fileId: string,
  shareId: string,
  audit: AuditStamp,
): Promise<void> {
  const { projectId } = actor;
  await projectTransaction(deps, projectId, async (tx) => {
    const [share] = await tx.query<ShareRow>(lockShare(scopeOf(actor, userId), fileId, shareId));
    if (!share) throw shareNotFound();
    await tx.query(deleteShare(projectId, shareId));
    const subject = about(share, userId, { old: { file_id: fileId, name: share.name } });
    await recordRevoked(tx, projectId, userId, share, audit, subject);
  });
}

const recordRevoked = (
  tx: Transaction,
  projectId: string,
  userId: string,
  share: ShareRow,
  audit: AuditStamp,
  subject: ReturnType<typeof about>,
): Promise<void> =>
  recordChange(tx, audit, subject, eventOf(projectId, 'share.revoked', userId, viewShare(share)));

const about = (share: ShareRow, userId: string, metadata: object) => ({
  resourceType: 'share',
  resourceId: share.id,
  userId,
  metadata: { file_id: share.file_id, ...metadata } as Record<string, unknown>,
});

const shareNotFound = () => new PakhusError('NOT_FOUND', 'This file has no such share');

/** Undefined stays undefined, and null null. */
function toExpiry({ clock }: Deps, given: string | null | undefined): string | null | undefined {
  if (given === undefined || given === null) return given;
  const expiresAt = parseTimestamp(given) ?? 0;
  if (expiresAt > clock()) return isoOf(expiresAt);
  throw invalid(422, [{ path: 'expires_at', message: 'must be in the future', code: 'future' }]);
}

const hashPassword = async (
  { passwords }: Deps,
  projectId: string,
  password: string | null | undefined,
): Promise<string | null | undefined> =>
  typeof password === 'string' ? passwords.hash(hashQueueOfSpaces(projectId), password) : password;

async function refuseTooMany(tx: Transaction, scope: ShareScope, fileId: string): Promise<void> {
  await tx.query(lockOwner(scope));
  const [file] = await tx.query(lockSharedFile(scope, fileId));
  if (!file) throw fileNotFound();
  const [count] = await tx.query<{ shares: number }>(countShares(scope.projectId, fileId));
  if ((count?.shares ?? 0) < sharesOfFileMax) return;
  throw new PakhusError(
    'CONFLICT',
    `A file may have at most ${sharesOfFileMax} shares: delete those that nobody uses any more`,
    { details: { shares_max: sharesOfFileMax } },
  );
}
