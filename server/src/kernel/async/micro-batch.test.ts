import { describe, expect, it } from 'vitest';
import { deferred } from './deferred.ts';
import { microBatch } from './micro-batch.ts';

const statuses = (settled: readonly PromiseSettledResult<unknown>[]) => settled.map(({ status }) => status);

describe.each(['iteration', 'previous'] as const)('microBatch, gather: %s', (gather) => {
  it('gives each call its own result', async () => {
    const double = microBatch(async (items: readonly number[]) => items.map((item) => item * 2), { gather });
    expect(await Promise.all([1, 2, 3].map((item) => double(item)))).toEqual([2, 4, 6]);
    expect(await double(4)).toBe(8);
  });

  it('puts no more than itemsMax into a batch', async () => {
    const batches: (readonly number[])[] = [];
    const ask = microBatch(
      async (items: readonly number[]) => {
        batches.push([...items]);
        return items;
      },
      { gather, itemsMax: 2 },
    );
    expect(await Promise.all([1, 2, 3, 4, 5, 6].map((item) => ask(item)))).toEqual([1, 2, 3, 4, 5, 6]);
    expect(batches.flat()).toEqual([1, 2, 3, 4, 5, 6]);
    expect(Math.max(...batches.map(({ length }) => length))).toBe(2);
  });

  it('never mixes keys', async () => {
    const batches: [string, readonly number[]][] = [];
    const ask = microBatch<number, string, string>(
      async (items, key) => {
        batches.push([key, [...items]]);
        return items.map((item) => `${key}${item}`);
      },
      { gather },
    );
    const asked = [ask(1, 'a'), ask(2, 'b'), ask(3, 'a'), ask(4, 'b')];
    expect(await Promise.all(asked)).toEqual(['a1', 'b2', 'a3', 'b4']);
    for (const [key, items] of batches)
      expect(items.every((item) => (key === 'a') === (item % 2 === 1))).toBe(true);
  });

  it('rejects all calls of a batch that fails, and the next batch works', async () => {
    let failures = gather === 'iteration' ? 1 : 2;
    const ask = microBatch(
      async (items: readonly number[]) => {
        if (failures-- > 0) throw new Error('away');
        return items;
      },
      { gather },
    );
    const settled = await Promise.allSettled([1, 2, 3].map((item) => ask(item)));
    expect(statuses(settled)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(await ask(4)).toBe(4);
  });

  it('rejects only the call whose own result is a promise that fails', async () => {
    const ask = microBatch<number, number>(
      async (items) => items.map((item) => (item === 2 ? Promise.reject(new Error('two')) : item)),
      { gather },
    );
    const settled = await Promise.allSettled([1, 2, 3].map((item) => ask(item)));
    expect(statuses(settled)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
});

describe('microBatch, gather: iteration', () => {
  it('runs the calls of one iteration together, and one run per key', async () => {
    const batches: string[] = [];
    const ask = microBatch<number, number, string>(
      async (items, key) => {
        batches.push(`${key}: ${items}`);
        return items;
      },
      { gather: 'iteration' },
    );
    const asked = [ask(1, 'a'), ask(2, 'b'), ask(3, 'a')];
    expect(batches).toEqual([]);
    await Promise.all(asked);
    expect(batches).toEqual(['a: 1,3', 'b: 2']);
  });

  it('does not wait for an earlier batch', async () => {
    const stuck = deferred<number[]>();
    const ask = microBatch<number, number>(
      (items) => (items.includes(0) ? stuck.promise : Promise.resolve(items)),
      { gather: 'iteration' },
    );
    const first = ask(0);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await ask(1)).toBe(1);
    stuck.resolve([0]);
    expect(await first).toBe(0);
  });
});

describe('microBatch, gather: previous', () => {
  it('starts the first call at once, and runs what arrives meanwhile together', async () => {
    const first = deferred<void>();
    const batches: (readonly number[])[] = [];
    const ask = microBatch<number, number>(
      async (items) => {
        batches.push([...items]);
        if (batches.length === 1) await first.promise;
        return items;
      },
      { gather: 'previous' },
    );
    const asked = [1, 2, 3].map((item) => ask(item));
    expect(batches).toEqual([[1]]);
    first.resolve();
    await Promise.all(asked);
    expect(batches).toEqual([[1], [2, 3]]);
  });

  it('a key does not wait for the batch of another key', async () => {
    const stuck = deferred<number[]>();
    const ask = microBatch<number, number, string>(
      (items, key) => (key === 'stuck' ? stuck.promise : Promise.resolve(items)),
      { gather: 'previous' },
    );
    const first = ask(0, 'stuck');
    expect(await ask(1, 'free')).toBe(1);
    stuck.resolve([0]);
    expect(await first).toBe(0);
  });

  it('overtakes a batch that exceeds the deadline, which still gets its answer later', async () => {
    const stuck = deferred<void>();
    const ask = microBatch<string, string>(
      async (items) => {
        if (items.includes('stuck')) await stuck.promise;
        return items;
      },
      { gather: 'previous', overtakeMs: 1 },
    );
    const first = ask('stuck');
    expect(await ask('later')).toBe('later');
    stuck.resolve();
    expect(await first).toBe('stuck');
  });
});
