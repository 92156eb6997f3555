// Waiting callers, by project and then by subject, each line in order of arrival.
import type { Share } from './eviction.ts';
import type { Tally } from './tally.ts';

export class WaitingLines<Waiting extends Share> {
  readonly #heldByProject: Tally;
  readonly #heldBySubject: Tally;
  readonly #projects = new Map<string, Map<string, Set<Waiting>>>();
  #size = 0;

  constructor(heldByProject: Tally, heldBySubject: Tally) {
    this.#heldByProject = heldByProject;
    this.#heldBySubject = heldBySubject;
  }

  get size(): number {
    return this.#size;
  }

  add(waiting: Waiting): void {
    const subjects = this.#projects.get(waiting.project) ?? new Map<string, Set<Waiting>>();
    const line = subjects.get(waiting.subject) ?? new Set<Waiting>();
    this.#projects.set(waiting.project, subjects.set(waiting.subject, line.add(waiting)));
    this.#size += 1;
  }

  remove(waiting: Waiting): void {
    const subjects = this.#projects.get(waiting.project);
    const line = subjects?.get(waiting.subject);
    if (!subjects || !line?.delete(waiting)) return;
    this.#size -= 1;
    if (line.size === 0) subjects.delete(waiting.subject);
    if (subjects.size === 0) this.#projects.delete(waiting.project);
  }

  /** Of those who may hold more, the first of the subject that holds least, in the project that holds least. */
  next(mayHold: (share: Share) => boolean): Waiting | null {
    for (const waiting of this.inTurn()) if (mayHold(waiting)) return waiting;
    return null;
  }

  /** The first in line of every subject, those who hold least first. */
  *inTurn(): Generator<Waiting> {
    for (const project of this.#heldByProject.smallestFirst(this.#projects.keys())) {
      const subjects = this.#projects.get(project);
      for (const subject of this.#heldBySubject.smallestFirst(subjects?.keys() ?? [])) {
        const [first] = subjects?.get(subject) ?? [];
        if (first) yield first;
      }
    }
  }
}
