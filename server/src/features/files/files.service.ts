// Reads, lists, changes and deletes stored files.

import { pinnedSpaceOf, type TenantActor } from '../../contract/actor.ts';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import type {
  DeliveredRow,
  FileFinder,
  FileRow,
  ReadRow,
  SpaceFilter,
  WantedFile,
} from '../../contract/file.ts';
import { Serialized } from '../../contract/serialized.ts';
import { microBatch } from '../../kernel/async/micro-batch.ts';
import { withTimeout } from '../../kernel/async/time-limit.ts';
import { PakhusError } from '../../kernel/error.ts';
import { quoted } from '../../kernel/text/json.ts';
import { afterCursor, afterPosition, type PageRequest } from '../../platform/db/paging.ts';
import type { Database, Transaction } from '../../platform/db/postgres.ts';
import { projectTransaction, readPage, search } from '../../platform/db/project-work.ts';
import { noSql, type Sql } from '../../platform/db/sql.ts';
import type { Zone } from '../../platform/objects/object-store.ts';
import { changeOf } from '../audit/audit.service.ts';
import { eventOf, recordChange } from '../events/events.record.ts';
import { dropObjects } from '../objects/objects.service.ts';
import { toRefusal } from './files.checks.ts';
import { fileHeld, refuseKeeping } from './files.keeping.ts';
import {
  type FileFilter,
  fileSeparator,
  isSearch,
  isWalked,
  type LargePageRow,
  type ListedPage,
  listChildFolders,
  listFiles,
  listLargeFiles,
  type PageRow,
  type WalkedPageRow,
  walkTag,
  walkTagOfLarge,
} from './files.list.sql.ts';
import { mergeValues } from './files.meta.ts';
import { moveFile } from './files.move.ts';
import { zoneFor } from './files.objects.ts';
import {
  beforeAllFiles,
  deleteFiles,
  type FilePosition,
  findDelivered,
  findExisting,
  findFiles,
  findHold,
  findSpaceOfUser,
  findView,
  lockFile,
  lockFileInZone,
  lockFilesOfProject,
  lockFilesOfSpace,
  lockFilesOfUser,
  moveFilesToOwner,
  setCrc32,
  updateFile,
} from './files.sql.ts';
import { deleteTrashed, lockTrashOfProject, lockTrashOfUser, moveTrashToOwner } from './files.trash.sql.ts';
import { refuseOtherVersion, versionOf } from './files.version.ts';
import { type FileMetaInput, viewFile } from './files.wire.ts';

export const fileNotFound = (id?: string) =>
  id === undefined
    ? new PakhusError('NOT_FOUND', 'This user has no such file')
    : new PakhusError('NOT_FOUND', `This user has no file ${id}`, { details: { id } });

/** A space token sees only its own space, whatever it asks for. */
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

/** For requests whose permission is the URL. */
export const findDeliveredFile = async (
  { db }: Pick<Deps, 'db'>,
  projectId: string,
  fileId: string,
): Promise<DeliveredRow | null> => (await db.read<DeliveredRow>(findDelivered(projectId, fileId)))[0] ?? null;

export const hasFile = async (
  { db }: Pick<Deps, 'db'>,
  projectId: string,
  fileId: string,
): Promise<boolean> => (await db.read(findExisting(projectId, fileId))).length > 0;

/** Concurrent reads share one statement, across callers. */
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
  const { files, more } = await readFilePage(deps, {
    projectId: actor.projectId,
    userId,
    filter,
    after,
    page,
  });
  const next = more ? deps.cursors.encode(list, lastPosition(files)) : null;
  return toFileList(files, next);
}

export interface FilePage {
  /** The JSON of the files, separated. */
  readonly files: string;
  readonly more: boolean;
}

export async function readFilePage(deps: Deps, list: ListedPage): Promise<FilePage> {
  const { projectId, filter, page } = list;
  const read = async <Row>(statement: Sql): Promise<Row> => {
    const [row] = await readFiltered<Row>(deps, projectId, filter, statement);
    return row as Row;
  };
  const toFilePage = async ({ files, found, has_large }: PageRow, ofLarge: typeof listLargeFiles) => {
    if (!has_large)
      return found > page.limit ? withoutLast(files ?? '') : { files: files ?? '', more: false };
    const cut = await read<LargePageRow>(ofLarge(list));
    return { files: cut.files ?? '', more: cut.more };
  };
  if (isWalked(filter)) {
    const walked = await read<WalkedPageRow>(walkTag(list));
    if (!walked.is_cut) return toFilePage(walked, walkTagOfLarge);
  }
  return toFilePage(await read<PageRow>(listFiles(list)), listLargeFiles);
}

const withoutLast = (files: string): FilePage => ({
  files: files.slice(0, Math.max(files.lastIndexOf(fileSeparator), 0)),
  more: true,
});

/** Read from the file itself: that costs less than two more columns. */
function lastPosition(files: string): string[] {
  const { created_at, id } = lastFile(files);
  return [created_at, id];
}

export const lastFile = (files: string): Pick<FileRow, 'created_at' | 'id' | 'name' | 'size'> =>
  JSON.parse(files.slice(files.lastIndexOf(fileSeparator) + 1));

export const toFileList = (files: string, next: string | null): Serialized =>
  new Serialized(`{"files":[${files}],"next_cursor":${next === null ? 'null' : quoted(next)}}`);

const readFiltered = <Row>(
  deps: Deps,
  projectId: string,
  filter: FileFilter,
  statement: Sql,
): Promise<Row[]> =>
  isSearch(filter) ? search<Row>(deps, projectId, statement) : readPage<Row>(deps, projectId, statement);

/** Binds a cursor to what its token may see, so that a narrower token cannot use it. */
export const listName = (what: string, actor: TenantActor, userId: string): string =>
  `${what}:${pinnedSpaceOf(actor) ?? userId}`;

/** One level of the folder tree: subfolders first, then the files in it. A page holds at most `limit` of both together. */
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
    return new Serialized(`${beside.slice(0, -1)},"files":[${files}]}`);
  };
  const [phase, ...position] = cursor === undefined ? ['folders'] : deps.cursors.decode(list, cursor);
  const names =
    phase === 'folders'
      ? await childFolders(deps, actor.projectId, userId, space, prefix, position[0] ?? null, limit + 1)
      : [];
  const folders = names.slice(0, limit);
  const nextFolders = ['folders', folders.at(-1) ?? ''];
  if (names.length > limit) return level(folders, '', nextFolders);
  const after = phase === 'folders' ? noSql : afterPosition(position);
  const room = limit - folders.length;
  const filter = { space, folder: prefix };
  const { projectId } = actor;
  const { files, more } = await readFilePage(deps, {
    projectId,
    userId,
    filter,
    after,
    page: { limit: room },
  });
  if (!more) return level(folders, files, null);
  // A page full of folders has no last file to continue after: the next page starts after the last folder.
  return level(folders, files, room === 0 ? nextFolders : ['files', ...lastPosition(files)]);
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
  ifMatch: string | undefined,
  audit: AuditStamp,
): Promise<ChangedFile> {
  const { projectId } = actor;
  const after = await projectTransaction(deps, projectId, async (tx) => {
    const before = await lockVersion(tx, actor, userId, fileId, ifMatch);
    const values = mergeValues(before, input);
    refuseKeeping(deps, actor, before, values);
    const [changed] = await tx.query<FileRow & { view: string }>(updateFile(projectId, fileId, values));
    const { view, ...row } = changed as FileRow & { view: string };
    await recordChange(
      tx,
      audit,
      { resourceType: 'file', resourceId: fileId, userId, metadata: changeOf({ ...before }, { ...row }) },
      eventOf(projectId, 'file.updated', userId, viewFile(row)),
    );
    return { ...row, version: versionOf(view) };
  });
  if (after.zone !== zoneFor(deps.objects, after.visibility)) await moveSoon(deps, projectId, after);
  return after;
}

export interface ChangedFile extends FileRow {
  /** The ETag of the row. */
  readonly version: string;
}

/** Locks the row until the transaction ends. */
export async function lockVersion(
  tx: Transaction,
  actor: TenantActor,
  userId: string,
  fileId: string,
  ifMatch: string | undefined,
): Promise<FileRow> {
  const { projectId } = actor;
  const [row] = await tx.query<FileRow>(lockFile(projectId, userId, visibleSpace(actor), fileId));
  if (!row) throw fileNotFound();
  if (ifMatch !== undefined) {
    const [stored] = await tx.query<{ view: string }>(findView(projectId, fileId));
    refuseOtherVersion(ifMatch, versionOf(stored?.view ?? ''));
  }
  return row;
}

const moveWaitMaxMs = 10_000;

/** The change is already committed, so the caller waits only briefly. A slow or failed move is left to the mover. */
async function moveSoon(deps: Deps, projectId: string, file: FileRow): Promise<void> {
  const move = moveFile(deps, projectId, file).catch((error: unknown) => {
    deps.log.warn({ err: error, file_id: file.id }, 'failed to move a file, leaving it to the mover');
  });
  await withTimeout(moveWaitMaxMs, move);
}

type ChunkDeps = Pick<Deps, 'bulkWork'>;

/** Part of deleting a user. The caller must hold the lock on the user's row, which keeps new files out. */
export const dropFilesOfUser = (
  deps: ChunkDeps,
  tx: Transaction,
  projectId: string,
  userId: string,
): Promise<void> =>
  dropInChunks(
    deps,
    tx,
    projectId,
    'The user has a file that',
    (after) => lockFilesOfUser(projectId, userId, after),
    (after) => lockTrashOfUser(projectId, userId, after),
  );

/** Part of deleting a project. The caller must hold the lock on the project's row, which keeps new files out. */
export const dropFilesOfProject = (deps: ChunkDeps, tx: Transaction, projectId: string): Promise<void> =>
  dropInChunks(
    deps,
    tx,
    projectId,
    'The project has a file that',
    (after) => lockFilesOfProject(projectId, after),
    (after) => lockTrashOfProject(projectId, after),
  );

/** Part of deleting a space. The caller must hold the locks on its user and on the space. */
export async function moveFilesOfSpace(
  deps: ChunkDeps,
  tx: Transaction,
  projectId: string,
  spaceId: string,
): Promise<void> {
  await changeInChunks(
    deps,
    tx,
    (after) => lockFilesOfSpace(projectId, spaceId, after),
    (files) => tx.query(moveFilesToOwner(projectId, idsOf(files))),
  );
  await tx.query(moveTrashToOwner(projectId, spaceId));
}

/** Throws before anything is deleted. A hold that is set meanwhile is found when its file is locked. */
export async function refuseHeld(
  tx: Transaction,
  projectId: string,
  userId: string | null,
  what: string,
): Promise<void> {
  const [hold] = await tx.query<{ held_until: string | null }>(findHold(projectId, userId));
  if (hold?.held_until) throw fileHeld(what, hold.held_until);
}

type LockNext = (after: FilePosition) => Sql;

/** Live files, then those in the trash. */
async function dropInChunks(
  deps: ChunkDeps,
  tx: Transaction,
  projectId: string,
  what: string,
  lockLive: LockNext,
  lockTrashed: LockNext,
): Promise<void> {
  await changeInChunks(deps, tx, lockLive, async (files) => {
    const held = files.find(({ held_until }) => held_until);
    if (held?.held_until) throw fileHeld(what, held.held_until);
    // In this order, because the rows of variants are locked before their objects.
    await tx.query(deleteFiles(projectId, idsOf(files)));
    await dropObjects(tx, projectId, idsOf(files));
  });
  await changeInChunks(deps, tx, lockTrashed, async (files) => {
    await dropObjects(tx, projectId, idsOf(files));
    await tx.query(deleteTrashed(projectId, idsOf(files)));
  });
}

const idsOf = (files: readonly FilePosition[]): string[] => files.map(({ id }) => id);

/** There may be millions: chunks bound what the triggers keep in memory, and rests leave the database to others. */
async function changeInChunks(
  { bulkWork }: ChunkDeps,
  tx: Transaction,
  lockNext: LockNext,
  change: (files: readonly FilePosition[]) => Promise<unknown>,
): Promise<void> {
  const changeNext = async (after: FilePosition): Promise<FilePosition | undefined> => {
    const files = await tx.query<FilePosition>(lockNext(after));
    if (files.length > 0) await change(files);
    return files.at(-1);
  };
  let last: FilePosition | undefined = beforeAllFiles;
  while (last) {
    const after: FilePosition = last;
    last = await bulkWork.run(() => changeNext(after));
  }
}

/** Locks the file until the transaction ends. False if its object is not in this zone. */
export const lockInZone = async (
  tx: Transaction,
  projectId: string,
  fileId: string,
  zone: Zone,
): Promise<boolean> => (await tx.query(lockFileInZone(projectId, fileId, zone))).length > 0;

/** Part of compression: the result has taken the place of the original. */
export const replaceChecksum = async (
  tx: Transaction,
  projectId: string,
  fileId: string,
  crc32: number,
): Promise<void> => void (await tx.query(setCrc32(projectId, fileId, crc32)));

export async function refuseAbsentSpace(
  { db }: Pick<Deps, 'db'>,
  projectId: string,
  userId: string,
  spaceId: string,
): Promise<void> {
  const [space] = await db.read<{ active: boolean }>(findSpaceOfUser(projectId, userId, spaceId));
  if (!space?.active) throw toRefusal(space ? 'inactive space' : 'no space');
}
