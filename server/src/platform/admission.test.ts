import { describe, expect, it } from 'vitest';
import { createAdmission } from './admission.ts';

const options = { places: 3, placesOfOne: 2, waitMaxMs: 60_000 };
/** How many have entered once everything that could happen has happened. */
const settled = async (entered: readonly Promise<unknown>[]): Promise<number> => {
  let count = 0;
  for (const one of entered)
    one.then(
      () => count++,
      () => undefined,
    );
  await new Promise(setImmediate);
  return count;
};

describe('admission', () => {
  it('lets nobody have all places, and serves others past those who wait for their own', async () => {
    const admission = createAdmission('things', options);
    const greedy = Array.from({ length: 5 }, () => admission.enter('greedy'));
    expect(await settled(greedy)).toBe(2);
    const other = [admission.enter('other'), admission.enter('other')];
    expect(await settled(other)).toBe(1);
    const leaveOther = await (other[0] as Promise<() => void>);
    leaveOther();
    expect(await settled(other), 'the second, although greedy ones wait for longer').toBe(2);
    const leaveGreedy = await (greedy[0] as Promise<() => void>);
    leaveGreedy();
    leaveGreedy();
    expect(await settled(greedy), 'a place is given back once only').toBe(3);
  });

  it('lets owners take turns, however many wait for one of them', async () => {
    const admission = createAdmission('things', { ...options, places: 1 });
    const served: string[] = [];
    const serve = (owner: string, name: string) =>
      admission.during(owner, async () => void served.push(name));
    await Promise.all([
      ...['a1', 'a2', 'a3', 'a4'].map((name) => serve('a', name)),
      ...['b1', 'b2'].map((name) => serve('b', name)),
      serve('c', 'c1'),
    ]);
    expect(served).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
  });

  it('gives who wants several all of them at once, and lets nobody slip past', async () => {
    const admission = createAdmission('things', { ...options, placesOfOne: 3 });
    const leave = await admission.enter('a', undefined, 2);
    const abort = new AbortController();
    const large = admission.enter('b', abort.signal, 3);
    const small = admission.enter('c');
    expect(await settled([large, small])).toBe(0);
    abort.abort();
    await expect(large).rejects.toThrow();
    expect(await settled([small]), 'nobody is in its way any more').toBe(1);
    leave();
    expect(await settled([admission.enter('b', undefined, 2)])).toBe(1);
  });

  it('gives no place to whoever gave up waiting', async () => {
    const admission = createAdmission('things', { ...options, places: 1 });
    const leave = await admission.enter('a');
    const abort = new AbortController();
    const gone = admission.enter('b', abort.signal);
    const next = admission.enter('b');
    abort.abort(new Error('hung up'));
    await expect(gone).rejects.toThrow('hung up');
    leave();
    expect(await settled([next])).toBe(1);
  });

  it('tells whoever waited in vain to come back', async () => {
    const admission = createAdmission('things', { ...options, places: 1, waitMaxMs: 1 });
    await admission.enter('a');
    await expect(admission.enter('a')).rejects.toMatchObject({ status: 503 });
  });
});
