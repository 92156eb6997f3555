import { describe, expect, it } from 'vitest';
import { createPartMemory } from './part-memory.ts';

const options = { slabBytes: 8, bytesMax: 32, waitMaxMs: 10_000 };

describe('part memory', () => {
  it('lends no more than there is, and none to two at once', async () => {
    const memory = createPartMemory(options);
    const lent = [await memory.take('a', 16), await memory.take('b', 9)];
    expect(new Set(lent.flatMap(({ slabs }) => slabs)).size).toBe(4);
    const order: string[] = [];
    const large = memory.take('c', 17).then((one) => {
      order.push('large');
      return one;
    });
    const small = memory.take('d', 1).then((one) => {
      order.push('small');
      return one;
    });
    lent[0]?.giveBack();
    await new Promise(setImmediate);
    expect(order, 'a small one does not slip past a large one').toEqual([]);
    lent[1]?.giveBack();
    const slabs = [...(await large).slabs, ...(await small).slabs];
    expect(order).toEqual(['large', 'small']);
    expect(new Set(slabs)).toEqual(new Set(lent.flatMap((one) => one.slabs)));
  });

  it('leaves some to others, refuses who waited too long, and lends nothing to the departed', async () => {
    const memory = createPartMemory({ ...options, waitMaxMs: 5 });
    await memory.take('greedy', 24);
    await expect(memory.take('greedy', 8)).rejects.toMatchObject({ details: { part: 'capacity' } });
    const last = await memory.take('other', 8);
    const abort = new AbortController();
    const aborted = memory.take('other', 8, abort.signal);
    const reason = new Error('left');
    abort.abort(reason);
    await expect(aborted).rejects.toBe(reason);
    last.giveBack();
    expect((await memory.take('other', 8)).slabs).toEqual(last.slabs);
  });
});
