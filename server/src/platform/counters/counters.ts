// The port for usage counters. Counts are collected where it is cheap and drained in named batches, so that a batch
// that is delivered twice is applied once. Adapters: memory.ts and redis.ts.

export const counterNames = ['requests', 'errors', 'uploads', 'downloads', 'deletes', 'bytes_in'] as const;

export type CounterName = (typeof counterNames)[number];

/** The amounts to add. */
export type Amounts = Readonly<Partial<Record<CounterName, number>>>;

export interface CountKey {
  readonly projectId: string;
  /** The project itself, a user or a space. */
  readonly subjectId: string;
  /** A UTC date. */
  readonly day: string;
}

export interface CountRow extends CountKey, Readonly<Record<CounterName, number>> {}

export interface Batch {
  /** A batch that is delivered again has the same id and the same rows. */
  readonly id: string;
  readonly rows: readonly CountRow[];
}

export type ApplyBatch = (batch: Batch) => Promise<void>;

export interface Counters {
  /** Adds the amounts to each key. Never waits and never throws, because every request calls it. */
  add(keys: readonly CountKey[], amounts: Amounts): void;
  /** Calls `done` in this event loop iteration, once the added counts have been sent. */
  whenSent(done: () => void): void;
  /**
   * Passes everything counted so far to `apply`. A batch is deleted once `apply` has resolved. A rejected batch is
   * delivered again later under the same id; so may be one that was applied.
   */
  drain(apply: ApplyBatch): Promise<void>;
  /** The last drain, including counts that wait for a part that is down. */
  close(apply: ApplyBatch): Promise<void>;
}

type Tally = CountRow & Record<CounterName, number>;

/** Counts in memory. */
export class Tallies {
  /** By day, then by subject: ids are unique among projects, users and spaces alike. */
  readonly #days = new Map<string, Map<string, Tally>>();

  /** How many rows there are. */
  get size(): number {
    let rows = 0;
    for (const subjects of this.#days.values()) rows += subjects.size;
    return rows;
  }

  add(keys: readonly CountKey[], amounts: Amounts): void {
    for (const key of keys) {
      const tally = this.#tallyOf(key);
      // Unrolled: a loop over the names costs several times as much, and every request is counted.
      tally.requests += amounts.requests ?? 0;
      tally.errors += amounts.errors ?? 0;
      tally.uploads += amounts.uploads ?? 0;
      tally.downloads += amounts.downloads ?? 0;
      tally.deletes += amounts.deletes ?? 0;
      tally.bytes_in += amounts.bytes_in ?? 0;
    }
  }

  rows(): CountRow[] {
    return [...this.#days.values()].flatMap((subjects) => [...subjects.values()]);
  }

  #tallyOf(key: CountKey): Tally {
    let subjects = this.#days.get(key.day);
    if (!subjects) {
      subjects = new Map();
      this.#days.set(key.day, subjects);
    }
    let tally = subjects.get(key.subjectId);
    if (!tally) {
      tally = { ...nothingCounted, ...key };
      subjects.set(key.subjectId, tally);
    }
    return tally;
  }
}

/** The most rows that are applied in one statement. */
const batchRowsMax = 2_000;

/** Sorted first, so that the same rows always make the same batches. */
export function toBatches(id: string, rows: readonly CountRow[]): Batch[] {
  const sorted = rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const batches: Batch[] = [];
  for (let at = 0; at < sorted.length; at += batchRowsMax)
    batches.push({ id: `${id}/${batches.length}`, rows: sorted.slice(at, at + batchRowsMax) });
  return batches;
}

export const keyOf = ({ day, projectId, subjectId }: CountKey): string => `${day}|${projectId}|${subjectId}`;

export const nothingCounted: Readonly<Record<CounterName, number>> = {
  requests: 0,
  errors: 0,
  uploads: 0,
  downloads: 0,
  deletes: 0,
  bytes_in: 0,
};
