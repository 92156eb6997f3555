// Passwords under argon2id. Hashing takes memory and a core on purpose, so only a few run at a time.
import { availableParallelism } from 'node:os';
import { type Algorithm, hash, verify } from '@node-rs/argon2';

export interface Passwords {
  hash(password: string): Promise<string>;
  /** With no hash to compare (no such account) it does the same work and answers false. */
  verify(password: string, hash: string | null): Promise<boolean>;
}

/** OWASP's recommendation for argon2id, which is algorithm 2. */
const cost = {
  algorithm: 2 satisfies Algorithm.Argon2id,
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
} as const;

export async function createPasswords(): Promise<Passwords> {
  const slot = slots(Math.max(1, availableParallelism() - 1));
  const nobodys = await hash('the password of an account that does not exist', cost);
  return {
    hash: (password) => slot(() => hash(password, cost)),
    verify: (password, stored) =>
      slot(async () => {
        const right = await verify(stored ?? nobodys, password);
        return right && stored !== null;
      }),
  };
}

/** At most `count` pieces of work at once; the others wait in line. */
function slots(count: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let free = count;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}
