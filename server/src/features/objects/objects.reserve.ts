// Reserves objects in the ledger before anything is written.
//
// While uploads of a project arrive in numbers, some objects are reserved ahead of them, so that an upload waits for one
// commit of the database instead of two. Unused ones are released within seconds; those of a process that died are settled
// by the reaper like any upload that came to nothing.
import type { HeldObject, Reservations } from '../../contract/object-ref.ts';
import { whileRenewed } from '../../kernel/async/lease.ts';
import { microBatch } from '../../kernel/async/micro-batch.ts';
import { newId } from '../../kernel/id.ts';
import type { Database } from '../../platform/db/postgres.ts';
import type { Zone } from '../../platform/objects/object-store.ts';
import { releaseReserved, renewHold, reserveObjects } from './objects.sql.ts';

export interface ClosableReservations extends Reservations {
  /** Gives back what was reserved ahead. */
  close(): Promise<void>;
}

const sparesMax = 64;
/** Public files are rare, and a file that turns out to be public is recorded by itself. */
const zoneOfSpares: Zone = 'private';
const tidyEveryMs = 1_000;
const freshMsMax = 5_000;

interface Spare {
  readonly object: HeldObject;
  /** From then on too little of the grace would be left for an upload. */
  readonly staleAtMs: number;
}

/** What one project has ahead, the oldest first. */
interface Spares {
  readonly list: Spare[];
  /** How many there should be. */
  wanted: number;
  /** Since they were last tidied. */
  taken: number;
  filling: boolean;
}

interface Wanted {
  readonly object: HeldObject;
  /** Of a new one whose project may have more to come. */
  readonly projectId: string | null;
}

interface Filling {
  readonly spares: Spares;
  readonly names: readonly HeldObject[];
}

export const createReservations = (db: Database, graceSeconds: number): ClosableReservations =>
  new SpareReservations(db, graceSeconds);

class SpareReservations implements ClosableReservations {
  readonly #db: Database;
  readonly #graceSeconds: number;
  readonly #freshMs: number;
  readonly #projects = new Map<string, Spares>();
  readonly #refills = new Set<Promise<void>>();
  /** One token for all uploads of this process: their objects are new, so nobody else can hold them. */
  readonly #holder = newId();
  #tidying: NodeJS.Timeout | null = null;

  constructor(db: Database, graceSeconds: number) {
    this.#db = db;
    this.#graceSeconds = graceSeconds;
    this.#freshMs = Math.min(freshMsMax, (graceSeconds * 1000) / 3);
  }

  async newObject(projectId: string, zone: Zone): Promise<HeldObject> {
    const mayBeAhead = zone === zoneOfSpares;
    const spare = mayBeAhead ? this.#takeSpare(projectId) : null;
    if (spare) return spare;
    const object = newObject(projectId, zone, this.#holder);
    await this.#recordTogether({ object, projectId: mayBeAhead ? projectId : null });
    return object;
  }

  async reserve(object: HeldObject): Promise<void> {
    await this.#recordTogether({ object, projectId: null });
  }

  whileReserved<Result>(object: HeldObject, work: () => Promise<Result>): Promise<Result> {
    const renew = () => this.#db.query(renewHold(object, this.#graceSeconds));
    return whileRenewed(this.#graceSeconds, renew, work);
  }

  async close(): Promise<void> {
    await Promise.all(this.#refills);
    for (const spares of this.#projects.values()) spares.taken = 0;
    await this.#tidy();
  }

  readonly #recordTogether = microBatch<Wanted, unknown>(
    async (wanted) => {
      const objects = wanted.map(({ object }) => object);
      await this.#record(objects, this.#findFillings(wanted));
      return objects;
    },
    { gather: 'previous', overtakeMs: 1_000 },
  );

  /** Spares count as ahead only once they are reserved, and as fresh from before they were. */
  async #record(objects: readonly HeldObject[], fillings: readonly Filling[]): Promise<void> {
    const staleAtMs = performance.now() + this.#freshMs;
    for (const { spares } of fillings) spares.filling = true;
    try {
      const all = [...objects, ...fillings.flatMap(({ names }) => names)];
      await this.#db.query(reserveObjects(all, this.#holder, this.#graceSeconds));
      for (const { spares, names } of fillings)
        spares.list.push(...names.map((object) => ({ object, staleAtMs })));
    } finally {
      for (const { spares } of fillings) spares.filling = false;
    }
  }

  /** A project of which several uploads at once found nothing ahead gets twice as many spares from now on. */
  #findFillings(wanted: readonly Wanted[]): Filling[] {
    const fillings: Filling[] = [];
    for (const [projectId, together] of countByProject(wanted)) {
      if (together < 2) continue;
      const spares = this.#openSpares(projectId);
      spares.wanted = Math.min(sparesMax, Math.max(spares.wanted, together) * 2);
      if (!spares.filling) fillings.push({ spares, names: missing(projectId, spares, this.#holder) });
    }
    return fillings;
  }

  #openSpares(projectId: string): Spares {
    let spares = this.#projects.get(projectId);
    if (!spares) {
      spares = { list: [], wanted: 0, taken: 0, filling: false };
      this.#projects.set(projectId, spares);
      this.#tidying ??= setInterval(() => void this.#tidy(), tidyEveryMs).unref();
    }
    return spares;
  }

  #takeSpare(projectId: string): HeldObject | null {
    const spares = this.#projects.get(projectId);
    if (!spares) return null;
    const now = performance.now();
    const fresh = spares.list.findIndex(({ staleAtMs }) => staleAtMs > now);
    const [taken] = fresh < 0 ? [] : spares.list.splice(fresh, 1);
    if (!taken) return null;
    spares.taken += 1;
    if (spares.list.length < spares.wanted / 2 && !spares.filling) this.#refill(projectId, spares);
    return taken.object;
  }

  #refill(projectId: string, spares: Spares): void {
    // If this fails, the next upload without a spare reserves its own object and reports the error.
    const names = missing(projectId, spares, this.#holder);
    const refilled = this.#record([], [{ spares, names }]).catch(() => undefined);
    this.#refills.add(refilled);
    void refilled.then(() => this.#refills.delete(refilled));
  }

  /** Releases stale spares, and all of a project that has taken none since the last time. */
  async #tidy(): Promise<void> {
    const now = performance.now();
    const unused: HeldObject[] = [];
    for (const [projectId, spares] of this.#projects) {
      const isIdle = spares.taken === 0;
      const stale = spares.list.filter(({ staleAtMs }) => isIdle || staleAtMs <= now).length;
      for (const { object } of spares.list.splice(0, stale)) unused.push(object);
      spares.wanted = Math.min(spares.wanted, spares.taken * 2);
      spares.taken = 0;
      if (isIdle && !spares.filling) this.#projects.delete(projectId);
    }
    if (this.#projects.size === 0 && this.#tidying) {
      clearInterval(this.#tidying);
      this.#tidying = null;
    }
    // The reaper settles what could not be released.
    if (unused.length > 0) await this.#db.query(releaseReserved(unused, this.#holder)).catch(() => undefined);
  }
}

function newObject(projectId: string, zone: Zone, holder: string): HeldObject {
  const id = newId();
  return { projectId, fileId: id, id, zone, holder };
}

const missing = (projectId: string, { wanted, list }: Spares, holder: string): HeldObject[] =>
  Array.from({ length: Math.max(0, wanted - list.length) }, () => newObject(projectId, zoneOfSpares, holder));

function countByProject(wanted: readonly Wanted[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { projectId } of wanted)
    if (projectId !== null) counts.set(projectId, (counts.get(projectId) ?? 0) + 1);
  return counts;
}
