// What to undo when a start fails half-way, and when the service stops.

export type Undo = () => Promise<unknown>;

/** Runs every step, newest first, even if some fail; then rejects with the first failure. */
export async function undoAll(undo: readonly Undo[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of undo.toReversed()) await step().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** Names the variable to look at when something that it configures cannot be used. */
export const naming = <Result>(variables: string, work: Promise<Result>): Promise<Result> =>
  work.catch((error: unknown) => {
    throw new Error(`${variables} cannot be used as set`, { cause: error });
  });
