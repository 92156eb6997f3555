// For tests that kill the service while it answers.

/** Null if the connection broke. Any other error, such as a failed assertion, is thrown. */
export async function unlessGone<Result>(work: () => Promise<Result>): Promise<Result | null> {
  try {
    return await work();
  } catch (error) {
    if (
      !(error instanceof Error) ||
      !/ECONN|EPIPE|UND_ERR|socket|other side/i.test(`${(error as { code?: string }).code} ${error.message}`)
    )
      throw error;
    return null;
  }
}
