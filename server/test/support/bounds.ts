// Timeouts of tests, and how often random tests repeat. Timeouts end what hangs and assert nothing about speed, so they are
// long enough for a very busy machine.

/** Timeout for one condition. */
export const waitMsMax = 120_000;

export const hookMsMax = 300_000;

/** Longer than a few waits in a row, so that the wait that never ended is reported, not the test. */
export const testMsMax = 600_000;

/** For tests with random timing or input: with TEST_THOROUGH they are repeated more often. */
export const repetitions = (thorough: number, otherwise: number): number =>
  process.env.TEST_THOROUGH ? thorough : otherwise;
