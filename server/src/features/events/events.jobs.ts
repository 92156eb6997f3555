// Drops expired events: a day at a time, by truncating its slot.
import type { Deps } from '../../contract/deps.ts';
import { periodic } from '../../contract/job.ts';
import { keptSeconds } from './events.service.ts';
import { deleteExpired, listOldSlots, type SlotRow, truncateSlot } from './events.sql.ts';

/** A transaction may have begun, and dated its events, long before its commit. */
const slackSeconds = 3_600;
const rowsMax = 10_000;

export const eventPurge = periodic({
  name: 'events.purge',
  everySeconds: () => 3_600,
  async run(deps, signal) {
    const expiredSeconds = keptSeconds + slackSeconds;
    for (const { slot, current } of await deps.db.query<SlotRow>(listOldSlots(expiredSeconds))) {
      if (signal.aborted) return;
      if (current) await deleteSlowly(deps, slot, expiredSeconds, signal);
      else await deps.db.query(truncateSlot(slot));
    }
  },
});

async function deleteSlowly(deps: Deps, slot: number, seconds: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const deleted = await deps.db.query(deleteExpired(slot, seconds, rowsMax));
    if (deleted.length < rowsMax) return;
  }
}
