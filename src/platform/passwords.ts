// Passwords under argon2id. Hashing takes memory and a core on purpose, so only a few run at a time, and those of
// different owners take turns: a flood of logins to accounts does not keep a project's people out of their spaces.
import { availableParallelism } from 'node:os';
import { type Algorithm, hash, verify } from '@node-rs/argon2';
import { createAdmission } from './admission.ts';

export interface Passwords {
  hash(owner: string, password: string): Promise<string>;
  /**
   * With no hash to compare (no such account) it does the same work and answers false. `begin` comes first, when it
   * is this one's turn, and may refuse it.
   */
  verify(
    owner: string,
    password: string,
    hash: string | null,
    begin: () => Promise<unknown>,
  ): Promise<boolean>;
}

/** The owner of the passwords of all accounts. */
export const ofAccounts = 'accounts';

/** OWASP's recommendation for argon2id, which is algorithm 2. */
const cost = {
  algorithm: 2 satisfies Algorithm.Argon2id,
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
} as const;

/** Fewer than the failures that are allowed: those that are being judged count until they have turned out right. */
const placesMax = 8;

/** Far longer than a crowd of honest people waits; a flood of logins is told to come back. */
const waitMaxMs = 20_000;

export async function createPasswords(): Promise<Passwords> {
  const places = Math.min(placesMax, Math.max(1, availableParallelism() - 1));
  const admission = createAdmission('logins', { places, waitMaxMs });
  const nobodys = await hash('the password of an account that does not exist', cost);
  return {
    hash: (owner, password) => admission.during(owner, () => hash(password, cost)),
    verify: (owner, password, stored, begin) =>
      admission.during(owner, async () => {
        await begin();
        const right = await verify(stored ?? nobodys, password);
        return right && stored !== null;
      }),
  };
}
