// Image uploads and the state of their jobs. The original is stored and usable at once.

import { pinnedSpaceOf, pinnedUserOf, type TenantActor } from '../../contract/actor.ts';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import type { CommitResult, NewFile } from '../../contract/file.ts';
import { PakhusError } from '../../kernel/error.ts';
import { type ImageWishes, resolveRecipe } from '../../kernel/media/image-recipe.ts';
import type { Transaction } from '../../platform/db/postgres.ts';
import { projectTransaction } from '../../platform/db/project-work.ts';
import { commitFile, withFileId } from '../files/files.commit.ts';
import type { UploadInput } from '../files/files.upload.ts';
import { countWaiting, findJob, insertJob, type JobRow } from './images.sql.ts';

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
    const [ahead] = await tx.query<{ jobs: number }>(countWaiting(projectId, backlogMax));
    await tx.query(insertJob(projectId, jobId, userId, file.id, resolveRecipe(input), file.size));
    const order: CompressionOrder = { jobId, projectId, uploader: audit };
    await deps.queue.send(tx, compressionQueue, jobId, order, toPriority(ahead?.jobs ?? 0));
    return result;
  };
  return withFileId(file, projectTransaction(deps, projectId, commit));
}

/** How far back a backlog is counted. */
const backlogMax = 4_096;

/**
 * Whoever has much waiting goes behind whoever has little: what one project sends by the thousand does not keep
 * the others' single images for hours. Within a step, first come, first served.
 */
const toPriority = (waiting: number): number => -Math.ceil(Math.log2(waiting + 1));

export async function readJob(deps: Deps, actor: TenantActor, jobId: string): Promise<JobRow> {
  const [row] = await deps.db.read<JobRow>(
    findJob(actor.projectId, jobId, pinnedUserOf(actor), pinnedSpaceOf(actor)),
  );
  if (!row) throw new PakhusError('NOT_FOUND', 'There is no such job');
  return row;
}
