import { afterEach, describe, expect, it } from 'vitest';
import { EvictingSemaphore, type EvictingSemaphoreOptions } from './evicting-semaphore.ts';
import { type Held, type Sender, victimFor } from './eviction.ts';

const options: EvictingSemaphoreOptions = {
  units: 4,
  unitsOfProject: 4,
  unitsOfSubject: 4,
  waitMaxMs: 60_000,
  yieldAfterMs: 60_000,
};

const settled = () => new Promise(setImmediate);
const at = (project: string, subject: string) => ({ project, subject });

/** A client with a pace, whose upload ends as soon as it is told to. */
function sender(pace: number | null) {
  const leave: () => void = () => undefined;
  const client = { pace, ended: false, leave };
  const made: Sender & typeof client = Object.assign(client, {
    measure: () => undefined,
    makeRoom: () => {
      client.ended = true;
      client.leave();
    },
  });
  return made;
}

const holder = (project: string, subject: string, pace: number | null, units = 1): Held => ({
  project,
  subject,
  units,
  sender: sender(pace),
});

describe('victimFor', () => {
  it('picks the slowest of the largest subject of the largest project', () => {
    const holders = [
      holder('small', 's', 1),
      holder('large', 'modest', 1),
      holder('large', 'greedy', 500),
      holder('large', 'greedy', 200),
      holder('large', 'greedy', 300),
    ];
    expect(victimFor({ ...at('new', 'n'), units: 1 }, holders)).toBe(holders[3]);
  });

  it('picks from another subject of the same project if no other project holds more', () => {
    const holders = [holder('p', 'greedy', 9), holder('p', 'greedy', 5), holder('q', 'x', 1)];
    expect(victimFor({ ...at('p', 'modest'), units: 1 }, holders)).toBe(holders[1]);
    expect(victimFor({ ...at('p', 'greedy'), units: 1 }, holders)).toBeNull();
  });

  it('picks nobody if that would not make the shares more equal', () => {
    expect(victimFor({ ...at('b', 'b'), units: 1 }, [holder('a', 'a', 1)])).toBeNull();
    const two = [holder('a', 'a', 1), holder('a', 'a', 1)];
    expect(victimFor({ ...at('b', 'b'), units: 1 }, two)).not.toBeNull();
  });

  it('skips uploads that have sent everything, and picks the latest among equals', () => {
    const [done, first, last] = [holder('a', 'a', null), holder('a', 'a', 7), holder('a', 'a', 7)];
    expect(victimFor({ ...at('b', 'b'), units: 1 }, [done, first, last])).toBe(last);
    expect(victimFor({ ...at('b', 'b'), units: 1 }, [done, done, done])).toBeNull();
  });
});

describe('EvictingSemaphore', () => {
  let over = new AbortController();
  afterEach(() => {
    over.abort();
    over = new AbortController();
  });

  /** Enters and notes who got in, in order. Whoever still waits when the test is over gives up. */
  function crowd(more: Partial<EvictingSemaphoreOptions> = {}) {
    const share = new EvictingSemaphore('things', { ...options, ...more });
    const inside: string[] = [];
    const enter = async (project: string, subject: string, client = sender(Number.POSITIVE_INFINITY)) => {
      const leave = await share.acquire(at(project, subject), 1, client, over.signal);
      inside.push(subject);
      client.leave = leave;
      return client;
    };
    const queue = (project: string, subject: string) => void enter(project, subject).catch(() => undefined);
    return { share, inside, enter, queue };
  }

  it('serves the project that holds least first, and in it the subject that holds least', async () => {
    const { inside, enter, queue } = crowd();
    const holders = [
      await enter('a', 'a1'),
      await enter('a', 'a1'),
      await enter('a', 'a2'),
      await enter('b', 'b1'),
    ];
    for (const [project, subject] of [
      ['a', 'a1'],
      ['a', 'a1'],
      ['a', 'a3'],
      ['b', 'b1'],
      ['c', 'c1'],
    ] as const)
      queue(project, subject);
    await settled();
    inside.length = 0;
    for (const client of holders) {
      client.leave();
      await settled();
    }
    expect(inside, 'among equals, who came first').toEqual(['c1', 'a1', 'a3', 'b1']);
  });

  it('ends only a slow upload of the largest holder, as soon as somebody with less waits', async () => {
    const { share, inside, enter, queue } = crowd();
    const slow = await Promise.all([700, 600, 800, 650].map((pace) => enter('a', 'a', sender(pace))));
    queue('a', 'a');
    await settled();
    expect(
      slow.filter(({ ended }) => ended),
      'nobody yields to its own',
    ).toEqual([]);
    const other = await enter('b', 'b');
    expect(slow.map(({ ended }) => ended)).toEqual([false, true, false, false]);
    expect(inside.at(-1), 'not the one that waited for longer').toBe('b');
    other.leave();
    for (const client of slow) client.leave();
    await settled();
    expect(share.waiting).toBe(0);
  });

  it('ends an upload that is not slow only after somebody with less has waited for a while', async () => {
    const { enter } = crowd({ yieldAfterMs: 300 });
    const fast = await Promise.all([5e6, 4e6, 6e6, 7e6].map((pace) => enter('a', 'a', sender(pace))));
    const waiting = enter('b', 'b');
    await settled();
    expect(fast.filter(({ ended }) => ended)).toEqual([]);
    await waiting;
    expect(fast.map(({ ended }) => ended)).toEqual([false, true, false, false]);
  });

  it('bounds a project and a subject, and makes room within a project at its bound', async () => {
    const { inside, enter, queue } = crowd({ unitsOfProject: 3, unitsOfSubject: 2 });
    const slow = await Promise.all([enter('a', 'a1', sender(1)), enter('a', 'a1', sender(2))]);
    queue('a', 'a1');
    await enter('a', 'a2');
    await enter('b', 'b1');
    expect(inside).toEqual(['a1', 'a1', 'a2', 'b1']);
    await enter('a', 'a3');
    expect(slow.map(({ ended }) => ended)).toEqual([true, false]);
  });

  it('stops waiting after an abort or the timeout, and releases only once', async () => {
    const { share, enter } = crowd({ units: 1, waitMaxMs: 20 });
    const only = await enter('a', 'a');
    const abort = new AbortController();
    const gone = share.acquire(at('a', 'a'), 1, null, abort.signal);
    abort.abort(new Error('hung up'));
    await expect(gone).rejects.toThrow('hung up');
    await expect(share.acquire(at('a', 'a'), 1, null)).rejects.toMatchObject({ status: 503 });
    only.leave();
    only.leave();
    expect(share.used).toBe(0);
    expect(share.waiting).toBe(0);
  });

  it('acquireIfEasy: succeeds only in the first half, and overtakes nobody', async () => {
    const { share, enter } = crowd();
    expect(share.acquireIfEasy(at('a', 'a'), 3, null)).toBeNull();
    const leave = share.acquireIfEasy(at('a', 'a'), 2, null);
    expect(leave).not.toBeNull();
    expect(share.acquireIfEasy(at('b', 'b'), 1, null)).toBeNull();
    await Promise.all([enter('c', 'c'), enter('c', 'c')]);
    leave?.();
    expect(share.used).toBe(2);
  });

  it('evictSlow: ends one slow upload at a time, and no other', async () => {
    const { share, enter } = crowd();
    const clients = await Promise.all(
      [['a', 5e6] as const, ['a', 5e6] as const, ['b', 20] as const, ['b', 10] as const].map(([name, pace]) =>
        enter(name, name, sender(pace)),
      ),
    );
    for (let n = 0; n < 5; n += 1) share.evictSlow();
    expect(clients.map(({ ended }) => ended)).toEqual([false, false, true, true]);
  });
});
