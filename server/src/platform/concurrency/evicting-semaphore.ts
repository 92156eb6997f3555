// A semaphore for uploads that evicts. Units are shared between projects first, then between the subjects (users and
// spaces) of a project; the one that holds least goes next. If nothing becomes free, the slowest upload of the largest
// holder is ended, so slow clients can never lock the others out.
import { outage } from '../../kernel/error.ts';
import { type Held, isSlow, type Owner, type Sender, type Share, sumUnits, victimFor } from './eviction.ts';
import { Tally } from './tally.ts';
import { WaitingLines } from './waiting-lines.ts';

export interface EvictingSemaphoreOptions {
  readonly units: number;
  /** The most that one project, and one subject, may hold: the next one to come finds some free at once. */
  readonly unitsOfProject: number;
  readonly unitsOfSubject: number;
  readonly waitMaxMs: number;
  /** After this wait, even an upload that is not slow is ended for a caller that holds less. */
  readonly yieldAfterMs: number;
}

interface Holding extends Held {
  /** Has been told to end. */
  isLeaving: boolean;
}

interface Waiting extends Share {
  readonly sinceMs: number;
  readonly admit: () => void;
}

const measureEveryMs = 1_000;
const easyShare = 0.5;
/** Looking for a victim visits all holders, so it is done only this often, for so many waiters at a time. */
const lookEveryMs = 100;
const waitersPerLook = 64;

export class EvictingSemaphore {
  readonly #what: string;
  readonly #options: EvictingSemaphoreOptions;
  readonly #holdings = new Set<Holding>();
  readonly #ofProjects = new Tally();
  readonly #ofSubjects = new Tally();
  readonly #lines = new WaitingLines<Waiting>(this.#ofProjects, this.#ofSubjects);
  #used = 0;
  #ticking: NodeJS.Timeout | null = null;
  #lookedAt = Number.NEGATIVE_INFINITY;

  /** `what` names the work in the plural, for the message of the 503. */
  constructor(what: string, options: EvictingSemaphoreOptions) {
    this.#what = what;
    this.#options = options;
  }

  get waiting(): number {
    return this.#lines.size;
  }

  get used(): number {
    return this.#used;
  }

  /** Resolves to the function that releases the units. Aborting ends the wait. */
  async acquire(
    { project, subject }: Owner,
    units: number,
    sender: Sender | null,
    signal?: AbortSignal,
  ): Promise<() => void> {
    signal?.throwIfAborted();
    const share = { project, subject, units: Math.min(units, this.#options.unitsOfSubject) };
    const fits = this.#used + share.units <= this.#options.units && this.#mayHold(share);
    return this.#lines.size === 0 && fits ? this.#take(share, sender) : this.#wait(share, sender, signal);
  }

  /** The same without waiting; null unless less than half is in use. */
  acquireIfEasy({ project, subject }: Owner, units: number, sender: Sender | null): (() => void) | null {
    const share = { project, subject, units };
    const isEasy = this.#lines.size === 0 && this.#used + units <= this.#options.units * easyShare;
    return isEasy && this.#mayHold(share) ? this.#take(share, sender) : null;
  }

  /** Ends one slow upload, if there is any, because something else that uploads hold has run short. */
  evictSlow(): void {
    const slow = this.#staying().filter(({ sender }) => isSlow(sender));
    const victim = victimFor({ project: '', subject: '', units: 0 }, slow);
    if (victim) evict(victim);
  }

  #mayHold({ project, subject, units }: Share): boolean {
    const { unitsOfProject, unitsOfSubject } = this.#options;
    return (
      this.#ofProjects.get(project) + units <= unitsOfProject &&
      this.#ofSubjects.get(subject) + units <= unitsOfSubject
    );
  }

  #take({ project, subject, units }: Share, sender: Sender | null): () => void {
    const holding: Holding = { project, subject, units, sender, isLeaving: false };
    this.#holdings.add(holding);
    this.#count(holding, units);
    this.#ticking ??= setInterval(() => this.#tick(), measureEveryMs).unref();
    return () => {
      if (!this.#holdings.delete(holding)) return;
      this.#count(holding, -units);
      if (this.#lines.size > 0) this.#admitWaiting();
    };
  }

  #count({ project, subject }: Owner, units: number): void {
    this.#used += units;
    this.#ofProjects.add(project, units);
    this.#ofSubjects.add(subject, units);
  }

  #wait(share: Share, sender: Sender | null, signal?: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const stopWaiting = () => {
        this.#lines.remove(waiting);
        clearTimeout(timer);
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
        resolve(this.#take(share, sender));
      };
      const waiting: Waiting = { ...share, sinceMs: performance.now(), admit };
      const onAbort = () => giveUp(signal?.reason);
      const timer = setTimeout(() => giveUp(this.#tooMany()), this.#options.waitMaxMs);
      signal?.addEventListener('abort', onAbort);
      this.#lines.add(waiting);
      this.#admitWaiting();
      if (performance.now() - this.#lookedAt > lookEveryMs) this.#makeRoom();
    });
  }

  #tooMany(): unknown {
    return outage('capacity', `Too many ${this.#what} at once: try again in a moment`);
  }

  /** Nobody overtakes a waiter that needs more units than are free. */
  #admitWaiting(): void {
    for (;;) {
      const next = this.#lines.next((share) => this.#mayHold(share));
      if (!next || this.#used + next.units > this.#options.units) return;
      next.admit();
    }
  }

  #tick(): void {
    if (this.#holdings.size === 0 && this.#ticking) {
      clearInterval(this.#ticking);
      this.#ticking = null;
      return;
    }
    const occupancy = this.#used / this.#options.units;
    for (const { sender } of this.#staying()) sender?.measure(occupancy);
    this.#makeRoom();
  }

  #staying(): Holding[] {
    return [...this.#holdings].filter(({ isLeaving }) => !isLeaving);
  }

  /** Evicts for those who wait, as long as that makes the shares more equal. */
  #makeRoom(): void {
    if (this.#lines.size === 0) return;
    this.#lookedAt = performance.now();
    const { units, unitsOfProject, unitsOfSubject } = this.#options;
    const staying = this.#staying();
    let promised = units - sumUnits(staying);
    let looks = 0;
    for (const waiting of this.#lines.inTurn()) {
      if (looks++ >= waitersPerLook) return;
      if (this.#ofSubjects.get(waiting.subject) + waiting.units > unitsOfSubject) continue;
      const isAtBound = this.#ofProjects.get(waiting.project) + waiting.units > unitsOfProject;
      promised -= waiting.units;
      if (promised >= 0 && !isAtBound) continue;
      const holders = isAtBound ? staying.filter(({ project }) => project === waiting.project) : staying;
      const victim = victimFor(waiting, holders);
      if (!victim || !this.#mustYield(victim, waiting)) continue;
      staying.splice(staying.indexOf(victim), 1);
      promised += victim.units;
      evict(victim);
    }
  }

  #mustYield({ sender }: Holding, { sinceMs }: Waiting): boolean {
    return isSlow(sender) || performance.now() - sinceMs >= this.#options.yieldAfterMs;
  }
}

function evict(victim: Holding): void {
  victim.isLeaving = true;
  victim.sender?.makeRoom();
}
