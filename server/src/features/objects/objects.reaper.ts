// Settles objects whose hold has passed, according to their state: uploads that never committed, copies that were never
// taken over, objects of deleted files. A failed deletion is repeated until it succeeds.
import type { Deps } from '../../contract/deps.ts';
import type { ObjectRef } from '../../contract/object-ref.ts';
import { Pacer } from '../../kernel/async/pacer.ts';
import { newId } from '../../kernel/id.ts';
import type { Zone } from '../../platform/objects/object-store.ts';
import { toStorageKey } from './objects.key.ts';
import { deleteFromStore } from './objects.remove.ts';
import { type DueRow, forgetDeleted, retryDeletion, takeExpired } from './objects.sql.ts';

const batchMax = 250;
/** The store and the database are left to requests for as long as a batch takes. */
const restRatio = 1;
/** Longer than the store may take for a batch: afterwards another reaper may take the same objects. */
const holdSeconds = 120;

/** Resolves to the number of deleted objects. `exposed` are those in the public zone that a late write may bring back. */
export async function reap(
  deps: Deps,
  signal: AbortSignal,
  which: 'all' | 'exposed' = 'all',
): Promise<number> {
  const holder = newId();
  let reaped = 0;
  const reapBatch = async (): Promise<boolean> => {
    if (signal.aborted) return false;
    const taken = await deps.db.query<DueRow>(takeExpired(holder, holdSeconds, batchMax, which));
    const due = taken.filter(({ state }) => state === 'deleting');
    for (const zone of ['private', 'public'] as const) {
      const inZone = due.filter((row) => row.zone === zone);
      if (inZone.length > 0) reaped += await reapZone(deps, holder, zone, inZone);
    }
    return taken.length === batchMax;
  };
  const pacer = new Pacer(restRatio);
  while (await pacer.run(reapBatch)) {
    // There may be more.
  }
  return reaped;
}

async function reapZone(deps: Deps, holder: string, zone: Zone, due: readonly DueRow[]): Promise<number> {
  // Where both zones are one bucket, as they may have become since, the object there is the one that lives on.
  const isShared = ({ lives_on }: DueRow) => lives_on && !deps.objects.separatesPublic;
  const orphans = due.filter((row) => !isShared(row)).map(toRef);
  const kept = new Set(await deleteFromStore(deps, zone, orphans.map(toStorageKey)));
  const failed = orphans.filter((object) => kept.has(toStorageKey(object)));
  const settled = due.map(toRef).filter((object) => !kept.has(toStorageKey(object)));
  if (settled.length > 0) await deps.db.query(forgetDeleted(settled, holder));
  if (failed.length > 0) {
    await deps.db.query(retryDeletion(failed, holder));
    deps.log.warn(
      { objects: failed.length, zone },
      'the store kept objects that were to be deleted: retrying later',
    );
  }
  return orphans.length - failed.length;
}

const toRef = ({ project_id, file_id, id, zone }: DueRow): ObjectRef => ({
  projectId: project_id,
  fileId: file_id,
  id,
  zone,
});
