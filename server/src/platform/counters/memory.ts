// Counts within one process. One that dies loses what it counted since the last drain.
import { newId } from '../../kernel/id.ts';
import { type ApplyBatch, type Batch, type Counters, Tallies, toBatches } from './counters.ts';

export function memoryCounters(): Counters {
  let live = new Tallies();
  /** Cut off already, but not known to be applied. */
  let waiting: Batch[] = [];
  let draining: Promise<void> = Promise.resolve();

  const drainNow = async (apply: ApplyBatch) => {
    // First what waits: while nothing can be applied, no more is cut off, and rows are as many as there are subjects.
    await applyWaiting(apply);
    if (live.size === 0) return;
    waiting = toBatches(newId(), live.rows());
    live = new Tallies();
    await applyWaiting(apply);
  };
  const applyWaiting = async (apply: ApplyBatch) => {
    for (const batch of [...waiting]) {
      await apply(batch);
      waiting = waiting.filter((other) => other !== batch);
    }
  };
  const drain = (apply: ApplyBatch) => {
    const drained = draining.then(() => drainNow(apply));
    draining = drained.catch(() => undefined);
    return drained;
  };
  return {
    add: (keys, amounts) => live.add(keys, amounts),
    whenSent: (done) => done(),
    drain,
    close: drain,
  };
}
