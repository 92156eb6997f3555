// A wait with a time limit.

/** Waits for `work`, but not longer than `milliseconds`. The work itself goes on; a late failure of it is ignored. */
export async function withTimeout(milliseconds: number, work: Promise<unknown>): Promise<void>;
/** The same, and settles to the result of `work` or, after the limit, to what `onTimeout` returns or throws. */
export async function withTimeout<Result, Late>(
  milliseconds: number,
  work: Promise<Result>,
  onTimeout: () => Late,
): Promise<Result | Late>;
export async function withTimeout<Result, Late>(
  milliseconds: number,
  work: Promise<Result>,
  onTimeout?: () => Late,
): Promise<Result | Late | undefined> {
  if (milliseconds === Number.POSITIVE_INFINITY) return work;
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<Late | undefined>((resolve, reject) => {
    timer = setTimeout(() => {
      try {
        resolve(onTimeout?.());
      } catch (error) {
        reject(error);
      }
    }, milliseconds);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
