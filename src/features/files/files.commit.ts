// The commit of an upload: the file's row, the bytes charged, and its object taken off the doomed.
//
// Uploads that end together share one transaction, and with it the wait for the database's disk. None of them
// waits for somebody else's lock there: whose user is locked is passed over, and waits in a transaction of its own.
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import { mayWait } from '../../contract/project-work.ts';
import { batched } from '../../kernel/batch.ts';
import { onceFor } from '../../kernel/once-for.ts';
import { isRefusal, type Queryable } from '../../platform/db/postgres.ts';
import { type NewFile, type StoreOutcome, storeFile, storeFiles } from './files.sql.ts';

export type { NewFile } from './files.sql.ts';

export interface CommitResult {
  readonly outcome: StoreOutcome;
  readonly stored_at: string;
}

/** In a transaction of its own, or in the caller's. */
export async function commitFile(db: Queryable, file: NewFile, audit: AuditStamp): Promise<CommitResult> {
  const [result] = await db.query<CommitResult>(storeFile(file, audit));
  return result as CommitResult;
}

interface Commit {
  readonly file: NewFile;
  readonly audit: AuditStamp;
}

interface BatchResult {
  readonly outcome: StoreOutcome | 'passed over';
  readonly stored_at: string;
}

const commitsMax = 64;

const committerOf = onceFor((deps: Deps) =>
  batched<Commit, CommitResult>((commits) => commitAll(deps, commits), commitsMax),
);

export const commitTogether = (deps: Deps, file: NewFile, audit: AuditStamp): Promise<CommitResult> =>
  committerOf(deps)({ file, audit });

async function commitAll(
  deps: Deps,
  commits: readonly Commit[],
): Promise<(CommitResult | Promise<CommitResult>)[]> {
  const results = await storeAll(deps, commits);
  return commits.map(({ file, audit }, index) => {
    const result = results[index];
    return isDecided(result)
      ? result
      : mayWait(deps, file.project_id, () => commitFile(deps.db, file, audit));
  });
}

const isDecided = (result: BatchResult | undefined): result is CommitResult =>
  result !== undefined && result.outcome !== 'passed over';

/** No results where the database refused the batch, of which nothing is stored then: one may have spoilt it for all. */
async function storeAll(deps: Deps, commits: readonly Commit[]): Promise<BatchResult[]> {
  try {
    return await deps.db.query<BatchResult>(storeFiles(commits));
  } catch (error) {
    // Whatever is not the database's own word, as a connection that broke is not, may have committed.
    if (!isRefusal(error)) throw error;
    deps.log.warn(
      { err: error, files: commits.length },
      'files were not stored together: each is tried alone',
    );
    return [];
  }
}
