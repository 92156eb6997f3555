// Micro-batching: calls that arrive together share one run. Calls with different keys never share a batch.
import { deferred } from './deferred.ts';
import { atEndOfIteration } from './event-loop.ts';
import { withTimeout } from './time-limit.ts';

export interface MicroBatchOptions {
  /**
   * `iteration`: a batch holds the calls of one event loop iteration and starts at its end. Batches may overlap.
   * `previous`: the first call starts at once; calls that arrive while it runs share the next batch of their key.
   */
  readonly gather: 'iteration' | 'previous';
  readonly itemsMax?: number;
  /** For `previous`: if a batch takes longer than this, the next one of its key starts beside it. */
  readonly overtakeMs?: number;
}

/** Resolves to one result per item, in the same order. A result may be a promise, if one item takes longer or fails. */
export type RunBatch<Item, Result, Key> = (
  items: readonly Item[],
  key: Key,
) => Promise<readonly (Result | Promise<Result>)[]>;

export function microBatch<Item, Result, Key = void>(
  run: RunBatch<Item, Result, Key>,
  options: MicroBatchOptions,
): (item: Item, key: Key) => Promise<Result> {
  const batches =
    options.gather === 'iteration' ? new ByIteration(run, options) : new OneAtATime(run, options);
  return (item, key) => batches.add(item, key);
}

class Batch<Item, Result, Key> {
  readonly key: Key;
  readonly items: Item[] = [];
  readonly #results = deferred<readonly (Result | Promise<Result>)[]>();

  constructor(key: Key) {
    this.key = key;
  }

  add(item: Item): Promise<Result> {
    const at = this.items.push(item) - 1;
    return this.#results.promise.then((results) => results[at] as Result);
  }

  start(run: RunBatch<Item, Result, Key>): Promise<void> {
    const { resolve, reject } = this.#results;
    try {
      return run(this.items, this.key).then(resolve, reject);
    } catch (error) {
      reject(error);
      return Promise.resolve();
    }
  }
}

class ByIteration<Item, Result, Key> {
  readonly #run: RunBatch<Item, Result, Key>;
  readonly #itemsMax: number;
  #open = new Map<Key, Batch<Item, Result, Key>>();
  /** Fast path: consecutive calls often have the same key, and comparing a long one is cheaper than hashing it. */
  #latest: Batch<Item, Result, Key> | null = null;

  constructor(run: RunBatch<Item, Result, Key>, { itemsMax = Number.POSITIVE_INFINITY }: MicroBatchOptions) {
    this.#run = run;
    this.#itemsMax = itemsMax;
  }

  add(item: Item, key: Key): Promise<Result> {
    const latest = this.#latest;
    const batch = latest !== null && latest.key === key ? latest : this.#batchFor(key);
    this.#latest = batch;
    const result = batch.add(item);
    if (batch.items.length >= this.#itemsMax) this.#startFull(batch);
    return result;
  }

  #batchFor(key: Key): Batch<Item, Result, Key> {
    let batch = this.#open.get(key);
    if (!batch) {
      if (this.#open.size === 0) atEndOfIteration(this.#startAll);
      batch = new Batch(key);
      this.#open.set(key, batch);
    }
    return batch;
  }

  #startFull(batch: Batch<Item, Result, Key>): void {
    this.#open.delete(batch.key);
    this.#latest = null;
    void batch.start(this.#run);
  }

  readonly #startAll = (): void => {
    const batches = this.#open;
    this.#open = new Map();
    this.#latest = null;
    for (const batch of batches.values()) void batch.start(this.#run);
  };
}

class OneAtATime<Item, Result, Key> {
  readonly #run: RunBatch<Item, Result, Key>;
  readonly #itemsMax: number;
  readonly #overtakeMs: number;
  /** For each key with a batch under way, the batches that wait; the last of them may have room. */
  readonly #waiting = new Map<Key, Batch<Item, Result, Key>[]>();

  constructor(
    run: RunBatch<Item, Result, Key>,
    { itemsMax = Number.POSITIVE_INFINITY, overtakeMs = Number.POSITIVE_INFINITY }: MicroBatchOptions,
  ) {
    this.#run = run;
    this.#itemsMax = itemsMax;
    this.#overtakeMs = overtakeMs;
  }

  add(item: Item, key: Key): Promise<Result> {
    const waiting = this.#waiting.get(key);
    if (!waiting) return this.#startFirst(item, key);
    let batch = waiting.at(-1);
    if (!batch || batch.items.length >= this.#itemsMax) {
      batch = new Batch(key);
      waiting.push(batch);
    }
    return batch.add(item);
  }

  #startFirst(item: Item, key: Key): Promise<Result> {
    const batch = new Batch<Item, Result, Key>(key);
    const result = batch.add(item);
    const waiting: Batch<Item, Result, Key>[] = [];
    this.#waiting.set(key, waiting);
    void this.#work(key, batch, waiting);
    return result;
  }

  async #work(key: Key, first: Batch<Item, Result, Key>, waiting: Batch<Item, Result, Key>[]): Promise<void> {
    for (let batch: Batch<Item, Result, Key> | undefined = first; batch; batch = waiting.shift())
      await withTimeout(this.#overtakeMs, batch.start(this.#run));
    this.#waiting.delete(key);
  }
}
