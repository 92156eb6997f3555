// Which upload is ended to make room for a waiting one.
import { Tally } from './tally.ts';

export interface Owner {
  readonly project: string;
  readonly subject: string;
}

/** The client of an upload, as far as its pace matters. */
export interface Sender {
  /** Bytes per second as last measured; Infinity if unknown or if we are the slow side; null once all bytes are here. */
  readonly pace: number | null;
  /** Measures again; called every second. Ends an upload that is slower than `occupancy` (0 to 1) allows. */
  measure(occupancy: number): void;
  /** Ends the upload, so that its owner releases what it holds. */
  makeRoom(): void;
}

export interface Share extends Owner {
  readonly units: number;
}

export interface Held extends Share {
  readonly sender: Sender | null;
}

/** An upload slower than this is ended as soon as others wait. */
export const slowBytesPerSecond = 16 * 1024;

export const isSlow = (sender: Sender | null): boolean => paceOf(sender) < slowBytesPerSecond;

/**
 * The slowest upload of the largest subject of the largest project; among equals, the latest. Null if ending it would
 * not make the shares more equal, or if all bytes of every candidate are here already.
 */
export function victimFor<Holder extends Held>(waiting: Share, holders: readonly Holder[]): Holder | null {
  const sending = holders.filter(({ sender }) => sender !== null && sender.pace !== null);
  const projects = Tally.of(holders, ({ project }) => project);
  const crowd = projects.largest(waiting.project);
  const isCrowded = crowd !== null && projects.get(crowd) > projects.get(waiting.project) + waiting.units;
  const project = isCrowded ? crowd : waiting.project;
  const ofProject = holders.filter((holder) => holder.project === project);
  const subjects = Tally.of(ofProject, ({ subject }) => subject);
  const subject = subjects.largest(waiting.subject);
  if (subject === null) return null;
  if (!isCrowded && subjects.get(subject) <= subjects.get(waiting.subject) + waiting.units) return null;
  const candidates = sending.filter((holder) => holder.project === project && holder.subject === subject);
  return candidates.reduceRight<Holder | null>(
    (slowest, holder) => (slowest && paceOf(slowest.sender) <= paceOf(holder.sender) ? slowest : holder),
    null,
  );
}

export const sumUnits = (shares: readonly Share[]): number =>
  shares.reduce((sum, { units }) => sum + units, 0);

const paceOf = (sender: Sender | null): number => sender?.pace ?? Number.POSITIVE_INFINITY;
