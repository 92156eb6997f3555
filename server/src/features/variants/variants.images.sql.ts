// Statements on variant images: rows for what is wanted, made, there or impossible. Triggers hand the objects of rows that go to the
// reaper: see db/functions/drop_variant_object.sql.
import { isUnexpired } from '../../contract/file-conditions.ts';
import type { VariantKey } from '../../contract/variant.ts';
import type { ImageFormat } from '../../kernel/media/image-recipe.ts';
import { arrayOfIds, type Sql, sql } from '../../platform/db/sql.ts';
import type { ObjectStore, Zone } from '../../platform/objects/object-store.ts';

/** A file and a variant as a request finds them. The variant is null if there is none; `state` is null if there is no row. */
export interface FoundRow {
  readonly file_name: string;
  readonly recipe_id: string | null;
  readonly format: ImageFormat;
  /** Of the bytes in the store; null if nobody has read them yet. */
  readonly present_sha256: Buffer | null;
  readonly state: 'pending' | 'making' | 'ready' | 'failed' | null;
  /** Nobody has taken the job for so long that it may be lost. */
  readonly overdue: boolean | null;
  readonly content_sha256: Buffer | null;
  readonly store: ObjectStore['kind'] | null;
  readonly object_id: string;
  readonly bytes: number;
  readonly width: number;
  readonly height: number;
  readonly sha256: Buffer;
  readonly made_at: string;
  readonly used_lately: boolean | null;
  readonly failure: 'refused' | 'fault' | 'outage' | null;
  readonly error: string | null;
  /** The failure is over: it may be tried again. */
  readonly may_retry: boolean | null;
}

/** What a file has in the store now: compression replaces the upload. */
const presentSha256 = sql`case when j.status = 'done' then j.result_sha256 else f.sha256 end`;

export const findImage = (
  projectId: string,
  userId: string,
  spaceId: string | null,
  fileId: string,
  name: string,
): Sql => sql`
  select f.name as file_name, v.recipe_id, v.format, ${presentSha256} as present_sha256, i.state, i.content_sha256,
    i.queued_at < now() - interval '15 minutes' as overdue,
    i.store, i.object_id, i.bytes, i.width, i.height, i.sha256, i.made_at,
    i.last_used_at > now() - interval '10 minutes' as used_lately, i.failure, i.error, i.retry_at <= now() as may_retry
  from files f
  left join compression_jobs j on j.project_id = f.project_id and j.file_id = f.id
  left join variants v on v.project_id = f.project_id and v.name = ${name}
  left join variant_images i on i.project_id = f.project_id and i.file_id = f.id and i.recipe_id = v.recipe_id
  where f.project_id = ${projectId} and f.user_id = ${userId} and f.id = ${fileId}
    and (${spaceId}::uuid is null or f.space_id = ${spaceId}::uuid)
    and ${isUnexpired(sql`f`)}`;

const isImage = ({ projectId, fileId, recipeId }: VariantKey): Sql =>
  sql`project_id = ${projectId} and file_id = ${fileId} and recipe_id = ${recipeId}`;

export type RequestOutcome = 'queued' | 'waiting' | 'crowded' | 'changed' | 'gone';

export const requestImage = (
  { projectId, fileId, recipeId }: VariantKey,
  presentSha256: Buffer | null,
  store: ObjectStore['kind'],
  unfinishedMax: number,
): Sql => sql`
  select request_variant(${projectId}, ${fileId}, ${recipeId}, ${presentSha256}, ${store}, ${unfinishedMax}) as outcome`;

export const countUnfinished = (projectId: string, imagesMax: number): Sql => sql`
  select count(*)::int as images from (select from variant_images i
    where i.project_id = ${projectId} and i.state in ('pending', 'making') limit ${imagesMax}) unfinished`;

/** What a worker needs. */
export interface MakingRow {
  readonly claim: number;
  readonly attempts: number;
  /** The process of the previous attempt died. */
  readonly cut_short: boolean;
  readonly error: string | null;
  readonly variant: string;
  readonly format: ImageFormat;
  readonly quality: number;
  readonly width: number | null;
  readonly height: number | null;
  readonly fit: 'inside' | 'cover';
  readonly file_name: string;
  readonly file_bytes: number;
  readonly storage_key: string;
  readonly zone: Zone;
  readonly file_sha256: Buffer | null;
  /** What the file's object becomes when its compression ends. */
  readonly result_sha256: Buffer | null;
}

/** No row if the file or the recipe has gone, or if somebody has made the image already. */
export const claimImage = (key: VariantKey): Sql => sql`
  with before as (
    select file_id, recipe_id, state = 'making' as cut_short from variant_images
    where ${isImage(key)} and state in ('pending', 'making') for update)
  update variant_images i set state = 'making', claim = i.claim + 1, attempts = i.attempts + 1
  from before
  join variants v on v.project_id = ${key.projectId} and v.recipe_id = before.recipe_id
  join files f on f.project_id = ${key.projectId} and f.id = before.file_id
  left join compression_jobs j on j.project_id = f.project_id and j.file_id = f.id
  where i.project_id = ${key.projectId} and i.file_id = before.file_id and i.recipe_id = before.recipe_id
  returning i.claim, i.attempts, i.error, before.cut_short, v.name as variant, v.format, v.quality, v.width, v.height, v.fit,
    f.name as file_name, coalesce(j.compressed_size, f.size) as file_bytes, f.storage_key, f.zone, f.sha256 as file_sha256,
    j.result_sha256`;

/** Fences attempts that were given up as lost. */
const isAttempt = (claim: number): Sql => sql`claim = ${claim} and state = 'making'`;

export interface MadeImage {
  readonly objectId: string;
  readonly bytes: number;
  readonly width: number;
  readonly height: number;
  readonly sha256: Buffer;
  readonly contentSha256: Buffer;
  readonly store: ObjectStore['kind'];
}

export const markReady = (key: VariantKey, claim: number, made: MadeImage): Sql => sql`
  update variant_images set state = 'ready', object_id = ${made.objectId}, bytes = ${made.bytes}, width = ${made.width},
    height = ${made.height}, sha256 = ${made.sha256}, content_sha256 = ${made.contentSha256}, store = ${made.store},
    made_at = now(), last_used_at = now(), error = null
  where ${isImage(key)} and ${isAttempt(claim)}
  returning object_id`;

/** `retrySeconds` null: never. The content that could not be read is that of the request. */
export const markFailed = (
  key: VariantKey,
  claim: number,
  failure: 'refused' | 'fault' | 'outage',
  error: string,
  retrySeconds: number | null,
  contentSha256: Buffer | null,
): Sql => sql`
  update variant_images set state = 'failed', failure = ${failure}, error = ${error},
    content_sha256 = coalesce(${contentSha256}, content_sha256),
    retry_at = now() + make_interval(secs => ${retrySeconds}::double precision)
  where ${isImage(key)} and ${isAttempt(claim)}
  returning file_id`;

export const markPending = (key: VariantKey, claim: number, attempts: number, error: string): Sql => sql`
  update variant_images set state = 'pending', attempts = ${attempts}, error = ${error}, queued_at = now()
  where ${isImage(key)} and ${isAttempt(claim)}`;

/** An image that is wanted no more: it would count as one in the making until the clean-up of retired recipes. */
export const deleteUnwanted = (key: VariantKey): Sql => sql`
  delete from variant_images where ${isImage(key)} and state in ('pending', 'making')
    and not exists (select from variants v where v.project_id = ${key.projectId} and v.recipe_id = ${key.recipeId})`;

/** An image whose object the store does not have, as after a restore from a backup. */
export const deleteLost = (key: VariantKey, objectId: string): Sql => sql`
  delete from variant_images where ${isImage(key)} and object_id = ${objectId}`;

export const channel = 'pakhus_variants';

export const toPayload = ({ fileId, recipeId }: Pick<VariantKey, 'fileId' | 'recipeId'>): string =>
  `${fileId}/${recipeId}`;

/** Wakes the requests that wait for an image, in every process. */
export const notifyWaiting = (key: VariantKey): Sql => sql`select pg_notify(${channel}, ${toPayload(key)})`;

/** Of different images. Rows that another writer has are passed over. */
export const markUsed = (keys: readonly VariantKey[]): Sql => sql`
  update variant_images i set last_used_at = now()
  from (select u.project_id, u.file_id, u.recipe_id
    from unnest(${arrayOfIds(keys.map(({ projectId }) => projectId))}::uuid[],
      ${arrayOfIds(keys.map(({ fileId }) => fileId))}::uuid[],
      ${arrayOfIds(keys.map(({ recipeId }) => recipeId))}::uuid[]) asked(project_id, file_id, recipe_id)
    join variant_images u on u.project_id = asked.project_id and u.file_id = asked.file_id
      and u.recipe_id = asked.recipe_id and u.state = 'ready'
    for update of u skip locked) used
  where i.project_id = used.project_id and i.file_id = used.file_id and i.recipe_id = used.recipe_id`;

/** What a project has cached, and whether that is above the cap, exact at every commit. */
export const findCachedBytes = (projectId: string): Sql => sql`
  select coalesce(sum(bytes), 0)::bigint as bytes from (
    select bytes from stat_totals where project_id = ${projectId} and dimension = 'variants'
    union all select bytes from stat_deltas where project_id = ${projectId} and dimension = 'variants') known`;

/** All projects, for operators. */
export const sumCachedBytes: Sql = sql`
  select coalesce(sum(bytes), 0)::bigint as bytes from (
    select bytes from stat_totals where dimension = 'variants'
    union all select bytes from stat_deltas where dimension = 'variants') known`;

/** The projects above the cap. */
export const listOverCap = (bytesMax: number): Sql => sql`
  select project_id from (
    select project_id, bytes from stat_totals where dimension = 'variants'
    union all select project_id, bytes from stat_deltas where dimension = 'variants') known
  group by project_id having sum(bytes) > ${bytesMax}::bigint`;

/** The images that were not used for longest, beyond `bytesKept`. The one used last stays, however large it is. */
export const deleteOldest = (projectId: string, bytesKept: number, imagesMax: number): Sql => sql`
  delete from variant_images i using (
    select u.file_id, u.recipe_id from (
      select file_id, recipe_id, last_used_at from (
        select r.file_id, r.recipe_id, r.last_used_at,
          sum(r.bytes) over (order by r.last_used_at desc, r.file_id, r.recipe_id) - r.bytes as newer_bytes
        from variant_images r where r.project_id = ${projectId} and r.state = 'ready') ranked
      where newer_bytes >= ${bytesKept}::bigint and newer_bytes > 0
      order by last_used_at limit ${imagesMax}) oldest
    join variant_images u on u.project_id = ${projectId} and u.file_id = oldest.file_id and u.recipe_id = oldest.recipe_id
      and u.last_used_at = oldest.last_used_at
    for update of u skip locked) chosen
  where i.project_id = ${projectId} and i.file_id = chosen.file_id and i.recipe_id = chosen.recipe_id
  returning i.bytes`;

export interface RetiredRow {
  readonly project_id: string;
  readonly recipe_id: string;
}

export const listRetired = (rowsMax: number): Sql => sql`
  select project_id, recipe_id from retired_recipes limit ${rowsMax}`;

export const deleteImagesOf = ({ project_id, recipe_id }: RetiredRow, imagesMax: number): Sql => sql`
  delete from variant_images i using (
    select file_id from variant_images r where r.project_id = ${project_id} and r.recipe_id = ${recipe_id}
    limit ${imagesMax} for update skip locked) old
  where i.project_id = ${project_id} and i.recipe_id = ${recipe_id} and i.file_id = old.file_id
  returning i.file_id`;

/** Only once the recipe has no image any more. */
export const forgetRetired = ({ project_id, recipe_id }: RetiredRow): Sql => sql`
  delete from retired_recipes r where r.project_id = ${project_id} and r.recipe_id = ${recipe_id}
    and not exists (select from variant_images i where i.project_id = ${project_id} and i.recipe_id = ${recipe_id})`;
