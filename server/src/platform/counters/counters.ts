// The port to live counting. Counts are gathered where it is cheap, and handed on in batches that know their
// own name, so that whoever applies them can tell a repetition. Adapters: memory.ts and redis.ts.

export const counterNames = ['requests', 'errors', 'uploads', 'downloads', 'deletes', 'bytes_in'] as const;

export type CounterName = (typeof counterNames)[number];

/** What to add; what is not named stays. */
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
  /** The same batch always has the same id and the same rows. */
  readonly id: string;
  readonly rows: readonly CountRow[];
}

export type ApplyBatch = (batch: Batch) => Promise<void>;

export interface Counters {
  /** Adds the amounts to each key. Never waits and never throws: it is part of every request. */
  add(keys: readonly CountKey[], amounts: Amounts): void;
  /** Calls back, within this turn of the event loop, once what was added is where it will be kept. */
  whenSent(done: () => void): void;
  /**
   * Hands on everything counted before the call. A batch is forgotten once `apply` has resolved; one that it
   * rejected is handed on again later, under the same id, and so may be one that it had applied.
   */
  drain(apply: ApplyBatch): Promise<void>;
  /** The last drain: also what waits for a part that is away. */
  close(apply: ApplyBatch): Promise<void>;
}

type Tally = CountRow & Record<CounterName, number>;

/** Counts that are being gathered. */
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
      // By name: a loop over the names costs several times as much, and every request is counted.
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

/** So many rows at most are applied in one statement. */
const batchRowsMax = 2_000;

/** Cuts rows into batches. They are sorted first: the same rows make the same batches every time. */
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
