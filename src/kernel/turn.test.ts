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

  it('runs the rest when one throws', async () => {
    const thrown = new Promise((resolve) => process.once('uncaughtException', resolve));
    const others = process.listeners('uncaughtException').slice(0, -1);
    for (const other of others) process.off('uncaughtException', other);
    const rest = new Promise<string>((resolve) => {
      atEndOfTurn(() => {
        throw new Error('of the first');
      });
      atEndOfTurn(() => resolve('ran'));
    });
    expect(await rest).toBe('ran');
    expect(await thrown).toMatchObject({ message: 'of the first' });
    for (const other of others) process.on('uncaughtException', other);
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
