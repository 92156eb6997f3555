// Waits for events: long polls and streams both read a page, and wait when it was the last one.
import type { Deps } from '../../contract/deps.ts';
import type { EventReaders, FeedEvent } from '../../contract/event.ts';
import { deferred } from '../../kernel/async/deferred.ts';
import { outage } from '../../kernel/error.ts';
import { type FeedPlace, readOn } from './events.service.ts';

type WaitDeps = Pick<Deps, 'db' | 'cursors' | 'eventHub'>;

export interface FeedBatch {
  readonly events: readonly FeedEvent[];
  readonly place: FeedPlace;
  /** Nothing follows at once. */
  readonly isLast: boolean;
  /** Something follows as soon as older transactions have ended. */
  readonly isPending: boolean;
}

/** Reads on until `signal` is aborted or the service stops. Gives every page, also empty ones, so that the place moves on. */
export async function* follow(
  deps: WaitDeps,
  start: FeedPlace,
  limit: number,
  signal: AbortSignal,
): AsyncGenerator<FeedBatch, void, void> {
  const bell = hangBell(deps, start.projectId, signal);
  try {
    for (let place = start; !signal.aborted && !deps.eventHub.isClosing; ) {
      const rings = bell.next();
      const page = await readOn(deps, place, limit);
      place = page.place;
      yield { events: page.events, place, isLast: !page.more, isPending: page.pending };
      if (!page.more) await rings;
    }
  } finally {
    bell.remove();
  }
}

interface Bell {
  /** Resolves at the next ring after this call. */
  next(): Promise<void>;
  remove(): void;
}

/** Rings when the project may have new events, when the service stops, and when `signal` is aborted. */
function hangBell({ eventHub }: WaitDeps, projectId: string, signal: AbortSignal): Bell {
  let ringing = deferred<void>();
  const ring = () => {
    ringing.resolve();
    ringing = deferred();
  };
  const unsubscribe = eventHub.subscribe(projectId, ring);
  signal.addEventListener('abort', ring);
  return {
    next: () => (signal.aborted ? Promise.resolve() : ringing.promise),
    remove() {
      unsubscribe();
      signal.removeEventListener('abort', ring);
    },
  };
}

const readersMax = 10_000;
const readersOfProjectMax = 1_000;

/** Bounds how many requests wait for events in this process. */
export class Readers implements EventReaders {
  readonly #ofProject = new Map<string, number>();
  #all = 0;

  /** Throws a 503 when there are too many. Returns a function that makes room again. */
  enter(projectId: string): () => void {
    const own = this.#ofProject.get(projectId) ?? 0;
    if (own >= readersOfProjectMax || this.#all >= readersMax)
      throw outage(
        'capacity',
        'Too many requests wait for events here: close some, and try again',
        undefined,
        5,
      );
    this.#all += 1;
    this.#ofProject.set(projectId, own + 1);
    return () => this.#leave(projectId);
  }

  get size(): number {
    return this.#all;
  }

  #leave(projectId: string): void {
    this.#all -= 1;
    const rest = (this.#ofProject.get(projectId) ?? 1) - 1;
    if (rest === 0) this.#ofProject.delete(projectId);
    else this.#ofProject.set(projectId, rest);
  }
}
