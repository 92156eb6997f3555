// Moves an object to the zone that matches its file's visibility, or out of the public zone if the file is in the trash: copies
// it, points the file at the copy and deletes the old object. A crash at any point leaves the file with one object, and at most one orphan for the reaper.
import type { Deps } from '../../contract/deps.ts';
import type { FileRow } from '../../contract/file.ts';
import type { HeldObject } from '../../contract/object-ref.ts';
import { newId } from '../../kernel/id.ts';
import type { Sql } from '../../platform/db/sql.ts';
import type { Zone } from '../../platform/objects/object-store.ts';
import { whileHeld } from '../objects/objects.hold.ts';
import { toStorageKey } from '../objects/objects.key.ts';
import { removeAbandoned, removeLeftBehind } from '../objects/objects.remove.ts';
import { beginMove, completeMove, otherZone, releaseFailedMove } from '../objects/objects.service.ts';
import { listExposed, listUnshown, lockMisplaced, setZone } from './files.sql.ts';
import { listExposedTrash, lockExposedTrash, setZoneOfTrashed } from './files.trash.sql.ts';

const holdSeconds = 45;
const batchMax = 100;

/** Where the row of a file is, and the statements that find it misplaced there. */
interface Place {
  lockMisplaced(projectId: string, fileId: string, to: Zone): Sql;
  setZone(projectId: string, fileId: string, zone: Zone): Sql;
}

const stored: Place = { lockMisplaced, setZone };
/** Nothing in the trash is public. */
const trashed: Place = { lockMisplaced: lockExposedTrash, setZone: setZoneOfTrashed };

/** False if another mover holds the object, or if the file's visibility or bytes changed meanwhile. */
export const moveFile = (deps: Deps, projectId: string, file: FileRow): Promise<boolean> =>
  moveObject(deps, stored, projectId, file.id, file.visibility);

/** The same for a file that has just been trashed. */
export const hideTrashed = (deps: Deps, projectId: string, fileId: string): Promise<boolean> =>
  moveObject(deps, trashed, projectId, fileId, 'private');

async function moveObject(
  deps: Deps,
  place: Place,
  projectId: string,
  fileId: string,
  to: Zone,
): Promise<boolean> {
  const object: HeldObject = { projectId, fileId, id: fileId, zone: to, holder: newId() };
  const before = await startMove(deps, place, object);
  if (!before) return false;
  try {
    await whileHeld(deps, object, holdSeconds, () =>
      deps.objects.copy(otherZone(to), to, toStorageKey(object)),
    );
  } catch (error) {
    await releaseFailedMove(deps, object);
    throw error;
  }
  if (!(await finishMove(deps, place, object, before))) {
    await removeAbandoned(deps, object);
    return false;
  }
  await removeLeftBehind(deps, object);
  return true;
}

interface MisplacedRow {
  readonly compressed: boolean | null;
}

const startMove = (deps: Deps, place: Place, object: HeldObject): Promise<MisplacedRow | null> =>
  deps.db.transaction(async (tx) => {
    const { projectId, fileId, zone } = object;
    const [file] = await tx.query<MisplacedRow>(place.lockMisplaced(projectId, fileId, zone));
    return file && (await beginMove(tx, object, holdSeconds)) ? file : null;
  });

/** Discards the copy if the file was compressed while it was made: the copy has the old bytes. */
const finishMove = (deps: Deps, place: Place, object: HeldObject, before: MisplacedRow): Promise<boolean> =>
  deps.db.transaction(async (tx) => {
    const { projectId, fileId, zone } = object;
    const [file] = await tx.query<MisplacedRow>(place.lockMisplaced(projectId, fileId, zone));
    if (!file || (file.compressed ?? false) !== (before.compressed ?? false)) return false;
    if (!(await completeMove(tx, object))) return false;
    await tx.query(place.setZone(projectId, fileId, zone));
    return true;
  });

/** Those of a batch that has just changed their visibility. What fails is left to the mover. */
export async function moveMisplacedOf(
  deps: Deps,
  projectId: string,
  files: readonly FileRow[],
): Promise<void> {
  for (const file of files) await moveOrLog(deps, file.id, () => moveFile(deps, projectId, file));
}

const noId = '00000000-0000-0000-0000-000000000000';

/** Moves objects that a crash or an outage left in the wrong zone. Resolves to the number of moved files. */
export async function moveMisplaced(deps: Deps, signal: AbortSignal): Promise<number> {
  if (!deps.objects.separatesPublic) return 0;
  const showOrHide = (row: MisplacedFile) => moveFile(deps, row.project_id, row);
  const hide = ({ project_id, id }: MisplacedFile) => hideTrashed(deps, project_id, id);
  return (
    (await moveEach(deps, listExposed, showOrHide, signal)) +
    (await moveEach(deps, listExposedTrash, hide, signal)) +
    (await moveEach(deps, listUnshown, showOrHide, signal))
  );
}

type MisplacedFile = FileRow & { readonly project_id: string };

/** Pages by id, so that a file which cannot be moved now does not block the files behind it. */
async function moveEach(
  deps: Deps,
  list: typeof listUnshown,
  move: (row: MisplacedFile) => Promise<boolean>,
  signal: AbortSignal,
): Promise<number> {
  let moved = 0;
  let after = noId;
  while (!signal.aborted) {
    const rows = await deps.db.query<MisplacedFile>(list(after, batchMax));
    for (const row of rows) {
      if (signal.aborted) break;
      if (await moveOrLog(deps, row.id, () => move(row))) moved += 1;
      after = row.id;
    }
    if (rows.length < batchMax) break;
  }
  return moved;
}

const moveOrLog = (deps: Deps, fileId: string, move: () => Promise<boolean>): Promise<boolean> =>
  move().catch((error: unknown) => {
    deps.log.warn({ err: error, file_id: fileId }, 'failed to move a file, retrying later');
    return false;
  });
