// Retries without a delay; callers that need a back-off wait inside `work`.

/** Runs `work` up to `attemptsMax` times, as long as it fails with an error that is worth another attempt. */
export async function retry<Result>(
  attemptsMax: number,
  isRetryable: (error: unknown) => boolean,
  work: () => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === attemptsMax || !isRetryable(error)) throw error;
    }
  }
}
