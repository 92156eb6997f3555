// One attempt at an image job. The digest of the result is saved on the job's row before the result replaces the original,
// so that after a crash at any line the next attempt can tell from the object how far the last one got, and never
// compresses twice. A job whose result may have been written does not fail before one last look at the object.
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import type { Deps } from '../../contract/deps.ts';
import { viewJob } from '../../contract/image-job.ts';
import type { HeldObject } from '../../contract/object-ref.ts';
import { newId } from '../../kernel/id.ts';
import { digestContent } from '../../platform/hashing/buffered-hash.ts';
import { ImageFault, ImageRefused, ImageStarved } from '../../platform/images/image-engine.ts';
import { withAction } from '../audit/audit.service.ts';
import { eventOf, recordChange, recordEvent } from '../events/events.record.ts';
import { buildCompressedMeta } from '../files/files.objects.ts';
import { lockInZone, replaceChecksum } from '../files/files.service.ts';
import { whileHeld } from '../objects/objects.hold.ts';
import { removeAbandoned } from '../objects/objects.remove.ts';
import { beginRewrite, completeRewrite } from '../objects/objects.service.ts';
import { downloadObject } from './images.download.ts';
import type { CompressionOrder } from './images.service.ts';
import {
  claimJob,
  type EndedJobRow,
  findProgress,
  type JobResult,
  markAlone,
  markDone,
  markFailed,
  markPending,
  noteResult,
  type ProgressRow,
  type WorkRow,
} from './images.sql.ts';
import { inWorkFolder } from './images.workspace.ts';

export async function compressImage(deps: Deps, order: CompressionOrder, signal: AbortSignal): Promise<void> {
  const { jobId, projectId } = order;
  const [job] = await deps.db.query<WorkRow>(claimJob(projectId, jobId));
  // The file was deleted, or an earlier attempt has finished after all.
  if (!job) return;
  if (job.result_sha256 === null) {
    if (isUsedUp(deps, job)) return fail(deps, order, job, lastReason(job));
    if (job.deaths_alone >= deathsAloneMax) return fail(deps, order, job, deadlyReason);
  }
  await inWorkFolder(async (folder) => {
    try {
      await attempt(deps, projectId, job, folder, signal);
    } catch (error) {
      await settleFailure(deps, order, job, error, signal);
    }
  });
}

/** Further attempts do not compress: they only check whether an earlier one wrote its result. */
const isUsedUp = ({ settings }: Deps, { attempts }: WorkRow): boolean =>
  attempts > settings.IMAGE_MAX_ATTEMPTS;

const lastReason = ({ error }: WorkRow): string => error ?? 'The image could not be compressed';

/**
 * A process may be killed for reasons unrelated to its images, so they are retried. An image is to blame only if its
 * process died this often in a row while it decoded nothing else.
 */
const deathsAloneMax = 2;
const deadlyReason =
  'The process that compressed the image was killed, and again when it processed only this image';

async function attempt(
  deps: Deps,
  projectId: string,
  job: WorkRow,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  const input = join(folder, 'input');
  const object = toHeldObject(projectId, job);
  const found = await downloadObject(deps, job.zone, job.storage_key, input, signal);
  let { crc32 } = found;
  if (found.sha256.equals(job.file_sha256)) {
    if (isUsedUp(deps, job)) throw new ImageRefused(lastReason(job));
    crc32 = await replaceOriginal(deps, job, object, input, join(folder, 'output'), signal);
  } else if (!job.result_sha256?.equals(found.sha256)) throw wrongObject(deps, job);
  else if (!(await beginRewrite(deps, object))) throw new FileMoved();
  if (await finish(deps, job, object, crc32)) return;
  await removeAbandoned(deps, object);
  throw new FileMoved();
}

/**
 * Gives the file its new object and marks the job as done. False if the file was deleted or moved to the other zone. Locks
 * the file, so that a concurrent move commits first or sees the job done.
 */
const finish = (deps: Deps, job: WorkRow, object: HeldObject, crc32: number): Promise<boolean> =>
  deps.db.transaction(async (tx) => {
    if (!(await lockInZone(tx, object.projectId, job.file_id, job.zone))) return false;
    if (!(await completeRewrite(tx, object))) return false;
    const [done] = await tx.query<EndedJobRow>(markDone(object.projectId, job));
    if (!done) throw new FileMoved();
    await replaceChecksum(tx, object.projectId, job.file_id, crc32);
    await recordEvent(tx, eventOf(object.projectId, 'image.done', done.user_id, viewJob(done)));
    return true;
  });

/** Retried: the store may have returned wrong bytes this once. */
function wrongObject(deps: Deps, job: WorkRow): ImageRefused | ImageFault {
  const reason = 'The stored object is not the image that was uploaded';
  return isUsedUp(deps, job) ? new ImageRefused(reason) : new ImageFault(reason);
}

/** The file was moved to the other zone, or deleted, during the attempt. */
class FileMoved extends Error {
  constructor() {
    super('The file was moved or deleted during compression');
  }
}

const toHeldObject = (projectId: string, { file_id, zone }: WorkRow): HeldObject => ({
  projectId,
  fileId: file_id,
  id: file_id,
  zone,
  holder: newId(),
});

/** Resolves to the crc32 of the result. */
async function replaceOriginal(
  deps: Deps,
  job: WorkRow,
  object: HeldObject,
  input: string,
  output: string,
  signal: AbortSignal,
): Promise<number> {
  const { projectId } = object;
  // After a crash of unknown cause the image runs alone, so that a second crash can be blamed on it.
  const whenAlone = job.cut_short ? () => deps.db.query(markAlone(projectId, job)) : undefined;
  const image = await deps.images.compress(input, output, job.recipe, signal, whenAlone);
  const { sha256, crc32 } = await digestContent(deps.hashing, createReadStream(output));
  const result: JobResult = { ...image, sha256 };
  if (!(await beginRewrite(deps, object))) throw new FileMoved();
  const [noted] = await deps.db.query(noteResult(projectId, job, job.zone, result));
  if (!noted) throw new FileMoved();
  const meta = buildCompressedMeta(job.file_name, image.format);
  await whileHeld(deps, object, deps.settings.REAPER_GRACE_SECONDS, () =>
    deps.objects.put(object.zone, job.storage_key, createReadStream(output), meta, { signal }),
  );
  return crc32;
}

/** Permanent errors fail the job at once; other errors are retried while attempts are left. */
async function settleFailure(
  deps: Deps,
  order: CompressionOrder,
  job: WorkRow,
  error: unknown,
  signal: AbortSignal,
): Promise<void> {
  const { jobId, projectId } = order;
  if (error instanceof ImageRefused) return fail(deps, order, job, error.message);
  const [progress] = await deps.db.query<ProgressRow>(findProgress(projectId, jobId));
  // Not the image's fault: a graceful stop, a busy machine, or a move that took the object away from the worker. Such an
  // attempt does not count.
  const excused =
    signal.aborted ||
    error instanceof ImageStarved ||
    error instanceof FileMoved ||
    progress?.zone !== job.zone;
  const isLast = !excused && job.attempts >= deps.settings.IMAGE_MAX_ATTEMPTS;
  if (isLast && !progress?.result_noted) return fail(deps, order, job, publicReason(error));
  const attempts = excused ? job.attempts - 1 : job.attempts;
  await deps.db.query(markPending(projectId, job, attempts, publicReason(error)));
  deps.log.warn({ err: error, job_id: jobId, attempts: job.attempts }, 'image job failed, retrying');
  throw error;
}

/** Other errors go only to the log: they may name folders and statements. */
const publicReason = (error: unknown): string =>
  error instanceof ImageFault
    ? error.message.slice(0, 300)
    : 'The image could not be read or written: a part of the service was unavailable';

async function fail(
  deps: Deps,
  { jobId, projectId, uploader }: CompressionOrder,
  job: WorkRow,
  reason: string,
): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const [failed] = await tx.query<EndedJobRow>(markFailed(projectId, job, reason));
    if (!failed) return;
    const { user_id: userId, file_id } = failed;
    await recordChange(
      tx,
      withAction(uploader, 'job.failed'),
      { resourceType: 'job', resourceId: jobId, userId, metadata: { file_id, error: reason } },
      eventOf(projectId, 'image.failed', userId, viewJob(failed)),
    );
  });
}
