// Time as a value that is handed in, so that tests can move it.

/** Milliseconds since the epoch. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

export const secondsOf = (milliseconds: number): number => Math.floor(milliseconds / 1000);

export const isoOf = (milliseconds: number): string => new Date(milliseconds).toISOString();
