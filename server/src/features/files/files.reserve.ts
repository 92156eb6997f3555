// Names of objects that are about to be written. Each is on record as doomed before it is given out.
//
// Where uploads of one project arrive together, some names are put on record ahead of them, so that an upload waits
// for one commit of the database instead of two. Names that nobody asks for are taken off again within seconds;
// those of a process that died are reaped like any upload that came to nothing.
import type { PlacedObject, Reservations } from '../../contract/placed-object.ts';
import { microBatch } from '../../kernel/async/micro-batch.ts';
import { newId } from '../../kernel/id.ts';
import type { Database } from '../../platform/db/postgres.ts';
import type { Zone } from '../../platform/objects/object-store.ts';
import { storageKeyOf } from './files.objects.ts';
import { deleteDoomed, insertDoomed } from './files.sql.ts';

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
  readonly object: PlacedObject;
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
  readonly object: PlacedObject;
  /** Of a new one whose project may have more to come. */
  readonly projectId: string | null;
}

interface Filling {
  readonly spares: Spares;
  readonly names: readonly PlacedObject[];
}

export function createReservations(db: Database, graceSeconds: number): ClosableReservations {
  const freshMs = Math.min(freshMsMax, (graceSeconds * 1000) / 3);
  const projects = new Map<string, Spares>();
  const refills = new Set<Promise<void>>();
  let tidying: NodeJS.Timeout | null = null;

  /** Names count as ahead only once they are on record, and as fresh from before they were. */
  async function record(objects: readonly PlacedObject[], fillings: readonly Filling[]): Promise<void> {
    const staleAtMs = performance.now() + freshMs;
    for (const { spares } of fillings) spares.filling = true;
    try {
      await db.query(insertDoomed([...objects, ...fillings.flatMap(({ names }) => names)], graceSeconds));
      for (const { spares, names } of fillings)
        spares.list.push(...names.map((object) => ({ object, staleAtMs })));
    } finally {
      for (const { spares } of fillings) spares.filling = false;
    }
  }

  const recordTogether = microBatch<Wanted, unknown>(
    async (wanted) => {
      const objects = wanted.map(({ object }) => object);
      await record(objects, fillingsFor(wanted));
      return objects;
    },
    { gather: 'previous', overtakeMs: 1_000 },
  );

  /** Projects of which several uploads found nothing ahead want twice as much from now on. */
  function fillingsFor(wanted: readonly Wanted[]): Filling[] {
    const fillings: Filling[] = [];
    for (const [projectId, together] of countByProject(wanted)) {
      if (together < 2) continue;
      const spares = sparesOf(projectId);
      spares.wanted = Math.min(sparesMax, Math.max(spares.wanted, together) * 2);
      if (!spares.filling) fillings.push({ spares, names: missing(projectId, spares) });
    }
    return fillings;
  }

  function sparesOf(projectId: string): Spares {
    let spares = projects.get(projectId);
    if (!spares) {
      spares = { list: [], wanted: 0, taken: 0, filling: false };
      projects.set(projectId, spares);
      tidying ??= setInterval(tidy, tidyEveryMs).unref();
    }
    return spares;
  }

  function takeSpare(projectId: string): PlacedObject | null {
    const spares = projects.get(projectId);
    if (!spares) return null;
    const now = performance.now();
    const fresh = spares.list.findIndex(({ staleAtMs }) => staleAtMs > now);
    const [taken] = fresh < 0 ? [] : spares.list.splice(fresh, 1);
    if (!taken) return null;
    spares.taken += 1;
    if (spares.list.length < spares.wanted / 2 && !spares.filling) refill(projectId, spares);
    return taken.object;
  }

  function refill(projectId: string, spares: Spares): void {
    // Where this fails, the next who finds none asks by itself, and hears why.
    const refilled = record([], [{ spares, names: missing(projectId, spares) }]).catch(() => undefined);
    refills.add(refilled);
    void refilled.then(() => refills.delete(refilled));
  }

  /** Takes off the record what has gone stale, and everything of a project that has taken none since the last time. */
  async function tidy(): Promise<void> {
    const now = performance.now();
    const unused: string[] = [];
    for (const [projectId, spares] of projects) {
      const isIdle = spares.taken === 0;
      const count = isIdle
        ? spares.list.length
        : spares.list.filter(({ staleAtMs }) => staleAtMs <= now).length;
      for (const { object } of spares.list.splice(0, count)) unused.push(object.key);
      spares.wanted = Math.min(spares.wanted, spares.taken * 2);
      spares.taken = 0;
      if (isIdle && !spares.filling) projects.delete(projectId);
    }
    if (projects.size === 0 && tidying) {
      clearInterval(tidying);
      tidying = null;
    }
    // The reaper sees to what could not be taken off.
    if (unused.length > 0) await db.query(deleteDoomed(zoneOfSpares, unused)).catch(() => undefined);
  }

  return {
    async newObject(projectId, zone) {
      const mayBeAhead = zone === zoneOfSpares;
      const spare = mayBeAhead ? takeSpare(projectId) : null;
      if (spare) return spare;
      const object = newName(projectId, zone);
      await recordTogether({ object, projectId: mayBeAhead ? projectId : null });
      return object;
    },
    async record(object) {
      await recordTogether({ object, projectId: null });
    },
    async close() {
      await Promise.all(refills);
      for (const spares of projects.values()) spares.taken = 0;
      await tidy();
    },
  };
}

function newName(projectId: string, zone: Zone): PlacedObject {
  const fileId = newId();
  return { zone, key: storageKeyOf(projectId, fileId), fileId };
}

const missing = (projectId: string, { wanted, list }: Spares): PlacedObject[] =>
  Array.from({ length: Math.max(0, wanted - list.length) }, () => newName(projectId, zoneOfSpares));

function countByProject(wanted: readonly Wanted[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { projectId } of wanted)
    if (projectId !== null) counts.set(projectId, (counts.get(projectId) ?? 0) + 1);
  return counts;
}
