import { expect, test } from 'vitest';
import { deferred } from './deferred.ts';
import { Pacer } from './pacer.ts';

test('only one chunk runs at a time, in the order of the calls', async () => {
  const pacer = new Pacer(1);
  const log: string[] = [];
  const gates = ['a', 'b', 'c'].map((name) => ({ name, gate: deferred<void>() }));
  const runs = gates.map(({ name, gate }) =>
    pacer.run(async () => {
      log.push(`${name} starts`);
      await gate.promise;
      log.push(`${name} ends`);
      return name;
    }),
  );
  for (const { gate } of gates.toReversed()) gate.resolve();
  expect(await Promise.all(runs)).toEqual(['a', 'b', 'c']);
  expect(log).toEqual(['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends']);
});

test('the rest lasts in proportion to the chunk', async () => {
  const pacer = new Pacer(2);
  let workedMs = 0;
  let endedAt = 0;
  await pacer.run(async () => {
    const startedAt = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 20));
    endedAt = performance.now();
    workedMs = endedAt - startedAt;
  });
  const restedMs = await pacer.run(async () => performance.now() - endedAt);
  // Timers are exact to a millisecond.
  expect(restedMs).toBeGreaterThanOrEqual(2 * workedMs - 2);
});

test('a chunk that fails does not stop the next one', async () => {
  const pacer = new Pacer(1);
  const failed = pacer.run(async () => {
    throw new Error('no');
  });
  await expect(failed).rejects.toThrow('no');
  expect(await pacer.run(async () => 'done')).toBe('done');
});
