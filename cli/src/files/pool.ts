// Runs many transfers at once, bounded by their number and by the bytes that they keep in memory.

export interface Pool {
  /** Resolves when the work has begun. `bytes` is what it keeps in memory. */
  start(bytes: number, work: () => Promise<void>): Promise<void>;
  /** Resolves when all work has ended, or rejects with the first error. */
  end(): Promise<void>;
}

export function createPool(jobsMax: number, bytesMax: number): Pool {
  const running = new Set<Promise<void>>();
  let bytesInUse = 0;
  let failure: { readonly error: unknown } | undefined;
  const throwIfFailed = () => {
    if (failure !== undefined) throw failure.error;
  };
  return {
    async start(bytes, work) {
      // One is always allowed, however large.
      while (running.size > 0 && (running.size >= jobsMax || bytesInUse + bytes > bytesMax))
        await Promise.race(running);
      throwIfFailed();
      bytesInUse += bytes;
      const task = work()
        .catch((error: unknown) => {
          failure ??= { error };
        })
        .finally(() => {
          running.delete(task);
          bytesInUse -= bytes;
        });
      running.add(task);
    },
    async end() {
      await Promise.all(running);
      throwIfFailed();
    },
  };
}
