import { expect, test } from 'vitest';
import { batched } from './batch.ts';
import { deferred } from './deferred.ts';

test('batched: what arrives while a batch is under way shares the next one', async () => {
  const first = deferred<void>();
  const batches: (readonly number[])[] = [];
  const double = batched<number, number>(async (items) => {
    batches.push(items);
    if (batches.length === 1) await first.promise;
    return items.map((item) => item * 2);
  });
  const asked = [1, 2, 3].map(double);
  first.resolve();
  expect(await Promise.all(asked)).toEqual([2, 4, 6]);
  expect(batches).toEqual([[1], [2, 3]]);
});

test('batched: nobody waits for a batch that is stuck, and it is answered when it goes on', async () => {
  const stuck = deferred<void>();
  const ask = batched<string, string>(
    async (items) => {
      if (items.includes('stuck')) await stuck.promise;
      return items;
    },
    { overtakeMs: 1 },
  );
  const first = ask('stuck');
  expect(await ask('later')).toBe('later');
  stuck.resolve();
  expect(await first).toBe('stuck');
});

test('batched: one batch that fails fails its own items alone', async () => {
  const ask = batched<number, number>(async (items) => {
    if (items.includes(0)) throw new Error('zero');
    return items;
  });
  const settled = await Promise.allSettled([ask(0), ask(1)]);
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
});
