// Folds counts into the database: in every process every few seconds, before statistics are read, and on stop.
import type { Deps } from '../../contract/deps.ts';
import type { Batch } from '../../platform/counters/counters.ts';
import type { Database } from '../../platform/db/postgres.ts';
import type { Logger } from '../../platform/log.ts';
import {
  applyBatch,
  deleteEmptyTotals,
  findInstallation,
  foldDeltas,
  hasDeltas,
  lockFolding,
} from './stats.sql.ts';

export interface Folding {
  /** Writes the counts of this process so far. */
  fold(): Promise<void>;
  /** Folds once more, and stops. */
  stop(): Promise<void>;
}

const everyMs = 5_000;
/** Large, because every fold scans the dead rows that earlier folds left at the start of the table. */
const deltasMax = 1_000_000;

export function startFolding({ db, counters, log }: Pick<Deps, 'db' | 'counters' | 'log'>): Folding {
  const apply = (batch: Batch) => db.query(applyBatch(batch), 'background').then(() => undefined);
  const fold = shareNextRun(() => counters.drain(apply));
  const complain = (error: unknown) =>
    log.warn({ err: error }, 'could not write counts to the database, retrying');
  const tick = async () => {
    await fold().catch(complain);
    await foldAllTotals(db).catch(complain);
  };
  let ticking: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    ticking = ticking.then(tick);
  }, everyMs);
  return {
    fold,
    async stop() {
      clearInterval(timer);
      await ticking;
      await counters.close(apply).catch((error: unknown) => {
        log.error({ err: error }, 'counts lost: the database is unavailable');
      });
    },
  };
}

/** Looks first: most of the time there is nothing to fold, and a transaction takes four statements. */
async function foldAllTotals(db: Database): Promise<void> {
  const [waiting] = await db.query<{ any: boolean }>(hasDeltas, 'background');
  if (!waiting?.any) return;
  while ((await foldTotals(db)) === deltasMax);
}

/** One instance at a time. Resolves to the number of deltas folded. */
export async function foldTotals(db: Database): Promise<number> {
  return db.transaction(async (tx) => {
    const [lock] = await tx.query<{ mine: boolean }>(lockFolding);
    if (!lock?.mine) return 0;
    const [result] = await tx.query<{ folded: number }>(foldDeltas(deltasMax));
    if (result?.folded) await tx.query(deleteEmptyTotals);
    return result?.folded ?? 0;
  }, 'long');
}

/** Callers during a run share the next one, which starts after all of them have called. */
function shareNextRun(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const start = (): Promise<void> => {
    next = null;
    running = work().finally(() => {
      running = null;
    });
    return running;
  };
  return () => {
    if (!running) return start();
    next ??= running.catch(() => undefined).then(start);
    return next;
  };
}

/** Identifies this database among others that use the same Redis; a copy of it has another id. */
export async function readInstallationId(db: Database, log: Logger): Promise<string> {
  const [row] = await db.query<{ installation: string | null }>(findInstallation);
  if (!row?.installation)
    log.warn(
      {},
      'the installation has no id: its counts may mix with those of other installations on this Redis',
    );
  return row?.installation ?? 'unknown';
}
