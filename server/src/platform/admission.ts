// A bound on how much is under way at once. Who does not fit waits a while, and is then told to come back. Owners take
// turns: however many wait for one of them, those of another go next.
import { outage } from '../kernel/error.ts';

export interface Admission {
  /**
   * Resolves to the function that gives back what was taken: one place, or as many as are wanted. Who aborts gives up
   * waiting.
   */
  enter(owner: string, signal?: AbortSignal, wanted?: number): Promise<() => void>;
  /** Has a place for as long as `work` lasts. */
  during<Result>(owner: string, work: () => Promise<Result>): Promise<Result>;
}

export interface AdmissionOptions {
  readonly places: number;
  /** How many of them one owner may have, so that nobody can take them all. */
  readonly placesOfOne?: number;
  readonly waitMaxMs: number;
  /** Told as soon as somebody waits, and every second from then on. */
  readonly onShortage?: (() => void) | undefined;
}

const remindEveryMs = 1_000;

interface Waiting {
  readonly wanted: number;
  readonly admit: () => void;
}

/** `what` is under way, in the plural, as whoever waits in vain is told. */
export function createAdmission(
  what: string,
  { places: placesInAll, placesOfOne = placesInAll, waitMaxMs, onShortage }: AdmissionOptions,
): Admission {
  let free = placesInAll;
  const taken = new Map<string, number>();
  /** Who waits: by owner, the next one's first, and each owner's in the order in which they came. */
  const lines = new Map<string, Set<Waiting>>();

  const hasShare = (owner: string, wanted: number): boolean =>
    (taken.get(owner) ?? 0) + wanted <= placesOfOne;
  const take = (owner: string, wanted: number) => {
    free -= wanted;
    taken.set(owner, (taken.get(owner) ?? 0) + wanted);
  };
  const leave = (owner: string, given: number) => {
    free += given;
    const left = (taken.get(owner) ?? 0) - given;
    if (left > 0) taken.set(owner, left);
    else taken.delete(owner);
    admitAll();
  };
  /** The next one whose owner may have more; others do not slip past one that only waits for enough to be free. */
  const next = (): [string, Waiting] | undefined => {
    for (const [owner, line] of lines) {
      const [first] = line;
      if (first && hasShare(owner, first.wanted)) return first.wanted <= free ? [owner, first] : undefined;
    }
    return undefined;
  };
  const admitAll = () => {
    for (let turn = next(); turn; turn = next()) {
      const [owner, { wanted, admit }] = turn;
      take(owner, wanted);
      admit();
      // Behind the others, if anybody is left.
      const line = lines.get(owner);
      if (line && lines.delete(owner)) lines.set(owner, line);
    }
  };
  const stepOut = (owner: string, waiting: Waiting) => {
    const line = lines.get(owner);
    line?.delete(waiting);
    if (line?.size === 0) lines.delete(owner);
  };
  const wait = (owner: string, wanted: number, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const waiting: Waiting = {
        wanted,
        admit: () => {
          stopWaiting();
          resolve();
        },
      };
      const giveUp = (reason: unknown) => {
        stopWaiting();
        reject(reason);
        // Those behind may have waited only for this one.
        admitAll();
      };
      const onAbort = () => giveUp(signal?.reason);
      const stopWaiting = () => {
        stepOut(owner, waiting);
        clearTimeout(timer);
        clearInterval(reminder);
        signal?.removeEventListener('abort', onAbort);
      };
      const timer = setTimeout(
        () => giveUp(outage('capacity', `Too many ${what} at once: try again in a moment`)),
        waitMaxMs,
      );
      const reminder = onShortage && setInterval(onShortage, remindEveryMs);
      onShortage?.();
      signal?.addEventListener('abort', onAbort);
      lines.set(owner, (lines.get(owner) ?? new Set()).add(waiting));
      admitAll();
    });

  const enter = async (owner: string, signal?: AbortSignal, wanted = 1): Promise<() => void> => {
    signal?.throwIfAborted();
    const places = Math.min(wanted, placesOfOne, placesInAll);
    if (lines.size === 0 && places <= free && hasShare(owner, places)) take(owner, places);
    else await wait(owner, places, signal);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      leave(owner, places);
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
