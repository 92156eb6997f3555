// Statements on image jobs.

import type { JobFacts } from '../../contract/image-job.ts';
import type { ImageFormat, ImageRecipe } from '../../kernel/media/image-recipe.ts';
import { noSql, type Sql, sql } from '../../platform/db/sql.ts';
import type { Zone } from '../../platform/objects/object-store.ts';

export interface JobRow extends JobFacts {
  readonly attempts: number;
}

/** A job, with the fields of its file that the worker needs. */
export interface WorkRow extends JobRow {
  readonly claim: number;
  /** The process of the previous attempt died. */
  readonly cut_short: boolean;
  readonly deaths_alone: number;
  readonly user_id: string;
  readonly recipe: ImageRecipe;
  readonly result_sha256: Buffer | null;
  readonly file_name: string;
  readonly file_sha256: Buffer;
  readonly storage_key: string;
  readonly zone: Zone;
}

/** A job that has ended. */
export interface EndedJobRow extends JobRow {
  readonly user_id: string;
}

const columns = sql`j.id, j.file_id, j.status, j.attempts, j.original_size, j.compressed_size, j.format, j.width, j.height, j.error`;

export const insertJob = (
  projectId: string,
  jobId: string,
  userId: string,
  fileId: string,
  recipe: ImageRecipe,
  originalBytes: number,
): Sql => sql`
  insert into compression_jobs (id, project_id, user_id, file_id, recipe, original_size)
  values (${jobId}, ${projectId}, ${userId}, ${fileId}, ${JSON.stringify(recipe)}::jsonb, ${originalBytes})`;

export const countWaiting = (projectId: string, jobsMax: number): Sql => sql`
  select count(*)::int as jobs from (select from compression_jobs
    where project_id = ${projectId} and status in ('pending', 'processing') limit ${jobsMax}) waiting`;

/** Limited to one user or one space if the token is. */
export const findJob = (
  projectId: string,
  jobId: string,
  userId: string | null,
  spaceId: string | null,
): Sql => sql`
  select ${columns} from compression_jobs j join files f on f.id = j.file_id and f.project_id = j.project_id
  where j.project_id = ${projectId} and j.id = ${jobId}
    ${userId === null ? noSql : sql`and j.user_id = ${userId}`}
    ${spaceId === null ? noSql : sql`and f.space_id = ${spaceId}`}`;

/** An attempt whose process died does not count. */
export const claimJob = (projectId: string, jobId: string): Sql => sql`
  with before as (
    select id, status = 'processing' as cut_short, alone from compression_jobs
    where project_id = ${projectId} and id = ${jobId} and status in ('pending', 'processing') for update)
  update compression_jobs j set status = 'processing', claim = j.claim + 1, alone = false,
    attempts = j.attempts + case when before.cut_short then 0 else 1 end,
    deaths_alone = case when before.cut_short and before.alone then j.deaths_alone + 1 else 0 end,
    updated_at = now()
  from before, files f
  where j.project_id = ${projectId} and j.id = before.id
    and f.id = j.file_id and f.project_id = j.project_id
  returning ${columns}, j.claim, j.deaths_alone, before.cut_short, j.user_id, j.recipe, j.result_sha256,
    f.name as file_name, f.sha256 as file_sha256, f.storage_key, f.zone`;

/** From now until the result is noted, a crash of the process is blamed on this image. */
export const markAlone = (projectId: string, at: Attempt): Sql => sql`
  update compression_jobs j set alone = true where j.project_id = ${projectId} and ${isCurrent(at)}`;

export interface JobResult {
  readonly bytes: number;
  readonly format: ImageFormat;
  readonly width: number;
  readonly height: number;
  readonly sha256: Buffer;
}

/** Identifies the current attempt, so that one which was given up as lost can no longer change the job. */
type Attempt = Pick<WorkRow, 'id' | 'claim'>;

const isCurrent = ({ id, claim }: Attempt): Sql =>
  sql`j.id = ${id} and j.claim = ${claim} and j.status = 'processing'`;

/** No row if the file was deleted or moved to the other zone: then its object must not be written. */
export const noteResult = (projectId: string, at: Attempt, zone: Zone, result: JobResult): Sql => sql`
  update compression_jobs j set result_sha256 = ${result.sha256}, compressed_size = ${result.bytes},
    format = ${result.format}, width = ${result.width}, height = ${result.height}, alone = false, updated_at = now()
  from files f
  where j.project_id = ${projectId} and ${isCurrent(at)} and f.id = j.file_id and f.project_id = j.project_id
    and f.zone = ${zone}
  returning j.id`;

export const markDone = (projectId: string, at: Attempt): Sql => sql`
  update compression_jobs j set status = 'done', error = null, updated_at = now()
  where j.project_id = ${projectId} and ${isCurrent(at)}
  returning ${columns}, j.user_id`;

/** The file's current zone, and whether its original may have been replaced already. */
export interface ProgressRow {
  readonly zone: Zone;
  readonly result_noted: boolean;
}

export const findProgress = (projectId: string, jobId: string): Sql => sql`
  select f.zone, j.result_sha256 is not null as result_noted
  from compression_jobs j join files f on f.id = j.file_id and f.project_id = j.project_id
  where j.project_id = ${projectId} and j.id = ${jobId}`;

/** Saves the reason in case this turns out to be the last attempt. */
export const markPending = (projectId: string, at: Attempt, attempts: number, reason: string): Sql => sql`
  update compression_jobs j set status = 'pending', attempts = ${attempts}, error = ${reason}, updated_at = now()
  where j.project_id = ${projectId} and ${isCurrent(at)}`;

export const markFailed = (projectId: string, at: Attempt, error: string): Sql => sql`
  update compression_jobs j set status = 'failed', error = ${error}, compressed_size = null, format = null,
    width = null, height = null, result_sha256 = null, updated_at = now()
  where j.project_id = ${projectId} and ${isCurrent(at)}
  returning ${columns}, j.user_id`;
