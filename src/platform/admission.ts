// A bound on how much is under way at once. Who does not fit waits a while, and is then told to come back. Owners take
// turns: however many wait for one of them, those of another go next.
import { outage } from '../kernel/error.ts';

export interface Admission {
  /** Resolves to the function that gives the place back. Who aborts gives up waiting. */
  enter(owner: string, signal?: AbortSignal): Promise<() => void>;
  /** Has a place for as long as `work` lasts. */
  during<Result>(owner: string, work: () => Promise<Result>): Promise<Result>;
}

export interface AdmissionOptions {
  readonly places: number;
  /** How many of them one owner may have, so that nobody can take them all. */
  readonly placesOfOne?: number;
  readonly waitMaxMs: number;
}

/** `what` is under way, in the plural, as whoever waits in vain is told. */
export function createAdmission(
  what: string,
  { places, placesOfOne = places, waitMaxMs }: AdmissionOptions,
): Admission {
  let free = places;
  const taken = new Map<string, number>();
  /** Who waits: by owner, the next one's first, and each owner's in the order in which they came. */
  const waiting = new Map<string, Set<() => void>>();

  const fits = (owner: string): boolean => free > 0 && (taken.get(owner) ?? 0) < placesOfOne;
  const take = (owner: string) => {
    free -= 1;
    taken.set(owner, (taken.get(owner) ?? 0) + 1);
  };
  const leave = (owner: string) => {
    free += 1;
    const left = (taken.get(owner) ?? 0) - 1;
    if (left > 0) taken.set(owner, left);
    else taken.delete(owner);
    admitNext();
  };
  const admitNext = () => {
    for (const [owner, line] of waiting) {
      const [turn] = line;
      if (!turn || !fits(owner)) continue;
      take(owner);
      turn();
      // Behind the others, if anybody is left.
      if (waiting.delete(owner)) waiting.set(owner, line);
      return;
    }
  };
  const queueUp = (owner: string, turn: () => void) => {
    const line = waiting.get(owner) ?? new Set();
    waiting.set(owner, line.add(turn));
  };
  const giveUpPlace = (owner: string, turn: () => void) => {
    const line = waiting.get(owner);
    line?.delete(turn);
    if (line?.size === 0) waiting.delete(owner);
  };
  const wait = (owner: string, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const turn = () => {
        stopWaiting();
        resolve();
      };
      const giveUp = (reason: unknown) => {
        stopWaiting();
        reject(reason);
      };
      const onAbort = () => giveUp(signal?.reason);
      const stopWaiting = () => {
        giveUpPlace(owner, turn);
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      const timer = setTimeout(
        () => giveUp(outage('capacity', `Too many ${what} at once: try again in a moment`)),
        waitMaxMs,
      );
      signal?.addEventListener('abort', onAbort);
      queueUp(owner, turn);
    });

  const enter = async (owner: string, signal?: AbortSignal): Promise<() => void> => {
    signal?.throwIfAborted();
    if (fits(owner)) take(owner);
    else await wait(owner, signal);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      leave(owner);
    };
  };
  return {
    enter,
    async during(owner, work) {
      const giveBack = await enter(owner);
      return work().finally(giveBack);
    },
  };
}
