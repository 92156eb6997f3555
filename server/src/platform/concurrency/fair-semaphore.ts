// A semaphore that is fair between owners. Owners take turns: however many callers of one owner wait, the next caller
// of another owner waits behind one of them at most. A caller that waits too long gets a 503.
import { outage } from '../../kernel/error.ts';

/** From the widest group to the narrowest; the groups of every level take turns. */
export type OwnerPath = readonly [string, ...string[]];

export type Owner = string | OwnerPath;

export interface FairSemaphoreOptions {
  readonly permits: number;
  /** The most that one owner (the first name of a path) may hold, so that nobody can take everything. */
  readonly permitsPerOwner?: number;
  readonly waitMaxMs: number;
  /** Called when somebody starts to wait, and every second while the wait lasts. */
  readonly onShortage?: (() => void) | undefined;
}

const remindEveryMs = 1_000;

export class FairSemaphore {
  readonly #what: string;
  readonly #options: Required<Pick<FairSemaphoreOptions, 'permits' | 'permitsPerOwner'>> &
    FairSemaphoreOptions;
  readonly #waiting = newGroup();
  readonly #held = new Map<string, number>();
  #free: number;

  /** `what` names the work in the plural, for the message of the 503. */
  constructor(what: string, options: FairSemaphoreOptions) {
    const { permits, permitsPerOwner = permits } = options;
    this.#what = what;
    this.#options = { ...options, permitsPerOwner };
    this.#free = permits;
  }

  /** Resolves to the function that releases the permits, all of which are granted at once. Aborting ends the wait. */
  async acquire(owner: Owner, signal?: AbortSignal, wanted = 1): Promise<() => void> {
    signal?.throwIfAborted();
    const path: OwnerPath = typeof owner === 'string' ? [owner] : owner;
    const permits = Math.min(wanted, this.#options.permitsPerOwner, this.#options.permits);
    if (isEmpty(this.#waiting) && permits <= this.#free && this.#mayHold(path[0], permits))
      this.#take(path[0], permits);
    else await this.#wait(path, permits, signal);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#take(path[0], -permits);
      this.#admitWaiting();
    };
  }

  /** Holds one permit while `work` runs. */
  async during<Result>(owner: Owner, work: () => Promise<Result>): Promise<Result> {
    const release = await this.acquire(owner);
    return work().finally(release);
  }

  #mayHold(owner: string, permits: number): boolean {
    return (this.#held.get(owner) ?? 0) + permits <= this.#options.permitsPerOwner;
  }

  #take(owner: string, permits: number): void {
    this.#free -= permits;
    const held = (this.#held.get(owner) ?? 0) + permits;
    if (held > 0) this.#held.set(owner, held);
    else this.#held.delete(owner);
  }

  #wait(path: OwnerPath, permits: number, signal?: AbortSignal): Promise<void> {
    const { waitMaxMs, onShortage } = this.#options;
    return new Promise((resolve, reject) => {
      const stopWaiting = () => {
        remove(this.#waiting, path, waiter);
        clearTimeout(timer);
        clearInterval(reminder);
        signal?.removeEventListener('abort', onAbort);
      };
      const giveUp = (reason: unknown) => {
        stopWaiting();
        reject(reason);
        // Callers behind this one may have waited only because of its size.
        this.#admitWaiting();
      };
      const admit = () => {
        stopWaiting();
        resolve();
      };
      const waiter: Waiter = { path, permits, admit };
      const onAbort = () => giveUp(signal?.reason);
      const timer = setTimeout(() => giveUp(this.#tooMany()), waitMaxMs);
      const reminder = onShortage && setInterval(onShortage, remindEveryMs);
      onShortage?.();
      signal?.addEventListener('abort', onAbort);
      add(this.#waiting, path, waiter);
      this.#admitWaiting();
    });
  }

  #tooMany(): unknown {
    return outage('capacity', `Too many ${this.#what} at once: try again in a moment`);
  }

  #admitWaiting(): void {
    for (let next = this.#next(); next; next = this.#next()) {
      this.#take(next.path[0], next.permits);
      moveBack(this.#waiting, next.path);
      next.admit();
    }
  }

  /** The next waiter whose owner may hold more. Nobody overtakes a waiter that needs more permits than are free. */
  #next(): Waiter | undefined {
    for (const group of this.#waiting.groups.values()) {
      const waiter = firstIn(group);
      if (waiter && this.#mayHold(waiter.path[0], waiter.permits))
        return waiter.permits <= this.#free ? waiter : undefined;
    }
    return undefined;
  }
}

interface Waiter {
  readonly path: OwnerPath;
  readonly permits: number;
  readonly admit: () => void;
}

/** Waiters sit at the end of their path. Maps and sets keep the order of the turns. */
interface Group {
  readonly groups: Map<string, Group>;
  readonly waiters: Set<Waiter>;
}

const newGroup = (): Group => ({ groups: new Map(), waiters: new Set() });

const isEmpty = ({ groups, waiters }: Group): boolean => groups.size === 0 && waiters.size === 0;

function add(group: Group, [name, ...rest]: readonly string[], waiter: Waiter): void {
  if (name === undefined) {
    group.waiters.add(waiter);
    return;
  }
  const inner = group.groups.get(name) ?? newGroup();
  group.groups.set(name, inner);
  add(inner, rest, waiter);
}

function remove(group: Group, [name, ...rest]: readonly string[], waiter: Waiter): void {
  if (name === undefined) {
    group.waiters.delete(waiter);
    return;
  }
  const inner = group.groups.get(name);
  if (!inner) return;
  remove(inner, rest, waiter);
  if (isEmpty(inner)) group.groups.delete(name);
}

function firstIn(group: Group): Waiter | undefined {
  const [waiter] = group.waiters;
  if (waiter) return waiter;
  const [inner] = group.groups.values();
  return inner && firstIn(inner);
}

/** A group that has had its turn goes behind the others of its level. */
function moveBack(group: Group, [name, ...rest]: readonly string[]): void {
  const inner = name === undefined ? undefined : group.groups.get(name);
  if (name === undefined || !inner) return;
  group.groups.delete(name);
  group.groups.set(name, inner);
  moveBack(inner, rest);
}
