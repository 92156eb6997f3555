import { describe, expect, it } from 'vitest';
import { createPartBuffers } from './part-buffers.ts';

describe('part buffers', () => {
  it('lends no more than there are, and serves in the order of asking', async () => {
    const buffers = createPartBuffers(8, 2, 10_000);
    const first = await buffers.take();
    const second = await buffers.take();
    const order: string[] = [];
    const third = buffers.take().then((buffer) => order.push('third') && buffer);
    const fourth = buffers.take().then((buffer) => order.push('fourth') && buffer);
    buffers.give(second);
    expect(await third).toBe(second);
    expect(order).toEqual(['third']);
    buffers.give(first);
    expect(await fourth).toBe(first);
  });

  it('refuses who waited too long, and does not lend to the departed', async () => {
    const buffers = createPartBuffers(8, 1, 5);
    const only = await buffers.take();
    await expect(buffers.take()).rejects.toMatchObject({ details: { part: 'capacity' } });
    const abort = new AbortController();
    const aborted = buffers.take(abort.signal);
    const reason = new Error('left');
    abort.abort(reason);
    await expect(aborted).rejects.toBe(reason);
    buffers.give(only);
    expect(await buffers.take()).toBe(only);
  });
});
