import { describe, expect, it } from 'vitest';
import { createPartBuffers } from './part-buffers.ts';

describe('part buffers', () => {
  it('lends no more than there are, and none to two at once', async () => {
    const buffers = createPartBuffers(8, 4, 10_000);
    const lent = await Promise.all(['a', 'a', 'b', 'b'].map((owner) => buffers.take(owner)));
    expect(new Set(lent.map(({ buffer }) => buffer)).size).toBe(4);
    const order: string[] = [];
    const fifth = buffers.take('c').then((one) => {
      order.push('fifth');
      return one;
    });
    const sixth = buffers.take('c').then((one) => {
      order.push('sixth');
      return one;
    });
    lent[1]?.giveBack();
    expect((await fifth).buffer).toBe(lent[1]?.buffer);
    expect(order).toEqual(['fifth']);
    lent[0]?.giveBack();
    expect((await sixth).buffer).toBe(lent[0]?.buffer);
  });

  it('leaves some to others, refuses who waited too long, and lends nothing to the departed', async () => {
    const buffers = createPartBuffers(8, 4, 5);
    for (let n = 0; n < 3; n += 1) await buffers.take('greedy');
    await expect(buffers.take('greedy')).rejects.toMatchObject({ details: { part: 'capacity' } });
    const last = await buffers.take('other');
    const abort = new AbortController();
    const aborted = buffers.take('other', abort.signal);
    const reason = new Error('left');
    abort.abort(reason);
    await expect(aborted).rejects.toBe(reason);
    last.giveBack();
    expect((await buffers.take('other')).buffer).toBe(last.buffer);
  });
});
