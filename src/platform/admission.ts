// A bound on how much is under way at once. Who does not fit waits a while, and is then told to come back.
import { outage } from '../kernel/error.ts';

export interface Admission {
  /** Resolves to the function that gives the place back. Who aborts gives up waiting. */
  enter(signal?: AbortSignal): Promise<() => void>;
}

/** `what` is under way, in the plural, as whoever waits in vain is told. */
export function createAdmission(what: string, places: number, waitMaxMs: number): Admission {
  let free = places;
  const waiting: (() => void)[] = [];

  const leave = () => {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  };
  const wait = (signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const turn = () => {
        stopWaiting();
        resolve();
      };
      const giveUp = (reason: unknown) => {
        stopWaiting();
        waiting.splice(waiting.indexOf(turn), 1);
        reject(reason);
      };
      const onAbort = () => giveUp(signal?.reason);
      const stopWaiting = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      const timer = setTimeout(
        () => giveUp(outage('capacity', `Too many ${what} at once: try again in a moment`)),
        waitMaxMs,
      );
      signal?.addEventListener('abort', onAbort);
      waiting.push(turn);
    });

  return {
    async enter(signal) {
      signal?.throwIfAborted();
      if (free > 0) free -= 1;
      else await wait(signal);
      let left = false;
      return () => {
        if (left) return;
        left = true;
        leave();
      };
    },
  };
}
