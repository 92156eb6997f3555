// Gathers what arrives while an earlier batch is under way into the next one. Under load many callers share
// one round trip; a single caller waits for nobody, and nobody waits for a batch that is stuck.
import { waitAtMost } from './time-limit.ts';

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result | Promise<Result>) => void;
  readonly reject: (error: unknown) => void;
}

export interface BatchOptions {
  readonly itemsMax?: number;
  /** A batch that takes longer is overtaken: the next one starts beside it. */
  readonly overtakeMs?: number;
}

/** `run` resolves to the results of its items, in their order; one that takes longer may be a promise. */
export function batched<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly (Result | Promise<Result>)[]>,
  { itemsMax = Number.POSITIVE_INFINITY, overtakeMs = 1_000 }: BatchOptions = {},
): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let busy = false;
  const runBatch = async (batch: readonly Waiting<Item, Result>[]) => {
    try {
      const results = await run(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };
  const work = async () => {
    busy = true;
    while (waiting.length > 0) await waitAtMost(overtakeMs, runBatch(waiting.splice(0, itemsMax)));
    busy = false;
  };
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!busy) void work();
    });
}
