// A queue for work of which only so much runs at a time. A path says who a job is for, from the widest group to the
// narrowest, and on every level the groups take turns: however many jobs wait for one, another's next job waits for a
// single one of them.
import { outage } from '../kernel/error.ts';

export type Path = readonly [string, ...string[]];

export interface TurnQueue {
  /** Runs `work` when its turn has come, and rejects with a 503 when that takes too long. */
  during<Result>(path: Path, work: () => Promise<Result>): Promise<Result>;
}

export interface TurnQueueOptions {
  readonly places: number;
  readonly waitMaxMs: number;
}

/** Jobs wait at the end of their path. Maps and sets keep the order in which the turns come. */
interface Group {
  readonly groups: Map<string, Group>;
  readonly jobs: Set<() => void>;
}

/** `what` runs here, in the plural, as the 503 says it. */
export function createTurnQueue(what: string, { places, waitMaxMs }: TurnQueueOptions): TurnQueue {
  let free = places;
  const root = newGroup();
  const leave = (): void => {
    const next = takeNext(root);
    if (next) next();
    else free += 1;
  };
  const wait = (path: Path): Promise<void> =>
    new Promise((resolve, reject) => {
      const start = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        remove(root, path, start);
        reject(outage('capacity', `Too many ${what} at once: try again in a moment`));
      }, waitMaxMs);
      add(root, path, start);
    });
  return {
    async during(path, work) {
      if (free > 0) free -= 1;
      else await wait(path);
      return work().finally(leave);
    },
  };
}

const newGroup = (): Group => ({ groups: new Map(), jobs: new Set() });

function add(group: Group, [name, ...rest]: readonly string[], job: () => void): void {
  if (name === undefined) {
    group.jobs.add(job);
    return;
  }
  const inner = group.groups.get(name) ?? newGroup();
  group.groups.set(name, inner);
  add(inner, rest, job);
}

function remove(group: Group, [name, ...rest]: readonly string[], job: () => void): void {
  const inner = name === undefined ? undefined : group.groups.get(name);
  if (name === undefined || !inner) {
    group.jobs.delete(job);
    return;
  }
  remove(inner, rest, job);
  if (isEmpty(inner)) group.groups.delete(name);
}

/** The job whose turn it is; the groups that it is in go behind all others of their level. */
function takeNext(group: Group): (() => void) | undefined {
  const [job] = group.jobs;
  if (job) {
    group.jobs.delete(job);
    return job;
  }
  const [first] = group.groups;
  if (!first) return undefined;
  const [name, inner] = first;
  const next = takeNext(inner);
  group.groups.delete(name);
  if (!isEmpty(inner)) group.groups.set(name, inner);
  return next;
}

const isEmpty = ({ groups, jobs }: Group): boolean => groups.size === 0 && jobs.size === 0;
