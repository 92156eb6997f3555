// Moves an object to the zone that matches its file's visibility: copies it, points the file at the copy and deletes the
// old object. A crash at any point leaves the file with one object, and at most one orphan for the reaper.
import type { Deps } from '../../contract/deps.ts';
import type { FileRow } from '../../contract/file.ts';
import type { HeldObject } from '../../contract/object-ref.ts';
import { newId } from '../../kernel/id.ts';
import { whileHeld } from '../objects/objects.hold.ts';
import { toStorageKey } from '../objects/objects.key.ts';
import { removeAbandoned, removeLeftBehind } from '../objects/objects.remove.ts';
import { beginMove, completeMove, otherZone, releaseFailedMove } from '../objects/objects.service.ts';
import { isCompressed } from './files.objects.ts';
import { listExposed, listUnshown, lockMisplaced, setZone } from './files.sql.ts';

const holdSeconds = 45;
const batchMax = 100;

/** False if another mover holds the object, or if the file's visibility or bytes changed meanwhile. */
export async function moveFile(deps: Deps, projectId: string, file: FileRow): Promise<boolean> {
  const to = file.visibility;
  const object: HeldObject = { projectId, fileId: file.id, id: file.id, zone: to, holder: newId() };
  if (!(await startMove(deps, object))) return false;
  try {
    await whileHeld(deps, object, holdSeconds, () =>
      deps.objects.copy(otherZone(to), to, toStorageKey(object)),
    );
  } catch (error) {
    await releaseFailedMove(deps, object);
    throw error;
  }
  if (!(await finishMove(deps, object, isCompressed(file)))) {
    await removeAbandoned(deps, object);
    return false;
  }
  await removeLeftBehind(deps, object);
  return true;
}

interface MisplacedRow {
  readonly compressed: boolean | null;
}

const startMove = (deps: Deps, object: HeldObject): Promise<boolean> =>
  deps.db.transaction(async (tx) => {
    const [file] = await tx.query<MisplacedRow>(lockMisplaced(object.projectId, object.fileId, object.zone));
    return file !== undefined && beginMove(tx, object, holdSeconds);
  });

/** Discards the copy if the file was compressed while it was made: the copy has the old bytes. */
const finishMove = (deps: Deps, object: HeldObject, wasCompressed: boolean): Promise<boolean> =>
  deps.db.transaction(async (tx) => {
    const { projectId, fileId, zone } = object;
    const [file] = await tx.query<MisplacedRow>(lockMisplaced(projectId, fileId, zone));
    if (!file || (file.compressed ?? false) !== wasCompressed) return false;
    if (!(await completeMove(tx, object))) return false;
    await tx.query(setZone(projectId, fileId, zone));
    return true;
  });

const noId = '00000000-0000-0000-0000-000000000000';

/** Moves objects that a crash or an outage left in the wrong zone. Resolves to the number of moved files. */
export async function moveMisplaced(deps: Deps, signal: AbortSignal): Promise<number> {
  if (!deps.objects.separatesPublic) return 0;
  return (await moveEach(deps, listExposed, signal)) + (await moveEach(deps, listUnshown, signal));
}

/** Pages by id, so that a file which cannot be moved now does not block the files behind it. */
async function moveEach(deps: Deps, list: typeof listUnshown, signal: AbortSignal): Promise<number> {
  let moved = 0;
  let after = noId;
  while (!signal.aborted) {
    const rows = await deps.db.query<FileRow & { project_id: string }>(list(after, batchMax));
    for (const row of rows) {
      if (signal.aborted) break;
      if (await moveOrLog(deps, row.project_id, row)) moved += 1;
      after = row.id;
    }
    if (rows.length < batchMax) break;
  }
  return moved;
}

const moveOrLog = (deps: Deps, projectId: string, file: FileRow): Promise<boolean> =>
  moveFile(deps, projectId, file).catch((error: unknown) => {
    deps.log.warn({ err: error, file_id: file.id }, 'failed to move a file, retrying later');
    return false;
  });
