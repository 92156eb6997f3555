// Sorts any number of items with bounded memory: whole runs are written to a temporary folder and merged from there.
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export type Compare<Item> = (one: Item, other: Item) => number;

/** Items of one run; some megabytes. */
export const runItemsMax = 10_000;

export interface Sorter<Item> {
  add(item: Item): Promise<void>;
  /** All of them in order, once. Removes what was written when it ends. */
  drain(): AsyncGenerator<Item>;
  /** For a sorter that is not drained. */
  discard(): Promise<void>;
}

/** Items must survive JSON. */
export function createSorter<Item>(compare: Compare<Item>, itemsMax = runItemsMax): Sorter<Item> {
  let items: Item[] = [];
  let folder: string | undefined;
  const runs: string[] = [];

  async function spill(): Promise<void> {
    folder ??= await mkdtemp(join(tmpdir(), 'pakhus-sort-'));
    const path = join(folder, String(runs.length));
    runs.push(path);
    await pipeline(Readable.from(toLines(items.sort(compare))), createWriteStream(path, { mode: 0o600 }));
    items = [];
  }

  async function discard(): Promise<void> {
    items = [];
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    folder = undefined;
  }

  return {
    async add(item) {
      items.push(item);
      if (items.length >= itemsMax) await spill();
    },
    async *drain() {
      try {
        const rest = items.sort(compare);
        yield* runs.length === 0
          ? rest
          : mergeRuns([...runs.map((path) => readRun<Item>(path)), rest], compare);
      } finally {
        await discard();
      }
    },
    discard,
  };
}

/** Items in one line: fewer are slower, more take memory for each run. */
const lineItems = 100;

function* toLines<Item>(items: readonly Item[]): Generator<string> {
  for (let i = 0; i < items.length; i += lineItems)
    yield `${JSON.stringify(items.slice(i, i + lineItems))}\n`;
}

async function* readRun<Item>(path: string): AsyncGenerator<Item> {
  for await (const line of createInterface({ input: createReadStream(path, 'utf8') }))
    yield* JSON.parse(line) as Item[];
}

/** There are few runs: looking at the head of each is quicker than keeping a heap. */
async function* mergeRuns<Item>(
  runs: readonly (AsyncIterable<Item> | Iterable<Item>)[],
  compare: Compare<Item>,
): AsyncGenerator<Item> {
  const readers = runs.map((run) =>
    Symbol.asyncIterator in run ? run[Symbol.asyncIterator]() : run[Symbol.iterator](),
  );
  try {
    const heads = await Promise.all(readers.map((reader) => reader.next()));
    for (;;) {
      let least = -1;
      for (const [index, head] of heads.entries()) {
        if (head.done) continue;
        const best = heads[least];
        if (best === undefined || best.done || compare(head.value, best.value) < 0) least = index;
      }
      const [head, reader] = [heads[least], readers[least]];
      if (head === undefined || head.done || reader === undefined) return;
      yield head.value;
      heads[least] = await reader.next();
    }
  } finally {
    for (const reader of readers) await reader.return?.();
  }
}
