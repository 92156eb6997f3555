// Runs many transfers at once, bounded by their number and by the bytes that they keep in memory.

export interface Pool {
  /** Resolves when the work has begun. `bytes` is what it keeps in memory. */
  start(bytes: number, work: () => Promise<void>): Promise<void>;
  /** Resolves when all work has ended, or rejects with the first error. */
  end(): Promise<void>;
}

export function createPool(jobsMax: number, bytesMax: number): Pool {
  const running = new Set<Promise<void>>();
  /** Not Promise.race: it would add to every running promise each time. */
  let waiting: (() => void)[] = [];
  let bytesInUse = 0;
  let failure: { readonly error: unknown } | undefined;
  const throwIfFailed = () => {
    if (failure !== undefined) throw failure.error;
  };
  // One is always allowed, however large.
  const isFull = (bytes: number) =>
    running.size > 0 && (running.size >= jobsMax || bytesInUse + bytes > bytesMax);
  const wake = () => {
    const all = waiting;
    waiting = [];
    for (const go of all) go();
  };
  return {
    async start(bytes, work) {
      while (isFull(bytes)) await new Promise<void>((resolve) => waiting.push(resolve));
      throwIfFailed();
      bytesInUse += bytes;
      const task = work()
        .catch((error: unknown) => {
          failure ??= { error };
        })
        .then(() => {
          running.delete(task);
          bytesInUse -= bytes;
          wake();
        });
      running.add(task);
    },
    async end() {
      await Promise.all(running);
      throwIfFailed();
    },
  };
}
