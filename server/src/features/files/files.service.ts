// Files that are stored: reading, listing, changing and deleting them.

import { setTimeout as delay } from 'node:timers/promises';
import { pinnedSpaceOf, type TenantActor } from '../../contract/actor.ts';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import type { FileFinder, FileRow, ReadRow, WantedFile } from '../../contract/file.ts';
import { Serialized } from '../../contract/serialized.ts';
import { microBatch } from '../../kernel/async/micro-batch.ts';
import { withTimeout } from '../../kernel/async/time-limit.ts';
import { isoOf } from '../../kernel/clock.ts';
import { PakhusError } from '../../kernel/error.ts';
import { quoted } from '../../kernel/text/json.ts';
import { isUnanswered, outcomeUnknown } from '../../platform/db/outage.ts';
import { afterCursor, afterPosition, type PageRequest } from '../../platform/db/paging.ts';
import type { Database, Transaction } from '../../platform/db/postgres.ts';
import { mayWait, projectTransaction, readPage, search } from '../../platform/db/project-work.ts';
import { noSql, type Sql } from '../../platform/db/sql.ts';
import type { Zone } from '../../platform/objects/object-store.ts';
import { changeOf, recordAudit } from '../audit/audit.service.ts';
import { removeDropped } from '../objects/objects.remove.ts';
import { dropObjects } from '../objects/objects.service.ts';
import { countFor } from '../traffic/traffic.count.ts';
import { mergeValues } from './files.meta.ts';
import { moveFile } from './files.move.ts';
import { zoneFor } from './files.objects.ts';
import {
  deleteFile,
  type FileFilter,
  type FilePage,
  filesOfProject,
  filesOfUser,
  findDeletion,
  findFiles,
  isSearch,
  listChildFolders,
  listFiles,
  lockFile,
  lockFileInZone,
  lockFiles,
  type SpaceFilter,
  updateFile,
} from './files.sql.ts';
import type { FileMetaInput } from './files.wire.ts';

export const fileNotFound = () => new PakhusError('NOT_FOUND', 'There is no such file of this user');

/** What of a user's files the caller sees, narrowed by what it asks for. A space token sees its own space. */
export function visibleSpace(actor: TenantActor, wanted?: string): SpaceFilter {
  if (actor.kind === 'space') return { spaceId: actor.spaceId };
  if (wanted === undefined) return 'all';
  return wanted === 'none' ? 'none' : { spaceId: wanted };
}

export async function readFile(
  deps: Deps,
  actor: TenantActor,
  userId: string,
  fileId: string,
): Promise<ReadRow> {
  const { projectId } = actor;
  const row = await deps.findFile({ projectId, userId, spaceId: pinnedSpaceOf(actor), fileId });
  if (!row) throw fileNotFound();
  return row;
}

/** Files that are asked for together, by whomever, are found by one statement. */
export const createFileFinder = (db: Database): FileFinder =>
  microBatch(
    async (wanted: readonly WantedFile[]): Promise<(ReadRow | null)[]> => {
      const found = Array<ReadRow | null>(wanted.length).fill(null);
      const rows = await db.read<ReadRow & { number: number }>(findFiles(wanted));
      for (const row of rows) found[row.number - 1] = row;
      return found;
    },
    { gather: 'iteration' },
  );

export async function listUserFiles(
  deps: Deps,
  actor: TenantActor,
  userId: string,
  filter: FileFilter,
  page: PageRequest,
): Promise<Serialized> {
  const list = listName('files', actor, userId);
  const after = afterCursor(deps, list, page.cursor);
  const statement = listFiles(actor.projectId, userId, filter, after, page);
  const found = await readFilePage(deps, actor.projectId, filter, statement);
  const next = found.more ? deps.cursors.encode(list, toPosition(found)) : null;
  return new Serialized(`{"files":${found.files},"next_cursor":${next === null ? 'null' : quoted(next)}}`);
}

async function readFilePage(
  deps: Deps,
  projectId: string,
  filter: FileFilter,
  statement: Sql,
): Promise<FilePage> {
  const [page] = await readFiltered<FilePage>(deps, projectId, filter, statement);
  return page as FilePage;
}

const readFiltered = <Row>(
  deps: Deps,
  projectId: string,
  filter: FileFilter,
  statement: Sql,
): Promise<Row[]> =>
  isSearch(filter) ? search<Row>(deps, projectId, statement) : readPage<Row>(deps, projectId, statement);

const toPosition = ({ last_created_at, last_id }: FilePage): string[] => [
  last_created_at ?? '',
  last_id ?? '',
];

/** A cursor of one token is of no use to another that sees less. */
const listName = (what: string, actor: TenantActor, userId: string): string =>
  `${what}:${pinnedSpaceOf(actor) ?? userId}`;

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
  { limit, cursor }: PageRequest,
): Promise<Serialized> {
  const list = `${listName('folders', actor, userId)}:${prefix}`;
  const level = (folders: string[], files: string, next: string[] | null) => {
    const next_cursor = next && deps.cursors.encode(list, next);
    const beside = JSON.stringify({ prefix, folders, next_cursor });
    return new Serialized(`${beside.slice(0, -1)},"files":${files}}`);
  };
  const [phase, ...position] = cursor === undefined ? ['folders'] : deps.cursors.decode(list, cursor);
  const names =
    phase === 'folders'
      ? await childFolders(deps, actor.projectId, userId, space, prefix, position[0] ?? null, limit + 1)
      : [];
  const folders = names.slice(0, limit);
  const nextFolders = ['folders', folders.at(-1) ?? ''];
  if (names.length > limit) return level(folders, '[]', nextFolders);
  const after = phase === 'folders' ? noSql : afterPosition(position);
  const room = limit - folders.length;
  const filter = { space, folder: prefix };
  const statement = listFiles(actor.projectId, userId, filter, after, { limit: room });
  const page = await readFilePage(deps, actor.projectId, filter, statement);
  if (!page.more) return level(folders, page.files, null);
  // A page full of folders is followed by the first file, which no position is before.
  return level(folders, page.files, room === 0 ? nextFolders : ['files', ...toPosition(page)]);
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
  const statement = listChildFolders(projectId, userId, space, prefix, after, limit);
  const filter = { space, folder: prefix };
  const rows = await readFiltered<{ name: string }>(deps, projectId, filter, statement);
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
  const after = await projectTransaction(deps, projectId, async (tx) => {
    const [before] = await tx.query<FileRow>(lockFile(projectId, userId, visibleSpace(actor), fileId));
    if (!before) throw fileNotFound();
    const [changed] = await tx.query<FileRow>(updateFile(projectId, fileId, mergeValues(before, input)));
    const row = changed as FileRow;
    await recordAudit(tx, audit, {
      resourceType: 'file',
      resourceId: fileId,
      userId,
      metadata: changeOf({ ...before }, { ...row }),
    });
    return row;
  });
  if (after.zone !== zoneFor(deps.objects, after.visibility)) await moveSoon(deps, projectId, after);
  return after;
}

const moveWaitMaxMs = 10_000;

/** The change is committed: an object that cannot follow it in time is moved in the background, or by the mover. */
async function moveSoon(deps: Deps, projectId: string, file: FileRow): Promise<void> {
  const move = moveFile(deps, projectId, file).catch((error: unknown) => {
    deps.log.warn({ err: error, file_id: file.id }, 'a file was left to the mover');
  });
  await withTimeout(moveWaitMaxMs, move);
}

export async function removeFile(
  deps: Deps,
  actor: TenantActor,
  userId: string,
  fileId: string,
  audit: AuditStamp,
): Promise<void> {
  const statement = deleteFile(actor.projectId, userId, pinnedSpaceOf(actor), fileId, audit);
  const find = findDeletion(actor.projectId, userId, fileId, isoOf(Date.now() - clockSkewMs), audit);
  const gone = await mayWait(deps, actor.projectId, () => deleteConfirmed(deps, statement, find));
  if (!gone) throw fileNotFound();
  countFor(deps, actor, userId, { deletes: 1 });
  if (gone.zone)
    await removeDropped(deps, { projectId: actor.projectId, fileId, id: fileId, zone: gone.zone });
}

/** Between this machine's clock and the database's. */
const clockSkewMs = 10_000;
const settleMsMax = 2_500;

interface Deleted {
  /** Null where the deletion was not confirmed: the reaper deletes the object. */
  readonly zone: Zone | null;
}

/** Null if there is no such file. */
async function deleteConfirmed(deps: Deps, statement: Sql, find: Sql): Promise<Deleted | null> {
  const deleteOnce = async (): Promise<Deleted | null> => {
    const [deleted] = await deps.db.query<Pick<FileRow, 'zone'>>(statement);
    return deleted ?? null;
  };
  try {
    return await deleteOnce();
  } catch (error) {
    if (!isUnanswered(error)) throw error;
    // To delete it again does no harm. If nothing is left to delete, the audit log tells whether this caller did it.
    const again = deleteOnce().then(async (deleted) => {
      if (deleted) return deleted;
      return (await deps.db.read(find)).length > 0 ? { zone: null } : null;
    });
    const late = delay(settleMsMax, 'late' as const, { ref: false });
    const settled = await Promise.race([again.catch(() => 'late' as const), late]);
    if (settled === 'late') throw outcomeUnknown(error);
    return settled;
  }
}

/** Within the deletion of a user, whose row the caller has locked. */
export const dropFilesOfUser = (tx: Transaction, projectId: string, userId: string): Promise<void> =>
  dropFiles(tx, filesOfUser(projectId, userId));

/** Within the deletion of a project, whose row the caller has locked against new files. */
export const dropFilesOfProject = (tx: Transaction, projectId: string): Promise<void> =>
  dropFiles(tx, filesOfProject(projectId));

async function dropFiles(tx: Transaction, files: Sql): Promise<void> {
  await tx.query(lockFiles(files));
  await dropObjects(tx, files);
}

/** Locks a file whose object is in this zone, until the transaction ends. */
export const lockInZone = async (
  tx: Transaction,
  projectId: string,
  fileId: string,
  zone: Zone,
): Promise<boolean> => (await tx.query(lockFileInZone(projectId, fileId, zone))).length > 0;
