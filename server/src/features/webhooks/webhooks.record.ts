// Records what became of tries. Tries of all webhooks of this process that end at about the same time share one statement.
import { setTimeout as delay } from 'node:timers/promises';
import { microBatch } from '../../kernel/async/micro-batch.ts';
import type { Database } from '../../platform/db/postgres.ts';
import { type FirstTry, type LaterTry, type Progress, recordTries } from './webhooks.work.sql.ts';

/** The outcome of one try. The progress is that of its webhook after it. */
export interface Recording {
  readonly progress: Progress;
  readonly first?: FirstTry;
  readonly later?: LaterTry;
}

/** Resolves to whether the lease still held; if not, nothing was recorded. */
export type Record = (recording: Recording) => Promise<boolean>;

/** Commits are dearer than a short wait. */
const gatherMs = 20;
const itemsMax = 500;

export const createRecorder = (db: Database): Record =>
  microBatch<Recording, boolean>(
    async (recordings) => {
      const [held] = await Promise.all([recordAll(db, recordings), delay(gatherMs)]);
      return recordings.map(({ progress }) => held.has(leaseKey(progress)));
    },
    { gather: 'previous', itemsMax },
  );

async function recordAll(db: Database, recordings: readonly Recording[]): Promise<ReadonlySet<string>> {
  const latest = new Map<string, Progress>();
  for (const { progress } of recordings) {
    const key = leaseKey(progress);
    latest.set(key, withPosition(progress, latest.get(key)));
  }
  const rows = await db.query<{ id: string; token: string }>(
    recordTries(
      [...latest.values()],
      recordings.flatMap(({ first }) => first ?? []),
      recordings.flatMap(({ later }) => later ?? []),
    ),
  );
  return new Set(rows.map(leaseKey));
}

const leaseKey = ({ id, token }: { readonly id: string; readonly token: string }): string => `${id} ${token}`;

/** A retry does not move the position. */
const withPosition = (progress: Progress, before: Progress | undefined): Progress =>
  progress.xid === null && before
    ? { ...progress, xid: before.xid, number: before.number, since: before.since }
    : progress;
