// Takes an object to the shelf of its file's visibility. The copy is on record as doomed until the file has
// been moved over to it, and what the file leaves behind is doomed in the same statement: a crash at any moment
// leaves one owned object, and at most one other that the reaper knows of.
import type { Deps } from '../../contract/deps.ts';
import { deliveryOf, removeObjectSoon } from './files.objects.ts';
import {
  type FileRow,
  insertDoomedCopy,
  listMisplaced,
  markMoved,
  otherShelf,
  postponeDoomed,
} from './files.sql.ts';

const leaseSeconds = 45;
const batchMax = 100;

/** False when somebody else is at it, or the file has changed its mind meanwhile. */
export async function moveFile(deps: Deps, projectId: string, file: FileRow): Promise<boolean> {
  const to = file.visibility;
  const key = file.storage_key;
  const [reserved] = await deps.db.query(insertDoomedCopy(to, key, file.id, leaseSeconds));
  if (!reserved) return false;
  const renewal = setInterval(
    () => void deps.db.query(postponeDoomed(key, to, leaseSeconds)).catch(() => undefined),
    (leaseSeconds * 1000) / 3,
  );
  try {
    await deps.objects.copy(otherShelf(to), to, key, deliveryOf(file));
  } finally {
    clearInterval(renewal);
  }
  const [moved] = await deps.db.query(markMoved(projectId, file.id, to));
  if (!moved) return false;
  await removeObjectSoon(deps, otherShelf(to), key);
  return true;
}

/** Moves what a crash or an outage has left on the wrong shelf; resolves to how many. */
export async function moveMisplaced(deps: Deps, signal: AbortSignal): Promise<number> {
  if (!deps.objects.separatesPublic) return 0;
  const rows = await deps.db.query<FileRow & { project_id: string }>(listMisplaced(batchMax));
  let moved = 0;
  for (const row of rows) {
    if (signal.aborted) break;
    const done = await moveFile(deps, row.project_id, row).catch((error: unknown) => {
      deps.log.warn({ err: error, file_id: row.id }, 'a file could not be moved; it will be tried again');
      return false;
    });
    if (done) moved += 1;
  }
  return moved;
}
