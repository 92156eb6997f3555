// Brings what was counted into the database: in every process, every few seconds, before a read of the numbers,
// and on stop.
import type { Deps } from '../../contract/deps.ts';
import type { Batch } from '../../platform/counters/counters.ts';
import type { Database } from '../../platform/db/postgres.ts';
import type { Logger } from '../../platform/log.ts';
import { applyBatch, deleteEmptyTotals, findInstallation, foldDeltas, lockFolding } from './stats.sql.ts';

export interface Folding {
  /** Brings in what this process has counted so far. */
  fold(): Promise<void>;
  /** The last fold. */
  stop(): Promise<void>;
}

const everyMs = 5_000;
/** Large, because every fold begins at the front of the table, among what the ones before it have left there. */
const deltasMax = 1_000_000;

export function startFolding({ db, counters, log }: Pick<Deps, 'db' | 'counters' | 'log'>): Folding {
  const apply = (batch: Batch) => db.query(applyBatch(batch), 'background').then(() => undefined);
  const fold = shared(() => counters.drain(apply));
  const complain = (error: unknown) => log.warn({ err: error }, 'counts wait for the database');
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
        log.error({ err: error }, 'counts were lost: the database is away');
      });
    },
  };
}

async function foldAllTotals(db: Database): Promise<void> {
  while ((await foldTotals(db)) === deltasMax);
}

/** One instance at a time. Resolves to how many deltas went into the totals. */
export async function foldTotals(db: Database): Promise<number> {
  return db.transaction(async (tx) => {
    const [lock] = await tx.query<{ mine: boolean }>(lockFolding);
    if (!lock?.mine) return 0;
    const [result] = await tx.query<{ folded: number }>(foldDeltas(deltasMax));
    if (result?.folded) await tx.query(deleteEmptyTotals);
    return result?.folded ?? 0;
  }, 'long');
}

/** Callers that come while one runs wait for the next one, and share it: it begins after all of them. */
function shared(work: () => Promise<void>): () => Promise<void> {
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

/** Under which name this database counts in Redis. A copy of it is another one. */
export async function installationOf(db: Database, log: Logger): Promise<string> {
  const [row] = await db.query<{ installation: string | null }>(findInstallation);
  if (!row?.installation) log.warn({}, 'the installation has no id: its counts may mix with those of others');
  return row?.installation ?? 'unknown';
}
