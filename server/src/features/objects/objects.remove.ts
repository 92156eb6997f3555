// Deletes objects that no file owns any more, and their rows in the ledger. What fails is left to the reaper.
import type { Deps } from '../../contract/deps.ts';
import type { HeldObject, ObjectRef } from '../../contract/object-ref.ts';
import { whileRenewed } from '../../kernel/async/lease.ts';
import { withTimeout } from '../../kernel/async/time-limit.ts';
import type { Sql } from '../../platform/db/sql.ts';
import type { Zone } from '../../platform/objects/object-store.ts';
import { toStorageKey } from './objects.key.ts';
import {
  forgetDeleted,
  forgetDropped,
  forgetRefused,
  otherZone,
  renewHold,
  retryDeletion,
  takeAbandoned,
} from './objects.sql.ts';

const holdSeconds = 30;
const removalWaitMsMax = 2_000;

/** Waits for a removal, but not for long: it goes on without the caller. */
export const waitForRemoval = (removal: Promise<unknown>): Promise<void> =>
  withTimeout(removalWaitMsMax, removal);

/** Deletes the object of a file that has just been deleted. */
export async function removeDropped(deps: Deps, object: ObjectRef): Promise<void> {
  const removal = deleteThen(deps, object, forgetDropped(object));
  await waitForRemoval(removal.catch(leaveToReaper(deps, object)));
}

/** Deletes what a refused upload has stored. */
export const removeRefused = (deps: Deps, object: HeldObject): Promise<void> =>
  deleteThen(deps, object, forgetRefused(object)).catch(leaveToReaper(deps, object));

/** Deletes what a mover or an image worker has written for a file that has gone or is in the other zone by now. */
export async function removeAbandoned(deps: Deps, object: HeldObject): Promise<void> {
  const [taken] = await deps.db.query(takeAbandoned(object, holdSeconds));
  if (taken) await removeHeld(deps, object);
}

/** Deletes what a file has left in the zone that it moved away from. */
export const removeLeftBehind = (deps: Deps, moved: HeldObject): Promise<void> =>
  waitForRemoval(removeHeld(deps, { ...moved, zone: otherZone(moved.zone) }));

/** Deletes an object in the state `deleting`, and keeps its hold meanwhile. */
async function removeHeld(deps: Deps, object: HeldObject): Promise<void> {
  const remove = () => deleteThen(deps, object, forgetDeleted([object], object.holder));
  try {
    await whileRenewed(holdSeconds, () => deps.db.query(renewHold(object, holdSeconds)), remove);
  } catch (error) {
    leaveToReaper(deps, object)(error);
    await deps.db.query(retryDeletion([object], object.holder)).catch(() => undefined);
  }
}

/** The row goes only after the store has confirmed the deletion. */
async function deleteThen({ objects, db }: Deps, object: ObjectRef, forget: Sql): Promise<void> {
  await objects.delete(object.zone, toStorageKey(object));
  await db.query(forget);
}

const leaveToReaper = (deps: Deps, object: ObjectRef) => (error: unknown) =>
  deps.log.warn({ err: error, key: toStorageKey(object) }, 'an object was left to the reaper');

/** Resolves to the keys that are still in the store. */
export async function deleteFromStore(
  deps: Deps,
  zone: Zone,
  keys: readonly string[],
): Promise<readonly string[]> {
  if (keys.length === 0) return [];
  try {
    return await deps.objects.deleteMany(zone, keys);
  } catch (error) {
    deps.log.warn({ err: error, objects: keys.length }, 'the store did not delete objects');
    return keys;
  }
}
