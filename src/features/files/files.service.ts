// Files that are stored: reading, listing, changing and deleting them.
import type { TenantActor } from '../../contract/actor.ts';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import { afterCursor, type PageRequest, pageOf } from '../../contract/paging.ts';
import { PakhusError } from '../../kernel/error.ts';
import type { Transaction } from '../../platform/db/postgres.ts';
import { noSql, sql } from '../../platform/db/sql.ts';
import { changeOf, recordAudit } from '../audit/audit.service.ts';
import { countFor } from '../stats/stats.count.ts';
import { valuesOf } from './files.meta.ts';
import { moveFile } from './files.move.ts';
import { removeObjectSoon, shelfFor } from './files.objects.ts';
import {
  deleteFile,
  type FileFilter,
  type FileRow,
  findFile,
  insertDoomedOfProject,
  insertDoomedOfUser,
  listChildFolders,
  listFiles,
  lockFile,
  type SpaceFilter,
  updateFile,
} from './files.sql.ts';
import type { FileMetaInput } from './files.wire.ts';

export const fileNotFound = () => new PakhusError('NOT_FOUND', 'There is no such file of this user');

/** What of a user's files the caller sees, narrowed by what it asks for. A space token sees its own space. */
export function visibleSpace(actor: TenantActor, wanted?: string): SpaceFilter {
  if (actor.kind === 'space') {
    if (wanted !== undefined && wanted !== actor.spaceId)
      throw new PakhusError('NOT_FOUND', 'There is no such space of this user');
    return { spaceId: actor.spaceId };
  }
  if (wanted === undefined) return 'all';
  return wanted === 'none' ? 'none' : { spaceId: wanted };
}

export async function readFile(
  deps: Deps,
  actor: TenantActor,
  userId: string,
  fileId: string,
): Promise<FileRow> {
  const [row] = await deps.db.read<FileRow>(findFile(actor.projectId, userId, visibleSpace(actor), fileId));
  if (!row) throw fileNotFound();
  return row;
}

export async function listUserFiles(
  deps: Deps,
  actor: TenantActor,
  userId: string,
  filter: FileFilter,
  page: PageRequest,
) {
  const list = listName('files', actor, userId);
  const after = afterCursor(deps, list, page.cursor);
  const rows = await deps.db.read<FileRow>(listFiles(actor.projectId, userId, filter, after, page.limit + 1));
  const { rows: kept, next_cursor } = pageOf(deps, list, rows, page.limit);
  return { files: kept, next_cursor };
}

/** A cursor of one token is of no use to another that sees less. */
const listName = (what: string, actor: TenantActor, userId: string): string =>
  `${what}:${actor.kind === 'space' ? actor.spaceId : userId}`;

/**
 * One level of the folder tree, folders first, then the files right in it; a page holds at most `limit` of
 * both together.
 */
export async function listFolder(
  deps: Deps,
  actor: TenantActor,
  userId: string,
  prefix: string,
  space: SpaceFilter,
  page: PageRequest,
) {
  const list = `${listName('folders', actor, userId)}:${prefix}`;
  const position = page.cursor === undefined ? ['folders'] : deps.cursors.decode(list, page.cursor);
  const inFolders = position[0] === 'folders';
  const names = inFolders
    ? await childFolders(deps, actor.projectId, userId, space, prefix, position[1] ?? null, page.limit + 1)
    : [];
  if (names.length > page.limit) {
    const folders = names.slice(0, page.limit);
    return { folders, files: [], next_cursor: deps.cursors.encode(list, ['folders', folders.at(-1) ?? '']) };
  }
  const after = inFolders
    ? noSql
    : sql` and (created_at, id) < (${position[1]}::timestamptz, ${position[2]}::uuid)`;
  const room = page.limit - names.length;
  const rows = await deps.db.read<FileRow>(
    listFiles(actor.projectId, userId, { space, folder: prefix }, after, room + 1),
  );
  const files = rows.slice(0, room);
  if (rows.length <= room) return { folders: names, files, next_cursor: null };
  const last = files.at(-1);
  // A page full of folders is followed by the first file, which no position is before.
  const next = last ? ['files', last.created_at, last.id] : ['folders', names.at(-1) ?? ''];
  return { folders: names, files, next_cursor: deps.cursors.encode(list, next) };
}

async function childFolders(
  deps: Deps,
  projectId: string,
  userId: string,
  space: SpaceFilter,
  prefix: string,
  after: string | null,
  limit: number,
): Promise<string[]> {
  const rows = await deps.db.read<{ name: string }>(
    listChildFolders(projectId, userId, space, prefix, after, limit),
  );
  return rows.map((row) => row.name);
}

export async function changeFile(
  deps: Deps,
  actor: TenantActor,
  userId: string,
  fileId: string,
  input: FileMetaInput,
  audit: AuditStamp,
): Promise<FileRow> {
  const { projectId } = actor;
  const after = await deps.db.transaction(async (tx) => {
    const [before] = await tx.query<FileRow>(lockFile(projectId, userId, visibleSpace(actor), fileId));
    if (!before) throw fileNotFound();
    const [changed] = await tx.query<FileRow>(updateFile(projectId, fileId, valuesOf(before, input)));
    const row = changed as FileRow;
    await recordAudit(tx, audit, {
      resourceType: 'file',
      resourceId: fileId,
      userId,
      metadata: changeOf({ ...before }, { ...row }),
    });
    return row;
  });
  if (after.shelf !== shelfFor(deps.objects, after.visibility)) await moveSoon(deps, projectId, after);
  return after;
}

/** The change is committed: if the object cannot follow it now, the mover takes it along a little later. */
async function moveSoon(deps: Deps, projectId: string, file: FileRow): Promise<void> {
  await moveFile(deps, projectId, file).catch((error: unknown) => {
    deps.log.warn({ err: error, file_id: file.id }, 'a file was left to the mover');
  });
}

export async function removeFile(
  deps: Deps,
  actor: TenantActor,
  userId: string,
  fileId: string,
  audit: AuditStamp,
): Promise<void> {
  const spaceId = actor.kind === 'space' ? actor.spaceId : null;
  const [gone] = await deps.db.query<Pick<FileRow, 'storage_key' | 'shelf'>>(
    deleteFile(actor.projectId, userId, spaceId, fileId, audit),
  );
  if (!gone) throw fileNotFound();
  countFor(deps, actor, userId, { deletes: 1 });
  await removeObjectSoon(deps, gone.shelf, gone.storage_key);
}

/** Within the deletion of a user, whose row the caller has locked. */
export async function doomFilesOfUser(tx: Transaction, projectId: string, userId: string): Promise<void> {
  await tx.query(insertDoomedOfUser(projectId, userId));
}

/** Within the deletion of a project, whose row the caller has locked against new files. */
export async function doomFilesOfProject(tx: Transaction, projectId: string): Promise<void> {
  await tx.query(insertDoomedOfProject(projectId));
}
