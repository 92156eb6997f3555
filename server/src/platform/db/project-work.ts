// Database work on behalf of one project that may hold a connection for long. Each project may hold a few connections
// this way, so that one tenant cannot take them from all others.
import { FairSemaphore } from '../concurrency/fair-semaphore.ts';
import type { Workload } from './pool.ts';
import type { Database, Transaction } from './postgres.ts';
import type { Sql } from './sql.ts';

/** The bounds on such work within one process. */
export interface ProjectGates {
  /** Changes, which may wait for row locks. */
  readonly changes: FairSemaphore;
  /** Pages of lists, on the shared read connections. */
  readonly lists: FairSemaphore;
  /** Filtered reads, which may scan all rows of a project. */
  readonly searches: FairSemaphore;
}

export const createProjectGates = (): ProjectGates => ({
  changes: new FairSemaphore('changes of the same project', {
    permits: 20,
    permitsPerOwner: 8,
    waitMaxMs: 4_000,
  }),
  // Fewer would be fairer, but concurrent reads share a write to the socket: with 8, a list costs 8 % more.
  lists: new FairSemaphore('lists', { permits: 24, waitMaxMs: 8_000 }),
  searches: new FairSemaphore('searches', { permits: 8, permitsPerOwner: 3, waitMaxMs: 5_000 }),
});

interface Gated {
  readonly db: Database;
  readonly projectGates: ProjectGates;
}

/** For a single statement that may wait for a lock. */
export const mayWait = <Result>(
  { projectGates }: Gated,
  projectId: string,
  work: () => Promise<Result>,
): Promise<Result> => projectGates.changes.during(projectId, work);

/** A transaction that changes data of one project. */
export const projectTransaction = <Result>(
  deps: Gated,
  projectId: string,
  work: (tx: Transaction) => Promise<Result>,
  workload?: Workload,
): Promise<Result> => mayWait(deps, projectId, () => deps.db.transaction(work, workload));

/** One page of a list. Projects take turns: a client that requests many pages at once only delays its own. */
export const readPage = <Row>(
  { db, projectGates }: Gated,
  projectId: string,
  statement: Sql,
): Promise<Row[]> => projectGates.lists.during([projectId], () => db.read<Row>(statement));

/**
 * A read whose filter may match almost nothing, and so may scan millions of rows. It runs on the pool: on the shared
 * read connections, everybody else's reads would queue behind it.
 */
export const search = <Row>({ db, projectGates }: Gated, projectId: string, statement: Sql): Promise<Row[]> =>
  projectGates.searches.during(projectId, () => db.query<Row>(statement));
