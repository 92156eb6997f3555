// Counts within one process. One that dies loses what it counted since the last drain.
import { newId } from '../../kernel/id.ts';
import {
  type ApplyBatch,
  type Batch,
  batchesOf,
  type CounterName,
  type Counters,
  type CountRow,
  counterNames,
  keyOf,
  nothingCounted,
} from './counters.ts';

type Tally = CountRow & Record<CounterName, number>;

export function memoryCounters(): Counters {
  let live = new Map<string, Tally>();
  /** Cut off already, but not known to be applied. */
  let waiting: Batch[] = [];
  let draining: Promise<void> = Promise.resolve();

  const drainNow = async (apply: ApplyBatch) => {
    if (live.size > 0) {
      waiting.push(...batchesOf(newId(), [...live.values()]));
      live = new Map();
    }
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
    add(keys, amounts) {
      for (const key of keys) {
        const name = keyOf(key);
        let tally = live.get(name);
        if (!tally) {
          tally = { ...nothingCounted, ...key };
          live.set(name, tally);
        }
        for (const counter of counterNames) tally[counter] += amounts[counter] ?? 0;
      }
    },
    drain,
    close: drain,
  };
}
