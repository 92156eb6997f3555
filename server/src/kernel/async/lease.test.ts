import { expect, test } from 'vitest';
import { whileRenewed } from './lease.ts';

/** Work that ends once the lease was renewed so often. */
function renewals(count: number, renew: () => Promise<unknown> = async () => undefined) {
  let left = count;
  let isEnough: () => void;
  const enough = new Promise<void>((resolve) => {
    isEnough = resolve;
  });
  return {
    enough,
    renew: () => {
      left -= 1;
      if (left === 0) isEnough();
      return renew();
    },
  };
}

test('the lease is renewed again and again while the work lasts', async () => {
  const lease = renewals(3);
  const result = await whileRenewed(0.003, lease.renew, async () => {
    await lease.enough;
    return 'done';
  });
  expect(result).toBe('done');
});

test('a failed renewal is reported and tried again; it does not end the work', async () => {
  const failure = new Error('the database is away');
  const failing = () => Promise.reject(failure);
  const lease = renewals(2, failing);
  const reported: unknown[] = [];
  await whileRenewed(
    0.003,
    lease.renew,
    () => lease.enough,
    (error) => reported.push(error),
  );
  expect(reported[0]).toBe(failure);
  const unheard = renewals(2, failing);
  await whileRenewed(0.003, unheard.renew, () => unheard.enough);
});

test('the error of the work is passed on', async () => {
  const lease = renewals(1);
  const work = async () => {
    await lease.enough;
    throw new Error('no');
  };
  await expect(whileRenewed(0.003, lease.renew, work)).rejects.toThrow('no');
});
