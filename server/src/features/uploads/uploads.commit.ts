// Commits complete uploads as files. Those that end together share one transaction, and so one disk flush. The batch never
// waits for a lock: an upload whose user is locked is passed over and committed in a separate transaction.
import type { Deps } from '../../contract/deps.ts';
import type { CompletedUpload, UploadCompleter, UploadToComplete } from '../../contract/upload.ts';
import { microBatch } from '../../kernel/async/micro-batch.ts';
import { isLockTimeout } from '../../platform/db/outage.ts';
import { isRefusal, type Queryable } from '../../platform/db/postgres.ts';
import { mayWait } from '../../platform/db/project-work.ts';
import { completeUpload, completeUploads } from './uploads.sql.ts';

type CommitDeps = Pick<Deps, 'db' | 'log' | 'projectGates' | 'eventHub'>;

interface BatchResult {
  readonly outcome: CompletedUpload['outcome'] | 'passed over';
  readonly stored_at: string;
  /** The event of its file is recorded, and has to be announced. */
  readonly told: boolean;
}

const commitsMax = 64;

export const createUploadCompleter = (deps: CommitDeps): UploadCompleter =>
  microBatch((uploads) => completeAll(deps, uploads), {
    gather: 'previous',
    itemsMax: commitsMax,
    overtakeMs: 1_000,
  });

/** Runs in the caller's transaction, if `db` is one. */
export async function completeAlone(db: Queryable, upload: UploadToComplete): Promise<CompletedUpload> {
  const [result] = await db.query<CompletedUpload>(completeUpload(upload));
  return result as CompletedUpload;
}

async function completeAll(
  deps: CommitDeps,
  uploads: readonly UploadToComplete[],
): Promise<(CompletedUpload | Promise<CompletedUpload>)[]> {
  const results = await completeTogether(deps, uploads);
  return uploads.map((upload, index) => {
    const result = results[index];
    if (isDecided(result)) return result;
    return mayWait(deps, upload.project_id, () => completeAlone(deps.db, upload));
  });
}

const isDecided = (result: BatchResult | undefined): result is BatchResult & CompletedUpload =>
  result !== undefined && result.outcome !== 'passed over';

/** Returns no results if the database rejects the batch: nothing is committed, and one upload may be the cause. */
async function completeTogether(
  deps: CommitDeps,
  uploads: readonly UploadToComplete[],
): Promise<BatchResult[]> {
  try {
    const results = await deps.db.query<BatchResult>(completeUploads(uploads));
    for (const [index, { told }] of results.entries())
      if (told) deps.eventHub.announce((uploads[index] as UploadToComplete).project_id);
    return results;
  } catch (error) {
    if (!isRefusal(error) && !isLockTimeout(error)) throw error;
    deps.log.warn(
      { err: error, uploads: uploads.length },
      'batch commit of uploads rejected, committing each separately',
    );
    return [];
  }
}
