// What every way of counting does, wherever it counts.
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  type Amounts,
  type Batch,
  type Counters,
  counterNames,
  nothingCounted,
} from '../../src/platform/counters/counters.ts';

export interface CountersUnderTest {
  /** Nothing is counted in it yet. */
  readonly counters: Counters;
}

/** Applies batches as the database does: each id once. */
export function ledger() {
  const applied = new Map<string, Batch>();
  const applications: string[] = [];
  return {
    applications,
    applied,
    apply: async (batch: Batch) => {
      applications.push(batch.id);
      const known = applied.get(batch.id);
      if (known) expect(batch.rows, 'a batch that comes again is the same').toEqual(known.rows);
      applied.set(batch.id, batch);
    },
    sumOf(subjectId: string, day?: string) {
      const sum = { ...nothingCounted };
      for (const { rows } of applied.values())
        for (const row of rows)
          if (row.subjectId === subjectId && (day === undefined || row.day === day))
            for (const name of counterNames) sum[name] += row[name];
      return sum;
    },
  };
}

export const day = '2026-01-31';

export const keysOf = (...subjectIds: string[]) =>
  subjectIds.map((subjectId) => ({ projectId: subjectIds[0] ?? '', subjectId, day }));

export function countersSuite(name: string, open: () => Promise<CountersUnderTest>): void {
  test(`counters (${name}): sums by project, subject and day`, async () => {
    const { counters } = await open();
    const [project, user] = [randomUUID(), randomUUID()];
    const added: Amounts[] = [{ requests: 1 }, { requests: 1, errors: 1 }, { uploads: 1, bytes_in: 2 ** 40 }];
    for (const amounts of added) counters.add(keysOf(project, user), amounts);
    counters.add([{ projectId: project, subjectId: project, day: '2026-02-01' }], {
      deletes: 1,
      downloads: 3,
    });
    const book = ledger();
    await counters.drain(book.apply);
    const first = { ...nothingCounted, requests: 2, errors: 1, uploads: 1, bytes_in: 2 ** 40 };
    expect(book.sumOf(project, day)).toEqual(first);
    expect(book.sumOf(user)).toEqual(first);
    expect(book.sumOf(project, '2026-02-01')).toEqual({ ...nothingCounted, deletes: 1, downloads: 3 });
  });

  test(`counters (${name}): a count that was applied is not handed out again`, async () => {
    const { counters } = await open();
    const project = randomUUID();
    const book = ledger();
    counters.add(keysOf(project), { requests: 1 });
    await counters.drain(book.apply);
    await counters.drain(book.apply);
    expect(book.applications).toHaveLength(1);
    counters.add(keysOf(project), { requests: 1 });
    await counters.drain(book.apply);
    expect(book.sumOf(project).requests).toBe(2);
  });

  test(`counters (${name}): a rejected batch is handed out again under the same id, and later counts get another`, async () => {
    const { counters } = await open();
    const project = randomUUID();
    const book = ledger();
    counters.add(keysOf(project), { requests: 1 });
    const failing = async (batch: Batch) => {
      await book.apply(batch);
      throw new Error('the answer was lost');
    };
    await expect(counters.drain(failing)).rejects.toThrow('the answer was lost');
    counters.add(keysOf(project), { requests: 10 });
    await counters.drain(book.apply);
    expect(book.sumOf(project).requests).toBe(11);
    expect(new Set(book.applications).size).toBe(2);
    expect(book.applications[0]).toBe(
      book.applications.find((id, at) => at > 0 && id === book.applications[0]),
    );
  });

  test(`counters (${name}): drains at the same time, while it counts, hand everything on once`, async () => {
    const { counters } = await open();
    const project = randomUUID();
    const book = ledger();
    const drains: Promise<void>[] = [];
    for (let n = 0; n < 500; n += 1) {
      counters.add(keysOf(project), { requests: 1 });
      if (n % 50 === 0) drains.push(counters.drain(book.apply));
      if (n % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(drains);
    await counters.close(book.apply);
    expect(book.sumOf(project).requests).toBe(500);
  });

  test(`counters (${name}): many subjects make several batches, each known by its id`, async () => {
    const { counters } = await open();
    const project = randomUUID();
    const users = Array.from({ length: 4_500 }, () => randomUUID());
    for (const user of users) counters.add(keysOf(project, user), { requests: 1 });
    const book = ledger();
    await counters.close(book.apply);
    expect(book.applied.size).toBeGreaterThan(2);
    expect(book.sumOf(project).requests).toBe(4_500);
    const rows = [...book.applied.values()].flatMap((batch) => batch.rows);
    const counted = new Map(rows.map(({ subjectId, requests }) => [subjectId, requests]));
    expect(rows).toHaveLength(1 + users.length);
    expect(users.every((user) => counted.get(user) === 1)).toBe(true);
  });
}
