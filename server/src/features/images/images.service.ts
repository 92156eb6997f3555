// Commits image uploads together with their compression jobs, and reads the jobs' state.

import { pinnedSpaceOf, pinnedUserOf, type TenantActor } from '../../contract/actor.ts';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import type { CommitResult, NewFile } from '../../contract/file.ts';
import { PakhusError } from '../../kernel/error.ts';
import { newId } from '../../kernel/id.ts';
import { type ImageWishes, resolveRecipe } from '../../kernel/media/image-recipe.ts';
import type { Transaction } from '../../platform/db/postgres.ts';
import { projectTransaction } from '../../platform/db/project-work.ts';
import { commitFile, withFileId } from '../files/files.commit.ts';
import type { UploadInput } from '../files/files.upload.ts';
import { countWaiting, findJob, insertJob, type JobRow } from './images.sql.ts';

export type ImageInput = UploadInput & ImageWishes;

/** The queue's payload. The audit record of a failed job names the uploader. */
export interface CompressionOrder {
  readonly jobId: string;
  readonly projectId: string;
  readonly uploader: AuditStamp;
}

export const compressionQueue = 'images.compress';

/** Stores the file's row, the job and the queue entry in one transaction. */
export async function commitImage(
  deps: Deps,
  jobId: string,
  file: NewFile,
  input: ImageInput,
  audit: AuditStamp,
): Promise<CommitResult> {
  const { project_id: projectId, user_id: userId } = file;
  const commit = async (tx: Transaction): Promise<CommitResult> => {
    const result = await commitFile(tx, file, audit, {
      job_id: jobId,
      file_id: file.id,
      status: 'pending',
    });
    if (result.outcome !== 'stored') return result;
    const [ahead] = await tx.query<{ jobs: number }>(countWaiting(projectId, backlogMax));
    await tx.query(insertJob(projectId, jobId, userId, file.id, resolveRecipe(input), file.size));
    const order: CompressionOrder = { jobId, projectId, uploader: audit };
    await deps.queue.send(tx, compressionQueue, jobId, order, toPriority(ahead?.jobs ?? 0));
    return result;
  };
  return withFileId(file, projectTransaction(deps, projectId, commit));
}

/** For an image that has come back from the trash: its order has ended without it. */
export async function resumeCompression(
  deps: Deps,
  tx: Transaction,
  projectId: string,
  jobId: string,
  uploader: AuditStamp,
): Promise<void> {
  const order: CompressionOrder = { jobId, projectId, uploader };
  await deps.queue.send(tx, compressionQueue, newId(), order, 0);
}

/** Counting stops here: a longer backlog hardly changes the priority. */
const backlogMax = 4_096;

/**
 * The longer a project's backlog, the lower the priority, so that thousands of images of one project do not delay single
 * images of others for hours. Jobs of equal priority are first come, first served.
 */
const toPriority = (waiting: number): number => -Math.ceil(Math.log2(waiting + 1));

export async function readJob(deps: Deps, actor: TenantActor, jobId: string): Promise<JobRow> {
  const [row] = await deps.db.read<JobRow>(
    findJob(actor.projectId, jobId, pinnedUserOf(actor), pinnedSpaceOf(actor)),
  );
  if (!row) throw new PakhusError('NOT_FOUND', 'There is no such job');
  return row;
}
