import { describe, expect, it } from 'vitest';
import { atEndOfTurn, gatheredByTurn } from './turn.ts';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('the end of a turn', () => {
  it('runs what was put off once, in order, and what that puts off as well', async () => {
    const ran: string[] = [];
    atEndOfTurn(() => {
      ran.push('first');
      atEndOfTurn(() => ran.push('put off by the first'));
    });
    atEndOfTurn(() => ran.push('second'));
    expect(ran).toEqual([]);
    await nextTurn();
    expect(ran).toEqual(['first', 'second', 'put off by the first']);
    await nextTurn();
    expect(ran).toHaveLength(3);
  });

  it('runs the rest, once and in order, when one throws, and does not keep the error to itself', async () => {
    const others = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    const thrown: unknown[] = [];
    process.on('uncaughtException', (error) => thrown.push(error));
    try {
      const ran: string[] = [];
      atEndOfTurn(() => ran.push('before'));
      atEndOfTurn(() => {
        throw new Error('of the second');
      });
      atEndOfTurn(() => ran.push('after'));
      await new Promise<void>((resolve) => {
        atEndOfTurn(() => {
          ran.push('last');
          resolve();
        });
      });
      await nextTurn();
      expect(ran).toEqual(['before', 'after', 'last']);
      expect(thrown).toMatchObject([{ message: 'of the second' }]);
    } finally {
      process.removeAllListeners('uncaughtException');
      for (const other of others) process.on('uncaughtException', other);
    }
  });
});

describe('what is gathered by turn', () => {
  it('is asked for together, and each gets its own answer', async () => {
    const asked: (readonly number[])[] = [];
    const double = gatheredByTurn(async (items: readonly number[]) => {
      asked.push(items);
      return items.map((item) => item * 2);
    });
    expect(await Promise.all([1, 2, 3].map(double))).toEqual([2, 4, 6]);
    expect(await double(4)).toBe(8);
    expect(asked).toEqual([[1, 2, 3], [4]]);
  });

  it('fails together, and the next turn starts afresh', async () => {
    let failures = 1;
    const fragile = gatheredByTurn(async (items: readonly number[]) => {
      if (failures-- > 0) throw new Error('away');
      return items;
    });
    const settled = await Promise.allSettled([fragile(1), fragile(2)]);
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await fragile(3)).toBe(3);
  });
});
