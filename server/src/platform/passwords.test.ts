import { hash } from '@node-rs/argon2';
import { describe, expect, test } from 'vitest';
import { createPasswords, hashQueueOfOperator } from './passwords.ts';

const anyTime = async () => undefined;

describe('passwords', () => {
  test('are hashed with argon2id at the cost that OWASP recommends', async () => {
    const { hash } = await createPasswords();
    expect(await hash(hashQueueOfOperator, 'a password')).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  });

  test('are verified whatever their hash cost', async () => {
    const { verify } = await createPasswords();
    const cheap = await hash('a password', { memoryCost: 8, timeCost: 1, parallelism: 1 });
    expect(await verify(hashQueueOfOperator, 'a password', cheap, anyTime)).toBe(true);
    expect(await verify(hashQueueOfOperator, 'another one', cheap, anyTime)).toBe(false);
  });

  test('of an account that does not exist are never right', async () => {
    const { verify } = await createPasswords();
    const hashed = 'the password of an account that does not exist';
    expect(await verify(hashQueueOfOperator, hashed, null, anyTime)).toBe(false);
  });
});
