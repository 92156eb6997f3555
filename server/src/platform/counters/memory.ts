// Counters in the process. If it dies, the counts since the last drain are lost.
import { createTurns } from '../../kernel/async/turns.ts';
import { newId } from '../../kernel/id.ts';
import { type ApplyBatch, type Batch, type Counters, Tallies, toBatches } from './counters.ts';

export function memoryCounters(): Counters {
  let live = new Tallies();
  /** Batches that are not known to be applied. */
  let waiting: Batch[] = [];
  const inTurn = createTurns();

  const drainNow = async (apply: ApplyBatch) => {
    // Waiting batches first: while nothing can be applied no new batch is made, so rows stay bounded by subjects.
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
  const drain = (apply: ApplyBatch) => inTurn(() => drainNow(apply));
  return {
    add: (keys, amounts) => live.add(keys, amounts),
    whenSent: (done) => done(),
    drain,
    close: drain,
  };
}
