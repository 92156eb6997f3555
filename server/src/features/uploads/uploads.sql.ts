// Statements on uploads. What changes several tables at once is a function of the database, in db/functions: each of them
// changes the upload, its reservation and its objects together or not at all.
import type { AuditStamp } from '../../contract/audit.ts';
import type { FileValues, StoreOutcome } from '../../contract/file.ts';
import type { UploadToComplete } from '../../contract/upload.ts';
import { newestFirst, type PageRequest } from '../../platform/db/paging.ts';
import { noSql, type Sql, sql } from '../../platform/db/sql.ts';
import type { Zone } from '../../platform/objects/object-store.ts';
import type { StagedPart, StagedState } from '../../platform/objects/staged-objects.ts';

export type UploadStatus = 'uploading' | 'completed' | 'failed' | 'expired' | 'cancelled';
export type UploadMode = 'resumable' | 'direct';

export interface UploadFault {
  readonly code: string;
  readonly message: string;
}

/** An upload as the API shows it. */
export interface UploadRow {
  readonly id: string;
  readonly project_id: string;
  readonly user_id: string;
  readonly space_id: string | null;
  readonly status: UploadStatus;
  readonly mode: UploadMode;
  readonly name: string;
  readonly mime_type: string;
  readonly size: number | null;
  readonly received: number;
  readonly file_id: string | null;
  readonly error: UploadFault | null;
  readonly expires_at: string;
  readonly created_at: string;
  readonly updated_at: string;
}

/** What the service needs to go on with it. */
export interface StagedRow extends UploadRow {
  readonly epoch: number;
  readonly receiving: boolean;
  readonly object_id: string | null;
  readonly zone: Zone;
  readonly state: StagedState;
  readonly tail_id: string | null;
  /** In hex. */
  readonly sha256: string | null;
}

const shown = sql`id, project_id, user_id, space_id, status, mode, name, mime_type, size, received, file_id, error, expires_at,
  created_at, updated_at`;

const staged = sql`${shown}, epoch, receiving, object_id, zone, state, tail_id, encode(sha256, 'hex') as sha256`;

/** The columns of a new upload, by name. */
export interface NewUpload {
  readonly id: string;
  readonly project_id: string;
  readonly user_id: string;
  readonly space_id: string | null;
  readonly mode: UploadMode;
  readonly token_hash: string | null;
  readonly integration_id: string | null;
  readonly key_id: string | null;
  readonly jti: string | null;
  readonly name: string;
  readonly mime_type: string;
  readonly folder: string;
  readonly tags: readonly string[];
  readonly classifier: string | null;
  readonly metadata: object;
  readonly visibility: 'private' | 'public';
  readonly file_expires_at: string | null;
  readonly file_retain_until: string | null;
  readonly sha256: string | null;
  readonly size: number | null;
  readonly object_id: string | null;
  readonly state: StagedState;
  readonly zone: Zone;
}

export interface CreatedRow {
  readonly outcome: Exclude<StoreOutcome, 'stored'> | 'created' | 'too many of user' | 'too many of project';
  readonly created_at: string;
  readonly expires_at: string;
}

export interface UploadBounds {
  readonly perUser: number;
  readonly perProject: number;
}

export const createUpload = (
  upload: NewUpload,
  { actorType, actorId, actorKeyId, ipAddress, userAgent }: AuditStamp,
  { perUser, perProject }: UploadBounds,
  expirySeconds: number,
): Sql => {
  const reserved = upload.size ?? 0;
  const columns = { ...upload, reserved, actor_type: actorType, actor_id: actorId, actor_key_id: actorKeyId };
  return sql`
  select outcome, created_at, (now() + make_interval(secs => ${expirySeconds}))::timestamptz(3) as expires_at from create_upload(
    jsonb_populate_record(null::uploads, ${JSON.stringify(columns)}::jsonb
      || jsonb_build_object('expires_at', now() + make_interval(secs => ${expirySeconds}))),
    ${perUser}, ${perProject}, ${ipAddress}, ${userAgent})`;
};

/** How a claim finds its upload. */
export type UploadName = { readonly tokenHash: Buffer } | { readonly projectId: string; readonly id: string };

/** An upload with the limits of the plan in force. */
export interface LimitedRow extends StagedRow {
  readonly allowed_mimes: readonly string[] | null;
  readonly max_file_size: number | null;
}

export interface ClaimRow extends LimitedRow {
  readonly outcome: 'claimed' | 'absent' | 'ended' | 'offset' | 'too long';
  readonly took_over: boolean | null;
  /** Bytes that an upload of unknown length may still reserve; null if there is no limit. */
  readonly room: number | null;
  readonly cors_origins: string[] | null;
  readonly dev_mode: boolean | null;
}

export interface ClaimRequest {
  /** Null only fences off the request that adds bytes. */
  readonly at: number | null;
  /** The length of the body; null if it is not known. */
  readonly adding: number | null;
  readonly objectId: string;
  readonly tailId: string | null;
  readonly holder: string;
}

export const claimUpload = (name: UploadName, request: ClaimRequest, holdSeconds: number): Sql => {
  const { tokenHash, projectId, id } = { tokenHash: null, projectId: null, id: null, ...name };
  const { at, adding, objectId, tailId, holder } = request;
  return sql`
  select outcome, took_over, room, allowed_mimes, max_file_size, cors_origins, dev_mode, ${staged}
  from claim_upload(${tokenHash}, ${projectId}, ${id}, ${at}, ${adding}, ${objectId}, ${tailId}, ${holder}, ${holdSeconds})`;
};

export interface CorsRow {
  readonly cors_origins: string[] | null;
  readonly dev_mode: boolean | null;
}

/** By the secret of its URL, if that still works. */
export const findByToken = (tokenHash: Buffer): Sql => sql`
  select u.*, i.cors_origins, i.dev_mode from (
    select ${staged}, integration_id from uploads
    where token_hash = ${tokenHash} and status in ('uploading', 'completed') and upload_is_alive(uploads)) u
  left join integrations i on i.project_id = u.project_id and i.id = u.integration_id`;

/** A direct upload that may still get parts. Its object has its id. */
export const findAlive = (projectId: string, id: string): Sql => sql`
  select ${staged} from uploads
  where project_id = ${projectId} and id = ${id} and mode = 'direct' and status = 'uploading' and upload_is_alive(uploads)`;

export interface Advance {
  readonly bytes: number;
  /** If this request has said it. */
  readonly size: number | null;
  readonly state: StagedState;
  readonly parts: readonly StagedPart[];
  readonly tailId: string | null;
  readonly stateTailId: string | null;
  readonly isLast: boolean;
}

export interface AdvanceRow {
  readonly outcome: 'moved' | 'taken' | 'user limit' | 'space limit';
  readonly expires_at: string;
}

export const advanceUpload = (
  { project_id, id, epoch }: StagedRow,
  { bytes, size, state, parts, tailId, stateTailId, isLast }: Advance,
  expirySeconds: number,
): Sql => sql`
  select outcome, expires_at from advance_upload(${project_id}, ${id}, ${epoch}, ${bytes}, ${size},
    ${state === null ? null : JSON.stringify(state)}::jsonb, ${parts.map(({ etag }) => etag)}::text[],
    ${parts.at(-1)?.number ?? 0}, ${tailId}, ${stateTailId}, ${isLast}, ${expirySeconds})`;

export const listParts = ({ project_id, id }: UploadRow): Sql => sql`
  select number, etag from upload_parts where project_id = ${project_id} and upload_id = ${id} order by number`;

export const completeUpload = ({ project_id, id, epoch, digest, client }: UploadToComplete): Sql => sql`
  select outcome, stored_at
  from complete_upload(${project_id}, ${id}, ${epoch}, ${digest}, ${client.ipAddress}, ${client.userAgent})`;

export const completeUploads = (uploads: readonly UploadToComplete[]): Sql => sql`
  select outcome, stored_at, told from complete_uploads(${JSON.stringify(uploads.map(toBatchEntry))}::jsonb) order by number`;

const toBatchEntry = ({ digest, client, ...upload }: UploadToComplete) => ({
  ...upload,
  digest: digest && `\\x${digest.toString('hex')}`,
  ip_address: client.ipAddress,
  user_agent: client.userAgent,
});

/** What an upload without a file has left in the store. */
export type EndedRow = Pick<
  StagedRow,
  'id' | 'project_id' | 'object_id' | 'zone' | 'state' | 'name' | 'mime_type'
>;

/** Ends an upload. `epoch`: only if nobody has taken over since. `shown`: the upload, if its end is an event. */
export const endUpload = (
  { project_id, id }: Pick<UploadRow, 'project_id' | 'id'>,
  epoch: number | null,
  status: Exclude<UploadStatus, 'uploading' | 'completed'>,
  error: UploadFault | null,
  audit: (Partial<AuditStamp> & Pick<AuditStamp, 'action'>) | null,
  shown: object | null = null,
): Sql => sql`
  select id, project_id, object_id, zone, state, name, mime_type from end_upload(${project_id}, ${id}, ${epoch}, ${status},
    ${error === null ? null : JSON.stringify(error)}::jsonb, ${audit?.action ?? null}, ${audit?.actorType ?? null},
    ${audit?.actorId ?? null}, ${audit?.actorKeyId ?? null}, ${audit?.ipAddress ?? null}, ${audit?.userAgent ?? null},
    ${shown === null ? null : JSON.stringify(shown)}::jsonb)`;

/** Where a caller may look: with a `spaceId`, only into that space. */
export interface UploadScope {
  readonly projectId: string;
  readonly userId: string;
  readonly spaceId: string | null;
}

const isVisible = ({ projectId, userId, spaceId }: UploadScope): Sql =>
  sql`project_id = ${projectId} and user_id = ${userId}${spaceId === null ? noSql : sql` and space_id = ${spaceId}`}`;

export const listUploads = (scope: UploadScope, after: Sql, page: PageRequest): Sql =>
  newestFirst(sql`select ${shown} from uploads where ${isVisible(scope)}${after}`, page);

export const findUpload = (scope: UploadScope, id: string): Sql => sql`
  select ${staged} from uploads where ${isVisible(scope)} and id = ${id}`;

/** What completing a direct upload needs: also the values of its file, and whether its creator could still upload. */
export interface DirectRow extends StagedRow, Omit<FileValues, 'expires_at'> {
  readonly file_expires_at: string | null;
  readonly alive: boolean;
}

export const findDirect = (scope: UploadScope, id: string): Sql => sql`
  select ${staged}, folder, tags, classifier, metadata, visibility, file_retain_until as retain_until,
    file_expires_at, upload_is_alive(uploads) as alive
  from uploads where ${isVisible(scope)} and id = ${id}`;

export interface BegunRow {
  readonly state: StagedState;
  /** False if another request has recorded a different state. */
  readonly is_ours: boolean;
}

/** Records where a direct upload begins, unless another request has done so, and prolongs it: its client is about to send. */
export const beginDirect = (
  { project_id, id }: UploadRow,
  state: StagedState,
  expirySeconds: number,
): Sql => sql`
  with opened as (
    update uploads set state = coalesce(state, ${JSON.stringify(state)}::jsonb),
      expires_at = now() + make_interval(secs => ${expirySeconds}), updated_at = now()
    where project_id = ${project_id} and id = ${id} and status = 'uploading'
    returning object_id, state, expires_at),
  held as (
    update objects o set held_until = opened.expires_at + interval '2 hours' from opened
    where o.project_id = ${project_id} and o.file_id = opened.object_id and o.id = opened.object_id
      and o.state = 'writing' and o.held_until < opened.expires_at + interval '1 hour')
  select state, state = ${JSON.stringify(state)}::jsonb as is_ours from opened`;

/** Objects of unfinished uploads go with their user. The caller has locked the user. */
export const dropObjectsOfUser = (projectId: string, userId: string): Sql => sql`
  select drop_upload_objects(project_id, object_id, tail_id) from uploads
  where project_id = ${projectId} and user_id = ${userId} and status = 'uploading'`;

/** The caller has locked the project. */
export const dropObjectsOfProject = (projectId: string): Sql => sql`
  select drop_upload_objects(project_id, object_id, tail_id) from uploads
  where project_id = ${projectId} and status = 'uploading'`;

/** The caller has locked the user and the space. */
export const cancelOfSpace = (
  projectId: string,
  userId: string,
  spaceId: string,
  audit: AuditStamp,
): Sql => sql`
  select ended.id from uploads u cross join lateral end_upload(u.project_id, u.id, null, 'cancelled', null, 'upload.cancel',
    ${audit.actorType}, ${audit.actorId}, ${audit.actorKeyId}, ${audit.ipAddress}, ${audit.userAgent}) ended
  where u.project_id = ${projectId} and u.user_id = ${userId} and u.space_id = ${spaceId} and u.status = 'uploading'`;

/** Uploads of all projects whose time is over. */
export const listExpired = (rowsMax: number): Sql => sql`
  select ${shown} from uploads where status = 'uploading' and expires_at <= now() order by expires_at limit ${rowsMax}`;

/** Uploads of all projects whose bytes are all there, but whose last request never finished. */
export const listUnfinished = (idleSeconds: number, rowsMax: number): Sql => sql`
  select id, project_id, received from uploads
  where status = 'uploading' and mode = 'resumable' and received = size
    and updated_at < now() - make_interval(secs => ${idleSeconds})
  limit ${rowsMax}`;

/** Of all projects: ended uploads are shown for a day. */
export const forgetEnded = (keptSeconds: number, rowsMax: number): Sql => sql`
  delete from uploads where (project_id, id) in (
    select project_id, id from uploads
    where status <> 'uploading' and updated_at < now() - make_interval(secs => ${keptSeconds}) limit ${rowsMax})
  returning id`;

export interface StatusRow {
  readonly status: UploadStatus;
  readonly uploads: number;
  readonly reserved: number;
}

export const countByStatus = (): Sql => sql`
  select status, count(*) as uploads, sum(reserved)::bigint as reserved from uploads group by status`;
