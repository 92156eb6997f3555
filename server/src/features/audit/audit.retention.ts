// Keeps a partition per month ahead of the audit log, and deletes what is older than the retention: whole partitions where
// possible, the rest row by row.
import { setTimeout as delay } from 'node:timers/promises';
import { retry } from '../../kernel/async/retry.ts';
import { isLockTimeout } from '../../platform/db/outage.ts';
import type { Database } from '../../platform/db/postgres.ts';
import type { Sql } from '../../platform/db/sql.ts';
import {
  allowPurge,
  announceBound,
  checkBound,
  deleteExpiredAudit,
  dropExpiredPartition,
  extendPartitions,
} from './audit.sql.ts';

/**
 * Each step is one transaction, and a process may end after any of them: the next call goes on. The bound that is announced
 * lies two weeks ahead at least, so the constraint refuses no row of today.
 */
export async function extendAudit(db: Database): Promise<void> {
  const [tail] = await whenUnlocked<{ state: string }>(db, announceBound);
  if (tail?.state === 'covered') return;
  // Reads a whole partition, but locks nobody out.
  if (tail?.state === 'unchecked') await db.transaction((tx) => tx.query(checkBound), 'long');
  await whenUnlocked(db, extendPartitions);
}

export interface Purged {
  readonly partitions: readonly string[];
  /** Without those of the partitions. */
  readonly rows: number;
}

export async function purgeAudit(db: Database, retentionDays: number): Promise<Purged> {
  const partitions = await dropExpired(db, retentionDays);
  return { partitions, rows: await deleteExpired(db, retentionDays) };
}

async function dropExpired(db: Database, retentionDays: number): Promise<string[]> {
  const dropped: string[] = [];
  for (;;) {
    const [row] = await whenUnlocked<{ name: string | null }>(db, dropExpiredPartition(retentionDays));
    if (!row?.name) return dropped;
    dropped.push(row.name);
  }
}

const batchRows = 5_000;

/** One transaction per batch. */
async function deleteExpired(db: Database, retentionDays: number): Promise<number> {
  let deleted = 0;
  for (;;) {
    const [gone] = await db.transaction(async (tx) => {
      await tx.query(allowPurge(retentionDays));
      return tx.query<{ rows: number }>(deleteExpiredAudit(retentionDays, batchRows));
    });
    deleted += gone?.rows ?? 0;
    if ((gone?.rows ?? 0) < batchRows) return deleted;
  }
}

const lockAttempts = 10;
const lockRetryMs = 500;

/** Statements that lock the whole log wait for 100 ms at most: changes that record an audit row wait behind them. */
const whenUnlocked = <Row>(db: Database, statement: Sql): Promise<Row[]> =>
  retry(lockAttempts, isLockTimeout, () =>
    db.query<Row>(statement).catch(async (error: unknown) => {
      await delay(lockRetryMs);
      throw error;
    }),
  );
