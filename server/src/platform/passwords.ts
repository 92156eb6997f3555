// Passwords under argon2id. Hashing takes memory and a core on purpose, so only a few run at a time and take turns: a
// flood of logins by strangers keeps out neither the people of a project nor browsers that have logged in before.
import { availableParallelism } from 'node:os';
import { type Algorithm, hash, verify } from '@node-rs/argon2';
import { FairSemaphore, type OwnerPath } from './concurrency/fair-semaphore.ts';

export interface Passwords {
  hash(turn: OwnerPath, password: string): Promise<string>;
  /**
   * With no hash to compare (no such account) it does the same work and answers false. `begin` comes first, when it
   * is this one's turn, and may refuse it.
   */
  verify(
    turn: OwnerPath,
    password: string,
    hash: string | null,
    begin: () => Promise<unknown>,
  ): Promise<boolean>;
}

/** Of the passwords of spaces: each project has turns of its own. */
export const hashQueueOfSpaces = (projectId: string): OwnerPath => [projectId];

/** Of an account whose owner has proved as much before: by a session, a reset link or a browser that has logged in. */
export const hashQueueOfAccount = (accountId: string): OwnerPath => ['accounts', accountId];

/** Of everybody else, by the addresses that they come from: what can be forged comes last. */
export const hashQueueOfStrangers = (addresses: readonly string[]): OwnerPath => ['strangers', ...addresses];

/** Of the operator, on the command line or at the first start. */
export const hashQueueOfOperator: OwnerPath = ['operator'];

/** OWASP's recommendation for argon2id, which is algorithm 2. */
const cost = {
  algorithm: 2 satisfies Algorithm.Argon2id,
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
} as const;

/** Fewer than the failures that are allowed: those that are being judged count until they have turned out right. */
const permitsMax = 8;

/** Far longer than a crowd of honest people waits; a flood of logins is told to come back. */
const waitMaxMs = 20_000;

export async function createPasswords(): Promise<Passwords> {
  const permits = Math.min(permitsMax, Math.max(1, availableParallelism() - 1));
  const queue = new FairSemaphore('logins', { permits, waitMaxMs });
  const nobodys = await hash('the password of an account that does not exist', cost);
  return {
    hash: (turn, password) => queue.during(turn, () => hash(password, cost)),
    verify: (turn, password, stored, begin) =>
      queue.during(turn, async () => {
        await begin();
        const right = await verify(stored ?? nobodys, password);
        return right && stored !== null;
      }),
  };
}
