// Uploads as their callers see them: found, listed and cancelled by id; read, continued and cancelled by URL.
import { pinnedSpaceOf, type TenantActor } from '../../contract/actor.ts';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Call } from '../../contract/call.ts';
import type { Deps } from '../../contract/deps.ts';
import { PakhusError } from '../../kernel/error.ts';
import { afterCursor, type PageRequest, toPage } from '../../platform/db/paging.ts';
import type { Database, Transaction } from '../../platform/db/postgres.ts';
import { readPage } from '../../platform/db/project-work.ts';
import { claim, noSuchUpload, uploadNotFound } from './uploads.claim.ts';
import { complete, failIfLost } from './uploads.complete.ts';
import { hashToken } from './uploads.create.ts';
import { cancel } from './uploads.end.ts';
import { type Incoming, receive, tooManyBytes } from './uploads.receive.ts';
import {
  type CorsRow,
  cancelOfSpace,
  countByStatus,
  dropObjectsOfProject,
  dropObjectsOfUser,
  findByToken,
  findUpload,
  listUploads,
  type StagedRow,
  type StatusRow,
  type UploadName,
  type UploadRow,
  type UploadScope,
} from './uploads.sql.ts';

export const toScope = (actor: TenantActor, userId: string): UploadScope => ({
  projectId: actor.projectId,
  userId,
  spaceId: pinnedSpaceOf(actor),
});

export async function listOfUser(
  deps: Deps,
  scope: UploadScope,
  page: PageRequest,
): Promise<{ rows: readonly UploadRow[]; next_cursor: string | null }> {
  const list = `uploads of ${scope.userId}`;
  const after = afterCursor(deps, list, page.cursor);
  const rows = await readPage<UploadRow>(deps, scope.projectId, listUploads(scope, after, page));
  return toPage(deps, list, rows, page.limit);
}

export async function readUpload(deps: Deps, scope: UploadScope, id: string): Promise<StagedRow> {
  const [row] = await deps.db.read<StagedRow>(findUpload(scope, id));
  if (!row) throw noSuchUpload();
  return row;
}

/** An upload that has ended without a file is cancelled already. */
export async function cancelUpload(
  deps: Deps,
  scope: UploadScope,
  id: string,
  audit: AuditStamp,
): Promise<void> {
  const row = await readUpload(deps, scope, id);
  if (row.status === 'uploading' && (await cancel(deps, row, audit))) return;
  const { status } = await readUpload(deps, scope, id);
  if (status === 'completed')
    throw new PakhusError('CONFLICT', 'The upload is completed: delete the file instead', {
      details: { file_id: row.file_id },
    });
}

/** Finds the upload behind a URL. Sends the CORS headers of the credential that created it. */
async function findByUrl(deps: Deps, token: string, call: Call): Promise<StagedRow> {
  const [row] = await deps.db.read<StagedRow & CorsRow>(findByToken(hashToken(token)));
  if (!row) throw hideUpload(call);
  allowOrigins(call, row);
  return row;
}

/** Any page may read it: a client in a browser has to tell it from a lost connection, to create a new upload. */
function hideUpload(call: Call): PakhusError {
  call.allowAnyOrigin();
  return uploadNotFound();
}

const allowOrigins = (call: Call, { cors_origins, dev_mode }: CorsRow): void =>
  call.allowOrigins({ origins: cors_origins ?? [], devMode: dev_mode ?? false });

/**
 * The upload with its offset. A request that is still adding bytes ends first: its client asks because it has lost that
 * connection. An upload whose last request was interrupted after its last byte is completed.
 */
export async function probeUpload(deps: Deps, token: string, call: Call): Promise<UploadRow> {
  let row = await findByUrl(deps, token, call);
  if (row.status === 'uploading' && row.receiving) {
    await deps.liveUploads.stop(row.id);
    row = await findByUrl(deps, token, call);
  }
  if (row.status !== 'uploading' || !(row.receiving || row.received === row.size)) return row;
  const at = row.received === row.size ? row.received : null;
  try {
    return await addBytes(deps, { tokenHash: hashToken(token) }, at, noBytes(call), call);
  } catch (error) {
    if (!(error instanceof PakhusError) || error.status >= 500) throw error;
    // It was refused, which has ended it, or another request was completing it as well.
    const now = await findByUrl(deps, token, call);
    if (now.status === 'completed') return now;
    throw error;
  }
}

const noBytes = ({ raw }: Call): Incoming => ({ raw, length: 0, size: null, isEnd: false, checksum: null });

/**
 * Adds a body at the offset `at`, and completes the upload if it is whole then. Without an offset it only ends the request
 * that is adding bytes.
 */
export async function addBytes(
  deps: Deps,
  name: UploadName,
  at: number | null,
  incoming: Incoming,
  call: Call,
): Promise<UploadRow> {
  const claimed = await claim(deps, name, at, incoming.length);
  const { row } = claimed;
  allowOrigins(call, row);
  switch (row.outcome) {
    case 'absent':
      throw hideUpload(call);
    case 'ended':
      return repeated(row, at, incoming);
    case 'offset':
      throw otherOffset(row);
    case 'too long':
      throw tooManyBytes(row.size ?? 0);
    case 'claimed':
      if (at === null) return row;
  }
  const received = await failIfLost(deps, row, () => receive(deps, claimed, incoming));
  if (received.row.received !== received.row.size) return received.row;
  await call.recheckCredential();
  return complete(deps, received.row, received, call);
}

/** The answer that completed an upload may have been lost: an empty body at its end is right. */
function repeated(row: StagedRow, at: number | null, { length }: Incoming): UploadRow {
  if (at !== null && (at !== row.size || length !== 0))
    throw otherOffset({ ...row, received: row.size ?? row.received });
  return row;
}

const otherOffset = ({ received }: UploadRow) =>
  new PakhusError('CONFLICT', `The offset of this upload is ${received}: go on from there`, {
    details: { offset: received },
    headers: { 'upload-offset': received },
  });

export async function cancelByUrl(deps: Deps, token: string, call: Call): Promise<void> {
  const row = await findByUrl(deps, token, call);
  if (row.status === 'completed') throw uploadNotFound();
  const { ipAddress, userAgent } = call;
  await cancel(deps, row, { ipAddress, userAgent });
}

/** Part of deleting a user: the caller has locked it. The rows go with the user. */
export const dropUploadsOfUser = async (tx: Transaction, projectId: string, userId: string): Promise<void> =>
  void (await tx.query(dropObjectsOfUser(projectId, userId)));

/** Part of deleting a project: the caller has locked it. */
export const dropUploadsOfProject = async (tx: Transaction, projectId: string): Promise<void> =>
  void (await tx.query(dropObjectsOfProject(projectId)));

/** Part of deleting a space: the caller has locked its user and the space. */
export const cancelUploadsOfSpace = async (
  tx: Transaction,
  projectId: string,
  userId: string,
  spaceId: string,
  audit: AuditStamp,
): Promise<void> => void (await tx.query(cancelOfSpace(projectId, userId, spaceId, audit)));

/** How many uploads of all projects are in each state, and what they have reserved. */
export const readUploadCounts = (db: Database): Promise<StatusRow[]> => db.query<StatusRow>(countByStatus());
