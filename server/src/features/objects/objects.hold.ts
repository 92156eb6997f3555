// Holding an object while it is written: the hold is renewed for as long as the work lasts.
import type { Deps } from '../../contract/deps.ts';
import type { HeldObject } from '../../contract/object-ref.ts';
import { whileRenewed } from '../../kernel/async/lease.ts';
import { outage, type PakhusError } from '../../kernel/error.ts';
import { toStorageKey } from './objects.key.ts';
import { beginWriting, renewHold } from './objects.sql.ts';

/** The reaper has taken the object from an upload: the process was suspended, or the database away, for too long. */
export const objectLost = (): PakhusError =>
  outage('storage', 'The upload took too long and was discarded: send it again');

/** An upload that takes longer than the grace period. Writes nothing if the hold is lost already. */
export async function whileWriting<Result>(
  deps: Deps,
  object: HeldObject,
  work: () => Promise<Result>,
): Promise<Result> {
  const graceSeconds = deps.settings.REAPER_GRACE_SECONDS;
  const hold = () => deps.db.query(beginWriting(object, graceSeconds));
  if ((await hold()).length === 0) throw objectLost();
  return whileRenewed(graceSeconds, hold, work, warnNotRenewed(deps, object));
}

/** A copy or a rewrite whose hold has begun already. */
export const whileHeld = <Result>(
  deps: Deps,
  object: HeldObject,
  seconds: number,
  work: () => Promise<Result>,
): Promise<Result> =>
  whileRenewed(seconds, () => deps.db.query(renewHold(object, seconds)), work, warnNotRenewed(deps, object));

const warnNotRenewed = (deps: Deps, object: HeldObject) => (error: unknown) =>
  deps.log.warn({ err: error, key: toStorageKey(object) }, 'the hold on an object was not renewed');
