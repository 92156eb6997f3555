// Waiting for work that shares memory.

/** Waits until all of the work has ended, then rejects with the first failure. Nothing uses its memory afterwards. */
export async function allEnded(work: readonly Promise<unknown>[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) if (result.status === 'rejected') throw result.reason;
}
