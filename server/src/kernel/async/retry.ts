// Trying again.

/** Does `work` again where it failed in a way that passes, so many times in all. */
export async function inTries<Result>(
  triesMax: number,
  passes: (error: unknown) => boolean,
  work: () => Promise<Result>,
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries === triesMax || !passes(error)) throw error;
    }
  }
}
