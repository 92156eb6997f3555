// Something bounded that uploads hold while they last, shared between projects first and between the subjects (users
// and spaces) of a project second. Whoever has the least goes next. Where nothing becomes free, the slowest upload of
// the largest holder is ended, so that slow clients can never keep the others out.
import { outage } from '../kernel/error.ts';

export interface Owner {
  readonly project: string;
  readonly subject: string;
}

/** The client of an upload, as far as its pace matters. */
export interface Sender {
  /** Bytes a second, as last measured; Infinity while it is not known or it is we who are slow; null once all is here. */
  readonly pace: number | null;
  /** Measures again; called every second. Ends the upload that is slower than `occupancy` (0 to 1) allows. */
  measure(occupancy: number): void;
  /** Ends the upload, so that its owner gives back what it holds. */
  makeRoom(): void;
}

export interface FairShare {
  /** Resolves to the function that gives the units back. Aborting ends the wait. */
  enter(owner: Owner, units: number, sender: Sender | null, signal?: AbortSignal): Promise<() => void>;
  /** The same without waiting; null unless less than half is in use. */
  enterIfEasy(owner: Owner, units: number, sender: Sender | null): (() => void) | null;
  /** Ends one slow upload, if there is any, where something else that uploads hold has run short. */
  relieve(): void;
  readonly waiting: number;
  readonly used: number;
}

export interface FairShareOptions {
  readonly units: number;
  /** The most that one project, and one subject, may hold: the first who come after it find some free at once. */
  readonly unitsOfProject: number;
  readonly unitsOfSubject: number;
  readonly waitMaxMs: number;
  /** After so long, even an upload that is not slow makes room for somebody who has less. */
  readonly yieldAfterMs: number;
}

export interface Share extends Owner {
  readonly units: number;
}

export interface Held extends Share {
  readonly sender: Sender | null;
}

interface Holding extends Held {
  /** Has been told to make room. */
  leaving: boolean;
}

interface Waiting extends Share {
  readonly sinceMs: number;
  readonly admit: () => void;
}

/** Slower than this, an upload makes room for others as soon as they wait. */
export const slowBytesPerSecond = 16 * 1024;

const measureEveryMs = 1_000;
const easyShare = 0.5;
/** Looking for whom to end goes through all holders: however many wait, it is done only so often, and for so many. */
const lookEveryMs = 100;
const waitersPerLook = 64;

/** `what` is held, in the plural, as whoever waits in vain reads it. */
export function createFairShare(what: string, options: FairShareOptions): FairShare {
  const { units: unitsInAll, unitsOfProject, unitsOfSubject, waitMaxMs, yieldAfterMs } = options;
  const holdings = new Set<Holding>();
  const ofProjects = new Tally();
  const ofSubjects = new Tally();
  const lines = new Lines();
  let used = 0;
  let ticking: NodeJS.Timeout | null = null;
  let madeRoomAt = Number.NEGATIVE_INFINITY;

  const hasShare = ({ project, subject, units }: Share): boolean =>
    ofProjects.of(project) + units <= unitsOfProject && ofSubjects.of(subject) + units <= unitsOfSubject;
  const fits = (share: Share): boolean => used + share.units <= unitsInAll && hasShare(share);

  const take = ({ project, subject, units }: Share, sender: Sender | null): (() => void) => {
    const holding: Holding = { project, subject, units, sender, leaving: false };
    holdings.add(holding);
    used += units;
    ofProjects.add(project, units);
    ofSubjects.add(subject, units);
    ticking ??= setInterval(tick, measureEveryMs).unref();
    return () => {
      if (!holdings.delete(holding)) return;
      used -= units;
      ofProjects.add(project, -units);
      ofSubjects.add(subject, -units);
      if (lines.size > 0) admitAll();
    };
  };

  /** Others do not slip past one that only waits for enough to be free. */
  const admitAll = () => {
    for (;;) {
      const next = lines.next(ofProjects, ofSubjects, hasShare);
      if (!next || used + next.units > unitsInAll) return;
      next.admit();
    }
  };

  const wait = (share: Share, sender: Sender | null, signal?: AbortSignal) =>
    new Promise<() => void>((resolve, reject) => {
      const stopWaiting = () => {
        lines.remove(waiting);
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      const giveUp = (reason: unknown) => {
        stopWaiting();
        reject(reason);
        // Those behind may have waited only for this one.
        admitAll();
      };
      const waiting: Waiting = {
        ...share,
        sinceMs: performance.now(),
        admit: () => {
          stopWaiting();
          resolve(take(share, sender));
        },
      };
      const onAbort = () => giveUp(signal?.reason);
      const timer = setTimeout(
        () => giveUp(outage('capacity', `Too many ${what} at once: try again in a moment`)),
        waitMaxMs,
      );
      signal?.addEventListener('abort', onAbort);
      lines.add(waiting);
      admitAll();
      if (performance.now() - madeRoomAt > lookEveryMs) makeRoom();
    });

  const tick = () => {
    if (holdings.size === 0 && ticking) {
      clearInterval(ticking);
      ticking = null;
      return;
    }
    const occupancy = used / unitsInAll;
    for (const { sender, leaving } of holdings) if (!leaving) sender?.measure(occupancy);
    makeRoom();
  };

  /** For those who wait, as long as it makes the shares more equal. */
  const makeRoom = () => {
    if (lines.size === 0) return;
    madeRoomAt = performance.now();
    const staying = [...holdings].filter(({ leaving }) => !leaving);
    let promised = unitsInAll - sumOf(staying);
    let looks = 0;
    for (const waiting of lines.inTurn(ofProjects, ofSubjects)) {
      if (looks++ >= waitersPerLook) return;
      if (ofSubjects.of(waiting.subject) + waiting.units > unitsOfSubject) continue;
      const isAtBound = ofProjects.of(waiting.project) + waiting.units > unitsOfProject;
      promised -= waiting.units;
      if (promised >= 0 && !isAtBound) continue;
      const holders = isAtBound ? staying.filter(({ project }) => project === waiting.project) : staying;
      const victim = victimFor(waiting, holders);
      if (!victim || !mustYield(victim, waiting)) continue;
      staying.splice(staying.indexOf(victim), 1);
      promised += victim.units;
      end(victim);
    }
  };

  const end = (victim: Holding) => {
    victim.leaving = true;
    victim.sender?.makeRoom();
  };

  const mustYield = ({ sender }: Holding, { sinceMs }: Waiting): boolean =>
    isSlow(sender) || performance.now() - sinceMs >= yieldAfterMs;

  return {
    async enter({ project, subject }, units, sender, signal) {
      signal?.throwIfAborted();
      const share = { project, subject, units: Math.min(units, unitsOfSubject) };
      return lines.size === 0 && fits(share) ? take(share, sender) : wait(share, sender, signal);
    },
    enterIfEasy({ project, subject }, units, sender) {
      const share = { project, subject, units };
      const isEasy = lines.size === 0 && used + units <= unitsInAll * easyShare && hasShare(share);
      return isEasy ? take(share, sender) : null;
    },
    relieve() {
      const slow = [...holdings].filter(({ leaving, sender }) => !leaving && isSlow(sender));
      const victim = victimFor({ project: '', subject: '', units: 0 }, slow);
      if (victim) end(victim);
    },
    get waiting() {
      return lines.size;
    },
    get used() {
      return used;
    },
  };
}

const isSlow = (sender: Sender | null): boolean =>
  (sender?.pace ?? Number.POSITIVE_INFINITY) < slowBytesPerSecond;

/**
 * Whose upload is ended for `waiting`: the slowest of the largest subject of the largest project, and among equals the
 * one that came last. Null where that would not make the shares more equal, and among those who have sent everything.
 */
export function victimFor<Holder extends Held>(waiting: Share, holders: readonly Holder[]): Holder | null {
  const sending = holders.filter(({ sender }) => sender !== null && sender.pace !== null);
  const projects = Tally.by(holders, ({ project }) => project);
  const crowd = projects.largest(waiting.project);
  const isCrowded = crowd !== null && projects.of(crowd) > projects.of(waiting.project) + waiting.units;
  const project = isCrowded ? crowd : waiting.project;
  const ofProject = holders.filter((holder) => holder.project === project);
  const subjects = Tally.by(ofProject, ({ subject }) => subject);
  const subject = subjects.largest(waiting.subject);
  if (subject === null) return null;
  if (!isCrowded && subjects.of(subject) <= subjects.of(waiting.subject) + waiting.units) return null;
  const candidates = sending.filter((holder) => holder.project === project && holder.subject === subject);
  return candidates.reduceRight<Holder | null>(
    (slowest, holder) => (slowest && paceOf(slowest) <= paceOf(holder) ? slowest : holder),
    null,
  );
}

const sumOf = (shares: readonly Share[]): number => shares.reduce((sum, { units }) => sum + units, 0);

const paceOf = ({ sender }: Held): number => sender?.pace ?? Number.POSITIVE_INFINITY;

/** Sums by name. */
class Tally {
  readonly #sums = new Map<string, number>();

  static by<Item extends Share>(items: readonly Item[], nameOf: (item: Item) => string): Tally {
    const tally = new Tally();
    for (const item of items) tally.add(nameOf(item), item.units);
    return tally;
  }

  add(name: string, units: number): void {
    const sum = this.of(name) + units;
    if (sum > 0) this.#sums.set(name, sum);
    else this.#sums.delete(name);
  }

  of(name: string): number {
    return this.#sums.get(name) ?? 0;
  }

  leastFirst(names: Iterable<string>): string[] {
    return [...names].sort((a, b) => this.of(a) - this.of(b));
  }

  /** Null where there is no other than `except`. */
  largest(except: string): string | null {
    let largest: string | null = null;
    for (const [name, sum] of this.#sums)
      if (name !== except && sum > (largest === null ? 0 : this.of(largest))) largest = name;
    return largest;
  }
}

/** Who waits: by project, then by subject, each in the order in which they came. */
class Lines {
  readonly #projects = new Map<string, Map<string, Set<Waiting>>>();
  size = 0;

  add(waiting: Waiting): void {
    const subjects = this.#projects.get(waiting.project) ?? new Map<string, Set<Waiting>>();
    const line = subjects.get(waiting.subject) ?? new Set<Waiting>();
    this.#projects.set(waiting.project, subjects.set(waiting.subject, line.add(waiting)));
    this.size += 1;
  }

  remove(waiting: Waiting): void {
    const subjects = this.#projects.get(waiting.project);
    const line = subjects?.get(waiting.subject);
    if (!subjects || !line?.delete(waiting)) return;
    this.size -= 1;
    if (line.size === 0) subjects.delete(waiting.subject);
    if (subjects.size === 0) this.#projects.delete(waiting.project);
  }

  /** Of those who may have more, the first of the subject that holds least, in the project that holds least. */
  next(ofProjects: Tally, ofSubjects: Tally, mayHave: (share: Share) => boolean): Waiting | null {
    for (const waiting of this.inTurn(ofProjects, ofSubjects)) if (mayHave(waiting)) return waiting;
    return null;
  }

  /** The first in line of every subject, those who hold least first. */
  *inTurn(ofProjects: Tally, ofSubjects: Tally): Generator<Waiting> {
    for (const project of ofProjects.leastFirst(this.#projects.keys())) {
      const subjects = this.#projects.get(project);
      for (const subject of ofSubjects.leastFirst(subjects?.keys() ?? [])) {
        const [first] = subjects?.get(subject) ?? [];
        if (first) yield first;
      }
    }
  }
}
