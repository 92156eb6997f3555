// Takes an object to the zone of its file's visibility. The copy is on record as doomed until the file has
// been moved over to it, and what the file leaves behind is doomed in the same statement: a crash at any moment
// leaves one owned object, and at most one other that the reaper knows of. A zone is written by a move or
// cleared by a removal, never both at once: a late removal would take a file that has come back.

import type { Deps } from '../../contract/deps.ts';
import type { FileRow } from '../../contract/file.ts';
import type { PlacedObject } from '../../contract/placed-object.ts';
import { whileRenewed } from '../../kernel/async/lease.ts';
import type { Zone } from '../../platform/objects/object-store.ts';
import { isCompressed, waitForRemoval } from './files.objects.ts';
import { deleteOrphans } from './files.reaper.ts';
import {
  claimAbandoned,
  claimExposed,
  deleteClaimed,
  extendClaim,
  holdFile,
  insertDoomedCopy,
  listExposed,
  listUnshown,
  markMoved,
  otherZone,
  postponeClaimed,
  postponeDoomed,
  releaseExposed,
} from './files.sql.ts';

const leaseSeconds = 45;
const claimSeconds = 30;
const exposedSeconds = 120;
const batchMax = 100;

/** False when somebody else is at it, or the file has changed its mind or its bytes meanwhile. */
export async function moveFile(deps: Deps, projectId: string, file: FileRow): Promise<boolean> {
  const to = file.visibility;
  const key = file.storage_key;
  const [reserved] = await deps.db.query(insertDoomedCopy(projectId, to, file.id, leaseSeconds));
  if (!reserved) return false;
  const postpone = (seconds: number) => deps.db.query(postponeDoomed(key, to, seconds));
  try {
    await whileRenewed(
      leaseSeconds,
      () => postpone(leaseSeconds),
      () => deps.objects.copy(otherZone(to), to, key),
    );
  } catch (error) {
    // It may still land: its record outlasts that, and keeps no other move from trying.
    await postpone(deps.settings.REAPER_GRACE_SECONDS);
    throw error;
  }
  const moved = await deps.db.transaction(async (tx) => {
    await tx.query(holdFile(projectId, file.id));
    return tx.query(markMoved(projectId, file.id, to, isCompressed(file), claimSeconds));
  });
  if (moved.length === 0) {
    await abandonObject(deps, { zone: to, key, fileId: file.id });
    return false;
  }
  await waitForRemoval(removeLeftBehind(deps, otherZone(to), key));
  return true;
}

/** Takes back an object that was written for a file which has meanwhile gone, or gone elsewhere. */
export async function abandonObject(deps: Deps, { zone, key, fileId }: PlacedObject): Promise<void> {
  const [claimed] = await deps.db.query(claimAbandoned(zone, key, fileId, claimSeconds));
  if (claimed) await removeLeftBehind(deps, zone, key);
}

/** Holds the claim as long as the removal lasts. */
async function removeLeftBehind(deps: Deps, zone: Zone, key: string): Promise<void> {
  const remove = async () => {
    await deps.objects.delete(zone, key);
    await deps.db.query(deleteClaimed(zone, [key]));
  };
  try {
    await whileRenewed(claimSeconds, () => deps.db.query(extendClaim(key, zone, claimSeconds)), remove);
  } catch (error) {
    deps.log.warn({ err: error, key }, 'an object was left to the reaper');
    await deps.db.query(postponeClaimed(zone, [key])).catch(() => undefined);
  }
}

/**
 * Takes from the public zone what a private file has there, whoever holds the record of it: an address that was
 * closed must not open again because an image was in the works.
 */
export async function clearExposed(deps: Deps): Promise<void> {
  if (!deps.objects.separatesPublic) return;
  const rows = await deps.db.query<{ storage_key: string }>(claimExposed(exposedSeconds));
  if (rows.length === 0) return;
  const keys = rows.map((row) => row.storage_key);
  await deleteOrphans(deps, 'public', keys);
  await deps.db.query(releaseExposed(keys));
}

const noId = '00000000-0000-0000-0000-000000000000';

/** Moves what a crash or an outage has left on the wrong zone; resolves to how many. */
export async function moveMisplaced(deps: Deps, signal: AbortSignal): Promise<number> {
  if (!deps.objects.separatesPublic) return 0;
  return (await moveEach(deps, listExposed, signal)) + (await moveEach(deps, listUnshown, signal));
}

/** Batch after batch: what cannot be moved now does not stand in the way of what comes behind it. */
async function moveEach(deps: Deps, list: typeof listUnshown, signal: AbortSignal): Promise<number> {
  let moved = 0;
  let after = noId;
  while (!signal.aborted) {
    const rows = await deps.db.query<FileRow & { project_id: string }>(list(after, batchMax));
    for (const row of rows) {
      if (signal.aborted) break;
      if (await isMoved(deps, row.project_id, row)) moved += 1;
      after = row.id;
    }
    if (rows.length < batchMax) break;
  }
  return moved;
}

const isMoved = (deps: Deps, projectId: string, file: FileRow): Promise<boolean> =>
  moveFile(deps, projectId, file).catch((error: unknown) => {
    deps.log.warn({ err: error, file_id: file.id }, 'a file could not be moved; it will be tried again');
    return false;
  });
