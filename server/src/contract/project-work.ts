// Work within one project that may have one of the database's connections for long. Each project has a few of them
// for that and no more: the rest is for everybody else.
import { onceFor } from '../kernel/async/once-for.ts';
import { FairSemaphore } from '../platform/concurrency/fair-semaphore.ts';
import type { Workload } from '../platform/db/pool.ts';
import type { Transaction } from '../platform/db/postgres.ts';
import type { Sql } from '../platform/db/sql.ts';
import type { Deps } from './deps.ts';

const waitersOf = onceFor(
  (_deps: Deps) =>
    new FairSemaphore('changes of the same project', { permits: 20, permitsPerOwner: 8, waitMaxMs: 4_000 }),
);

/** For a single statement that may have to wait for a lock. */
export const mayWait = <Result>(
  deps: Deps,
  projectId: string,
  work: () => Promise<Result>,
): Promise<Result> => waitersOf(deps).during(projectId, work);

/** A transaction that changes something of a project, on behalf of whoever is confined to it. */
export const projectTransaction = <Result>(
  deps: Deps,
  projectId: string,
  work: (tx: Transaction) => Promise<Result>,
  workload?: Workload,
): Promise<Result> => mayWait(deps, projectId, () => deps.db.transaction(work, workload));

/** Few places would be fairer, but reads that go out together share a write: with 8, a list costs 8 % more. */
const listersOf = onceFor((_deps: Deps) => new FairSemaphore('lists', { permits: 24, waitMaxMs: 8_000 }));

/**
 * A page of a project's list. Projects take turns: whoever asks for many pages at once waits behind its own, and others
 * wait for one of them at most.
 */
export const readPage = <Row>(deps: Deps, projectId: string, statement: Sql): Promise<Row[]> =>
  listersOf(deps).during([projectId], () => deps.db.read<Row>(statement));

const searchersOf = onceFor(
  (_deps: Deps) => new FairSemaphore('searches', { permits: 8, permitsPerOwner: 3, waitMaxMs: 5_000 }),
);

/**
 * A read with a filter that hardly anything may pass: it looks at all that a project has then, which may be millions of
 * rows. Never on the connections that reads share, where everybody's would wait behind it.
 */
export const search = <Row>(deps: Deps, projectId: string, statement: Sql): Promise<Row[]> =>
  searchersOf(deps).during(projectId, () => deps.db.query<Row>(statement));
