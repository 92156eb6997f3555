import { expect, test } from 'vitest';
import { deferred } from './deferred.ts';
import { withTimeout } from './time-limit.ts';

test('withTimeout: returns the result, or the error, of work that ends in time', async () => {
  expect(await withTimeout(60_000, Promise.resolve('done'), () => 'late')).toBe('done');
  await expect(withTimeout(60_000, Promise.reject(new Error('failed')))).rejects.toThrow('failed');
});

test('withTimeout: after the limit it returns, or throws, what onTimeout says', async () => {
  const { promise: never } = deferred<string>();
  await withTimeout(1, never);
  expect(await withTimeout(1, never, () => 'late')).toBe('late');
  const refuse = () => {
    throw new Error('too late');
  };
  await expect(withTimeout(1, never, refuse)).rejects.toThrow('too late');
});

test('withTimeout: a failure after the limit is not an unhandled rejection', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', note);
  try {
    const work = deferred<void>();
    await withTimeout(1, work.promise);
    work.reject(new Error('nobody waits'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', note);
  }
});

test('withTimeout: an infinite limit sets no timer', async () => {
  const work = deferred<string>();
  const waiting = withTimeout(Number.POSITIVE_INFINITY, work.promise, () => 'late');
  await new Promise((resolve) => setTimeout(resolve, 2));
  work.resolve('done');
  expect(await waiting).toBe('done');
});
