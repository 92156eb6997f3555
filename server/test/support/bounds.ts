// How long a test may take, and how long it waits for something. These bounds end what hangs; they say nothing about
// speed, so they are long enough for a machine that is busy with ten other things. And how often a test repeats itself.

/** For one condition to come true. */
export const waitMsMax = 120_000;

export const hookMsMax = 300_000;

/** Longer than a few waits in a row, so that a test that hangs is told by the wait that never ended. */
export const testMsMax = 600_000;

/** For tests that try random moments or inputs: CI goes on for longer than somebody who waits for the result. */
export const repetitions = (inCi: number, otherwise: number): number => (process.env.CI ? inCi : otherwise);
