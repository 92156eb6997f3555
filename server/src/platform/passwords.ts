// Password hashing with argon2id. It is expensive on purpose, so only a few hashes run at a time, fairly queued: a flood
// of logins by strangers blocks neither the users of a project nor browsers that have logged in before.
import { availableParallelism } from 'node:os';
import { type Algorithm, hash, verify } from '@node-rs/argon2';
import { FairSemaphore, type OwnerPath } from './concurrency/fair-semaphore.ts';

export interface Passwords {
  hash(queue: OwnerPath, password: string): Promise<string>;
  /**
   * Without a hash to compare (no such account) it does the same work and returns false. `begin` runs first, once a
   * permit is free, and may refuse by throwing.
   */
  verify(
    queue: OwnerPath,
    password: string,
    hash: string | null,
    begin: () => Promise<unknown>,
  ): Promise<boolean>;
}

/** For passwords of spaces: one queue per project. */
export const hashQueueOfSpaces = (projectId: string): OwnerPath => [projectId];

/** For an account whose owner is known by a session, a reset link or a device cookie. */
export const hashQueueOfAccount = (accountId: string): OwnerPath => ['accounts', accountId];

/** For everybody else, by address: what can be forged comes last in the path. */
export const hashQueueOfStrangers = (addresses: readonly string[]): OwnerPath => ['strangers', ...addresses];

/** For the operator, on the command line or at the first start. */
export const hashQueueOfOperator: OwnerPath = ['operator'];

export interface PasswordCost {
  /** In kibibytes. */
  readonly memoryCost: number;
  readonly timeCost: number;
}

/** OWASP's recommendation for argon2id. */
export const recommendedCost: PasswordCost = { memoryCost: 19_456, timeCost: 2 };

const argon2id = { algorithm: 2 satisfies Algorithm.Argon2id, parallelism: 1 } as const;

/** Fewer than the failures allowed per login, because attempts in progress count as failures until they succeed. */
const permitsMax = 8;

/** Much longer than honest users ever wait; a flood of logins gets a 503. */
const waitMaxMs = 20_000;

export async function createPasswords(passwordCost = recommendedCost): Promise<Passwords> {
  const cost = { ...argon2id, ...passwordCost };
  const permits = Math.min(permitsMax, Math.max(1, availableParallelism() - 1));
  const semaphore = new FairSemaphore('logins', { permits, waitMaxMs });
  const hashOfNobody = await hash('the password of an account that does not exist', cost);
  return {
    hash: (queue, password) => semaphore.during(queue, () => hash(password, cost)),
    verify: (queue, password, stored, begin) =>
      semaphore.during(queue, async () => {
        await begin();
        const isRight = await verify(stored ?? hashOfNobody, password);
        return isRight && stored !== null;
      }),
  };
}
