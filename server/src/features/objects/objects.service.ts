// What other features do to objects in the ledger, within their own transactions.
import type { Deps } from '../../contract/deps.ts';
import type { HeldObject, ObjectRef } from '../../contract/object-ref.ts';
import type { Database, Queryable } from '../../platform/db/postgres.ts';
import type { Sql } from '../../platform/db/sql.ts';
import * as ledger from './objects.sql.ts';

export { otherZone } from './objects.sql.ts';

/** What a file leaves behind is held for as long as its deletion may take; the hold is renewed meanwhile. */
const removalSeconds = 30;

/** Keeps commits that were not answered from storing their files. */
export async function fenceUploads({ db }: Pick<Deps, 'db'>, objects: readonly ObjectRef[]): Promise<void> {
  await db.query(ledger.fenceUploads(objects));
}

/**
 * Hands the objects of files that are about to be deleted to the reaper. The files must be locked by an earlier statement:
 * this one would not see the objects that a move commits while it waits.
 */
export async function dropObjects(
  tx: Queryable,
  projectId: string,
  fileIds: readonly string[],
): Promise<void> {
  await tx.query(ledger.dropObjects(projectId, fileIds));
}

/** Enters an object into the ledger that a file is to own besides its own, before anything is written. */
export async function reserveDerived({ db, settings }: Deps, object: HeldObject): Promise<void> {
  await db.query(ledger.reserveObjects([object], object.holder, settings.REAPER_GRACE_SECONDS));
}

/** False when the hold was lost. */
export const completeDerived = (tx: Queryable, object: HeldObject): Promise<boolean> =>
  changed(tx, ledger.storeDerived(object));

/** The file that owns an object besides its own; null if there is none. */
export async function findOwner(
  db: Pick<Database, 'read'>,
  projectId: string,
  id: string,
): Promise<string | null> {
  const [row] = await db.read<{ file_id: string }>(ledger.findOwner(projectId, id));
  return row?.file_id ?? null;
}

/** False when another mover holds the copy, or the reaper is about to delete one. */
export const beginMove = (tx: Queryable, object: HeldObject, seconds: number): Promise<boolean> =>
  changed(tx, ledger.startMove(object, seconds));

/** False when the hold was lost. */
export const completeMove = (tx: Queryable, object: HeldObject): Promise<boolean> =>
  changed(tx, ledger.finishMove(object, removalSeconds));

/** The failed copy may still arrive within the grace period. */
export async function releaseFailedMove({ db, settings }: Deps, object: HeldObject): Promise<void> {
  await db.query(ledger.releaseMove(object, settings.REAPER_GRACE_SECONDS));
}

/** False when the object is being deleted, or the file is in the other zone by now. */
export const beginRewrite = ({ db, settings }: Deps, object: HeldObject): Promise<boolean> =>
  changed(db, ledger.startRewrite(object, settings.REAPER_GRACE_SECONDS));

/** False when the hold was lost. */
export const completeRewrite = (tx: Queryable, object: HeldObject): Promise<boolean> =>
  changed(tx, ledger.finishRewrite(object));

const changed = async (db: Queryable, transition: Sql): Promise<boolean> =>
  (await db.query(transition)).length > 0;

const backlogMax = 100_000;

/** Objects that the reaper should have deleted by now; a larger backlog shows as 100,000. */
export async function readReaperBacklog(db: Database): Promise<number> {
  const [row] = await db.query<{ objects: number }>(ledger.countDue(backlogMax));
  return row?.objects ?? 0;
}
