// Deletes objects that no file owns: of uploads that never committed, and of files that are gone. What cannot
// be deleted now is tried again, for ever. An object whose file exists is never touched.
import type { Deps } from '../../contract/deps.ts';
import type { Zone } from '../../platform/objects/object-store.ts';
import {
  claimDoomed,
  type DoomedRow,
  deleteClaimed,
  listOwned,
  postponeClaimed,
  releaseOwned,
} from './files.sql.ts';

const batchMax = 500;
/** Longer than the store may take for a batch: after it another reaper may claim the same objects. */
const claimSeconds = 120;

/** Resolves to how many objects went. */
export async function reap(deps: Deps, signal: AbortSignal): Promise<number> {
  let reaped = 0;
  while (!signal.aborted) {
    const claimed = await deps.db.query<DoomedRow>(claimDoomed(batchMax, claimSeconds));
    for (const zone of ['private', 'public'] as const) {
      reaped += await reapZone(
        deps,
        zone,
        claimed.filter((row) => row.zone === zone),
      );
    }
    if (claimed.length < batchMax) break;
  }
  return reaped;
}

async function reapZone(deps: Deps, zone: Zone, claimed: readonly DoomedRow[]): Promise<number> {
  if (claimed.length === 0) return 0;
  const zones = sharedBy(deps, zone);
  const fileIds = claimed.map((row) => row.file_id);
  const rows = await deps.db.query<{ storage_key: string }>(listOwned(zones, fileIds));
  const owned = new Set(rows.map((row) => row.storage_key));
  if (owned.size > 0) await deps.db.query(releaseOwned(zone, zones, fileIds));
  const orphans = claimed.map((row) => row.storage_key).filter((key) => !owned.has(key));
  const kept = new Set(await deleteOrphans(deps, zone, orphans));
  await deps.db.query(
    deleteClaimed(
      zone,
      orphans.filter((key) => !kept.has(key)),
    ),
  );
  if (kept.size > 0) {
    await deps.db.query(postponeClaimed(zone, [...kept]));
    deps.log.warn(
      { objects: kept.size, zone },
      'the store keeps objects that should go; they will be tried again',
    );
  }
  return orphans.length - kept.size;
}

/** One object is on both zones where both are one bucket, as they may have become since its record was made. */
const sharedBy = ({ objects }: Deps, zone: Zone): Zone[] =>
  objects.separatesPublic ? [zone] : ['private', 'public'];

/** Resolves to the keys that are still there. */
export async function deleteOrphans(
  deps: Deps,
  zone: Zone,
  keys: readonly string[],
): Promise<readonly string[]> {
  if (keys.length === 0) return [];
  try {
    return await deps.objects.deleteMany(zone, keys);
  } catch (error) {
    deps.log.warn({ err: error, objects: keys.length }, 'the store does not delete');
    return keys;
  }
}
