// A bound on how much is under way at once. Who does not fit waits a while, and is then told to come back.
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

interface Waiter {
  readonly owner: string;
  readonly turn: () => void;
}

/** `what` is under way, in the plural, as whoever waits in vain is told. */
export function createAdmission(
  what: string,
  { places, placesOfOne = places, waitMaxMs }: AdmissionOptions,
): Admission {
  let free = places;
  const taken = new Map<string, number>();
  const waiting: Waiter[] = [];

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
    const next = waiting.findIndex((waiter) => fits(waiter.owner));
    const [waiter] = next < 0 ? [] : waiting.splice(next, 1);
    if (!waiter) return;
    take(waiter.owner);
    waiter.turn();
  };
  const wait = (owner: string, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const turn = () => {
        stopWaiting();
        resolve();
      };
      const waiter = { owner, turn };
      const giveUp = (reason: unknown) => {
        stopWaiting();
        waiting.splice(waiting.indexOf(waiter), 1);
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
      waiting.push(waiter);
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
