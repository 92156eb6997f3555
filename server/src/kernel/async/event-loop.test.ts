import { expect, test } from 'vitest';
import { atEndOfIteration } from './event-loop.ts';

const nextIteration = () => new Promise((resolve) => setImmediate(resolve));

test('atEndOfIteration: runs work once, in order, including work added by other work', async () => {
  const ran: string[] = [];
  atEndOfIteration(() => {
    ran.push('first');
    atEndOfIteration(() => ran.push('added by the first'));
  });
  atEndOfIteration(() => ran.push('second'));
  expect(ran).toEqual([]);
  await nextIteration();
  expect(ran).toEqual(['first', 'second', 'added by the first']);
  await nextIteration();
  expect(ran).toHaveLength(3);
});

test('atEndOfIteration: an error does not stop the rest and is not swallowed', async () => {
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  const thrown: unknown[] = [];
  process.on('uncaughtException', (error) => thrown.push(error));
  try {
    const ran: string[] = [];
    atEndOfIteration(() => ran.push('before'));
    atEndOfIteration(() => {
      throw new Error('of the second');
    });
    atEndOfIteration(() => ran.push('after'));
    await new Promise<void>((resolve) => {
      atEndOfIteration(() => {
        ran.push('last');
        resolve();
      });
    });
    await nextIteration();
    expect(ran).toEqual(['before', 'after', 'last']);
    expect(thrown).toMatchObject([{ message: 'of the second' }]);
  } finally {
    process.removeAllListeners('uncaughtException');
    for (const other of others) process.on('uncaughtException', other);
  }
});
