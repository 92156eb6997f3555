// Image uploads and the state of their jobs. The original is stored and usable at once.
import { pinnedSpaceOf, pinnedUserOf, type TenantActor } from '../../contract/actor.ts';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import { PakhusError } from '../../kernel/error.ts';
import { type ImageWishes, resolveRecipe } from '../../kernel/image-recipe.ts';
import type { Transaction } from '../../platform/db/postgres.ts';
import { type CommitResult, commitFile, mayWait, type NewFile } from '../files/files.commit.ts';
import type { UploadInput } from '../files/files.upload.ts';
import { findJob, insertJob, type JobRow } from './images.sql.ts';

export type ImageInput = UploadInput & ImageWishes;

/** What a worker is told: the job, and who uploaded the image, should it have to record a failure. */
export interface CompressionOrder {
  readonly jobId: string;
  readonly projectId: string;
  readonly uploader: AuditStamp;
}

export const compressionQueue = 'images.compress';

/** The row, the job and its place in the queue are one transaction. */
export async function commitImage(
  deps: Deps,
  jobId: string,
  file: NewFile,
  input: ImageInput,
  audit: AuditStamp,
): Promise<CommitResult> {
  const { project_id: projectId, user_id: userId } = file;
  const commit = async (tx: Transaction): Promise<CommitResult> => {
    const result = await commitFile(tx, file, audit);
    if (result.outcome !== 'stored') return result;
    await tx.query(insertJob(projectId, jobId, userId, file.id, resolveRecipe(input), file.size));
    const order: CompressionOrder = { jobId, projectId, uploader: audit };
    await deps.queue.send(tx, compressionQueue, jobId, order);
    return result;
  };
  return mayWait(deps, projectId, () => deps.db.transaction(commit));
}

export async function readJob(deps: Deps, actor: TenantActor, jobId: string): Promise<JobRow> {
  const [row] = await deps.db.read<JobRow>(
    findJob(actor.projectId, jobId, pinnedUserOf(actor), pinnedSpaceOf(actor)),
  );
  if (!row) throw new PakhusError('NOT_FOUND', 'There is no such job');
  return row;
}
