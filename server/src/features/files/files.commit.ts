// Commits an upload: inserts the file's row, charges its bytes and marks its object as stored.
// Uploads that finish together share one transaction, and so one disk flush. The batch never waits for a lock: a file
// whose user is locked is passed over and committed in a separate transaction.

import { setTimeout as delay } from 'node:timers/promises';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import type { CommitResult, FileCommitter, NewFile, StoreOutcome } from '../../contract/file.ts';
import type { JobView } from '../../contract/image-job.ts';
import type { ObjectRef } from '../../contract/object-ref.ts';
import { microBatch } from '../../kernel/async/micro-batch.ts';
import { withTimeout } from '../../kernel/async/time-limit.ts';
import type { Static } from '../../kernel/schema.ts';
import { isLockTimeout, isOutcomeUnknown, isUnanswered, outcomeUnknown } from '../../platform/db/outage.ts';
import { isRefusal, type Queryable } from '../../platform/db/postgres.ts';
import { mayWait } from '../../platform/db/project-work.ts';
import { fenceUploads } from '../objects/objects.service.ts';
import { findOutcomes, type SettledRow, storeFile, storeFiles } from './files.sql.ts';

/** Runs in the caller's transaction, if `db` is one. `job` is the compression job that the caller is about to add. */
export async function commitFile(
  db: Queryable,
  file: NewFile,
  audit: AuditStamp,
  job: Static<typeof JobView> | null = null,
): Promise<CommitResult> {
  const [result] = await db.query<CommitResult>(storeFile(file, audit, job));
  return result as CommitResult;
}

interface Commit {
  readonly file: NewFile;
  readonly audit: AuditStamp;
}

interface BatchResult {
  readonly outcome: StoreOutcome | 'passed over';
  readonly stored_at: string;
  /** Its event is recorded, and has to be announced. */
  readonly told: boolean;
}

const commitsMax = 64;

type CommitDeps = Pick<Deps, 'db' | 'log' | 'projectGates' | 'eventHub'>;

export function createFileCommitter(deps: CommitDeps): FileCommitter {
  const commit = microBatch<Commit, CommitResult>((commits) => commitAll(deps, commits), {
    gather: 'previous',
    itemsMax: commitsMax,
    overtakeMs: 1_000,
  });
  return (file, audit) => commit({ file, audit });
}

async function commitAll(
  deps: CommitDeps,
  commits: readonly Commit[],
): Promise<(CommitResult | Promise<CommitResult>)[]> {
  const results = await storeAll(deps, commits);
  return commits.map((commit, index) => {
    const result = results[index];
    if (result instanceof Promise || isDecided(result)) return result;
    return mayWait(deps, commit.file.project_id, () => storeAlone(deps, commit));
  });
}

const isDecided = (result: BatchResult | undefined): result is BatchResult & CommitResult =>
  result !== undefined && result.outcome !== 'passed over';

async function storeAlone(deps: CommitDeps, commit: Commit): Promise<CommitResult> {
  try {
    return await commitFile(deps.db, commit.file, commit.audit);
  } catch (error) {
    if (!isUnanswered(error)) throw error;
    return settleAll(deps, [commit], error)[0] as Promise<CommitResult>;
  }
}

/** Returns no results if the database rejects the batch: nothing is stored, and one file may be the cause. */
async function storeAll(
  deps: CommitDeps,
  commits: readonly Commit[],
): Promise<(BatchResult | Promise<CommitResult>)[]> {
  try {
    const results = await deps.db.query<BatchResult>(storeFiles(commits));
    for (const [index, { told }] of results.entries())
      if (told) deps.eventHub.announce((commits[index] as Commit).file.project_id);
    return results;
  } catch (error) {
    if (isUnanswered(error)) return settleAll(deps, commits, error);
    if (!isRefusal(error) && !isLockTimeout(error)) throw error;
    deps.log.warn(
      { err: error, files: commits.length },
      'batch commit of files rejected, committing each separately',
    );
    return [];
  }
}

const settleMsMax = 3_000;
const settleRetryMs = 100;

/**
 * Finds out whether a commit without an answer succeeded. A file without a row is fenced, so that a commit which is still
 * stuck fails when it resumes. If that commit holds the object's lock, the outcome stays unknown.
 */
function settleAll(deps: CommitDeps, commits: readonly Commit[], error: unknown): Promise<CommitResult>[] {
  const settled = settle(
    deps,
    commits.map(({ file }) => file),
  );
  return commits.map(async ({ file }) => {
    const result = (await settled).get(file.id);
    if (!result) throw outcomeUnknown(error, { file_id: file.id });
    return result;
  });
}

async function settle(deps: CommitDeps, files: readonly NewFile[]): Promise<Map<string, CommitResult>> {
  const results = new Map<string, CommitResult>();
  const deadline = Date.now() + settleMsMax;
  const poll = async () => {
    let pending = files;
    for (; pending.length > 0 && Date.now() < deadline; await delay(settleRetryMs)) {
      const rows = await findSettled(deps, pending).catch(() => []);
      for (const { id, outcome, stored_at } of rows)
        if (outcome !== 'unknown') results.set(id, { outcome, stored_at: stored_at ?? '' });
      pending = pending.filter(({ id }) => !results.has(id));
    }
  };
  await withTimeout(settleMsMax, poll());
  return results;
}

/** Fences before it reads: a commit that has lost its object can no longer change the outcome. */
async function findSettled(deps: CommitDeps, files: readonly NewFile[]): Promise<SettledRow[]> {
  await fenceUploads(deps, files.map(toRef));
  return deps.db.query<SettledRow>(findOutcomes(files));
}

const toRef = ({ project_id, id, zone }: NewFile): ObjectRef => ({
  projectId: project_id,
  fileId: id,
  id,
  zone,
});

/** Adds the file's id to an unknown-outcome error, so that the caller can look the file up. */
export const withFileId = <Result>({ id }: NewFile, commit: Promise<Result>): Promise<Result> =>
  commit.catch((error: unknown) => {
    throw isOutcomeUnknown(error) ? outcomeUnknown(error.cause, { file_id: id }) : error;
  });
