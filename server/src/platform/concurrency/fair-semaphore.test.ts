import { describe, expect, it } from 'vitest';
import { FairSemaphore, type OwnerPath } from './fair-semaphore.ts';

const options = { permits: 3, permitsPerOwner: 2, waitMaxMs: 60_000 };

/** How many have acquired once everything that could happen has happened. */
const settled = async (acquired: readonly Promise<unknown>[]): Promise<number> => {
  let count = 0;
  for (const one of acquired)
    one.then(
      () => count++,
      () => undefined,
    );
  await new Promise(setImmediate);
  return count;
};

/** Holds the only permit while `paths` queue up, then returns the order in which they were served. */
async function servingOrder(paths: readonly OwnerPath[]): Promise<string[]> {
  const semaphore = new FairSemaphore('things', { permits: 1, waitMaxMs: 60_000 });
  const served: string[] = [];
  const release = await semaphore.acquire('first');
  const waiting = paths.map((path) => semaphore.during(path, async () => void served.push(path.join('/'))));
  release();
  await Promise.all(waiting);
  return served;
}

describe('FairSemaphore', () => {
  it('never gives one owner all permits, and serves others past callers that wait for their own', async () => {
    const semaphore = new FairSemaphore('things', options);
    const greedy = Array.from({ length: 5 }, () => semaphore.acquire('greedy'));
    expect(await settled(greedy)).toBe(2);
    const other = [semaphore.acquire('other'), semaphore.acquire('other')];
    expect(await settled(other)).toBe(1);
    const releaseOther = await (other[0] as Promise<() => void>);
    releaseOther();
    expect(await settled(other), 'the second, although greedy callers have waited longer').toBe(2);
    const releaseGreedy = await (greedy[0] as Promise<() => void>);
    releaseGreedy();
    releaseGreedy();
    expect(await settled(greedy), 'releasing twice counts once').toBe(3);
  });

  it('lets owners take turns, however many callers of one owner wait', async () => {
    expect(await servingOrder([['a'], ['a'], ['a'], ['b'], ['b'], ['c']])).toEqual([
      'a',
      'b',
      'c',
      'a',
      'b',
      'a',
    ]);
  });

  it('lets the groups inside an owner take turns, without taking turns from other owners', async () => {
    const flood = Array.from({ length: 4 }, (_, at): OwnerPath => ['strangers', 's1', `claimed ${at}`]);
    const order = await servingOrder([
      ...flood,
      ['strangers', 's2', 'x'],
      ['strangers', 's2', 'x'],
      ['known', 'o'],
    ]);
    expect(order).toEqual([
      'strangers/s1/claimed 0',
      'known/o',
      'strangers/s2/x',
      'strangers/s1/claimed 1',
      'strangers/s2/x',
      'strangers/s1/claimed 2',
      'strangers/s1/claimed 3',
    ]);
  });

  it('grants several permits at once, and nobody overtakes a caller that needs more than are free', async () => {
    const semaphore = new FairSemaphore('things', { ...options, permitsPerOwner: 3 });
    const release = await semaphore.acquire('a', undefined, 2);
    const abort = new AbortController();
    const large = semaphore.acquire('b', abort.signal, 3);
    const small = semaphore.acquire('c');
    expect(await settled([large, small])).toBe(0);
    abort.abort();
    await expect(large).rejects.toThrow();
    expect(await settled([small]), 'nothing is in its way any more').toBe(1);
    release();
    expect(await settled([semaphore.acquire('b', undefined, 2)])).toBe(1);
  });

  it('runs no more than `permits` at once, and releases when work fails', async () => {
    const semaphore = new FairSemaphore('things', { permits: 2, waitMaxMs: 60_000 });
    let running = 0;
    let most = 0;
    const work = async (at: number) => {
      most = Math.max(most, ++running);
      await new Promise(setImmediate);
      running -= 1;
      if (at % 2) throw new Error('failed');
    };
    const all = await Promise.allSettled(
      Array.from({ length: 9 }, (_, at) => semaphore.during(['a', `${at}`], () => work(at))),
    );
    expect(all.map(({ status }) => status)).toEqual(all.map((_, at) => (at % 2 ? 'rejected' : 'fulfilled')));
    expect([most, running]).toEqual([2, 0]);
    await semaphore.during('a', async () => undefined);
  });

  it('grants nothing to a caller that has given up', async () => {
    const semaphore = new FairSemaphore('things', { ...options, permits: 1 });
    const release = await semaphore.acquire('a');
    const abort = new AbortController();
    const gone = semaphore.acquire('b', abort.signal);
    const next = semaphore.acquire('b');
    abort.abort(new Error('hung up'));
    await expect(gone).rejects.toThrow('hung up');
    release();
    expect(await settled([next])).toBe(1);
  });

  it('answers 503 after waitMaxMs, and never runs that work', async () => {
    const semaphore = new FairSemaphore('things', { permits: 1, waitMaxMs: 1 });
    const release = await semaphore.acquire('a');
    const ran: string[] = [];
    const late = semaphore.during(['b', 'c'], async () => void ran.push('late'));
    await expect(late).rejects.toMatchObject({ status: 503 });
    release();
    await semaphore.during(['b', 'c'], async () => void ran.push('next'));
    expect(ran).toEqual(['next']);
  });
});
