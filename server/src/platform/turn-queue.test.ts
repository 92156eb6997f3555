import { describe, expect, it } from 'vitest';
import { createTurnQueue, type Path } from './turn-queue.ts';

/** Holds the only place, lets `paths` queue up behind it, and tells in which order they were served. */
async function orderOf(paths: readonly Path[]): Promise<string[]> {
  const queue = createTurnQueue('things', { places: 1, waitMaxMs: 60_000 });
  const served: string[] = [];
  let open = () => undefined as unknown;
  const held = queue.during(['first'], () => new Promise<void>((resolve) => (open = resolve)));
  const waiting = paths.map((path) => queue.during(path, async () => void served.push(path.join('/'))));
  open();
  await Promise.all([held, ...waiting]);
  return served;
}

describe('turn queue', () => {
  it('lets groups take turns, however many wait in one of them', async () => {
    const order = await orderOf([['a'], ['a'], ['a'], ['b'], ['b'], ['c']]);
    expect(order).toEqual(['a', 'b', 'c', 'a', 'b', 'a']);
  });

  it('lets the groups within a group take turns in its turns, and takes none from others', async () => {
    const flood = Array.from({ length: 4 }, (_, at): Path => ['strangers', 's1', `claimed ${at}`]);
    const order = await orderOf([
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

  it('runs no more at once than there are places, and gives places back when work fails', async () => {
    const queue = createTurnQueue('things', { places: 2, waitMaxMs: 60_000 });
    let running = 0;
    let most = 0;
    const work = async (at: number) => {
      most = Math.max(most, ++running);
      await new Promise(setImmediate);
      running -= 1;
      if (at % 2) throw new Error('failed');
    };
    const all = await Promise.allSettled(
      Array.from({ length: 9 }, (_, at) => queue.during(['a', `${at}`], () => work(at))),
    );
    expect(all.map(({ status }) => status)).toEqual(all.map((_, at) => (at % 2 ? 'rejected' : 'fulfilled')));
    expect([most, running]).toEqual([2, 0]);
    await queue.during(['a'], async () => undefined);
  });

  it('gives no turn to whoever waited in vain, and tells it to come back', async () => {
    const queue = createTurnQueue('things', { places: 1, waitMaxMs: 1 });
    let open = () => undefined as unknown;
    const held = queue.during(['a'], () => new Promise<void>((resolve) => (open = resolve)));
    const ran: string[] = [];
    const late = queue.during(['b', 'c'], async () => void ran.push('late'));
    await expect(late).rejects.toMatchObject({ status: 503 });
    open();
    await held;
    await queue.during(['b', 'c'], async () => void ran.push('next'));
    expect(ran).toEqual(['next']);
  });
});
