// The clock, passed as a value so that tests can move it.

/** Milliseconds since the epoch. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

export const secondsOf = (milliseconds: number): number => Math.floor(milliseconds / 1000);

const secondsKept = 8;
const knownSeconds = new Map<number, string>();

/** Every request formats a few timestamps, so the text of the latest seconds is cached. */
export function isoOf(milliseconds: number): string {
  const second = Math.floor(milliseconds / 1000);
  let text = knownSeconds.get(second);
  if (text === undefined) {
    text = new Date(second * 1000).toISOString().slice(0, -4);
    if (knownSeconds.size >= secondsKept) knownSeconds.clear();
    knownSeconds.set(second, text);
  }
  return `${text}${String(Math.floor(milliseconds - second * 1000)).padStart(3, '0')}Z`;
}
