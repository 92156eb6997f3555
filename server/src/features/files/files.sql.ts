// Statements on files. `store_file`, `store_files` and `remove_files` are functions of the database, in db/functions: each
// changes files, objects, quotas and the audit log together or not at all.
import type { AuditStamp } from '../../contract/audit.ts';
import type { EventType } from '../../contract/event.ts';
import type { FileValues, NewFile, SpaceFilter, WantedFile } from '../../contract/file.ts';
import { inSpace, isUnexpired } from '../../contract/file-conditions.ts';
import { arrayOfIds, constantSql, noSql, type Sql, sql } from '../../platform/db/sql.ts';
import type { ContentDigest } from '../../platform/hashing/digest.ts';
import type { Zone } from '../../platform/objects/object-store.ts';

/** The outcome of a commit whose answer was lost. */
export interface SettledRow {
  readonly id: string;
  readonly outcome: 'stored' | 'not confirmed' | 'unknown';
  readonly stored_at: string | null;
}

/** A value from the file's compression job. Only images have jobs: skip the lookup for other files. */
const selectFromJob = (what: Sql): Sql => sql`case when starts_with(mime_type, 'image/') then
  (select ${what} from compression_jobs j where j.file_id = files.id and j.project_id = files.project_id) end`;

const compression = sql`${selectFromJob(sql`
  jsonb_build_object('id', j.id, 'file_id', j.file_id, 'status', j.status, 'original_size', j.original_size,
    'compressed_size', j.compressed_size, 'format', j.format, 'width', j.width, 'height', j.height, 'error', j.error)`)}
  as compression`;

const columns = sql`id, user_id, space_id, name, size, mime_type, storage_key, folder, tags, classifier, metadata,
  visibility, zone, encode(sha256, 'hex') as sha256, expires_at, retain_until, created_at, updated_at, ${compression}`;

const jobJson = sql`
  job_json(j.id, j.file_id, j.status, j.original_size, j.compressed_size, j.format, j.width, j.height, j.error)`;

/** A file as the API shows it. The row has all of it but the compression job: see db/functions/write_file_view.sql. */
export const viewJson = sql`view || coalesce(${selectFromJob(jobJson)}, 'null') || '}'`;

/** Where a chunk of files ends and the next one begins. */
export interface FilePosition {
  readonly id: string;
  readonly created_at: string;
  readonly held_until?: string | null;
  /** Of all files of a user: the order of their chunks begins with it. */
  readonly level?: number;
}

export const beforeAllFiles: FilePosition = {
  id: '00000000-0000-0000-0000-000000000000',
  created_at: '-infinity',
};

/** The uploads of others wait until the log of a chunk is on disk: about ten milliseconds of work. */
const chunk = constantSql(50);

/** 1 for files of the user itself, 0 for those in a space: the index `files_by_time` has each of the two in the order of time. */
export const level = sql`(space_id is null)::int`;

const afterFile = ({ created_at, id }: FilePosition): Sql =>
  sql`(created_at, id) > (${created_at}::timestamptz, ${id}::uuid)`;

/** Null unless the file is held. */
const heldUntil = sql`case when retain_until > now() then retain_until end as held_until`;

/** The longest hold on a file of the user, or of anybody in the project. */
export const findHold = (projectId: string, userId: string | null): Sql => sql`
  select max(retain_until) as held_until from files
  where project_id = ${projectId} and retain_until > now()${userId === null ? noSql : sql` and user_id = ${userId}`}`;

/**
 * Locks the next chunk of files before their deletion: a concurrent move or compression finishes first, or finds no file.
 * Chunks follow an index: starting over, each would pass all the rows that this transaction has deleted.
 */
export const lockFilesOfUser = (projectId: string, userId: string, after: FilePosition): Sql => sql`
  select id, created_at, ${level} as level, ${heldUntil} from files where project_id = ${projectId} and user_id = ${userId}
    and (${level}, created_at, id) > (${after.level ?? 0}, ${after.created_at}::timestamptz, ${after.id}::uuid)
  order by ${level}, created_at, id limit ${chunk} for update`;

export const lockFilesOfProject = (projectId: string, after: FilePosition): Sql => sql`
  select id, created_at, ${heldUntil} from files where project_id = ${projectId} and id > ${after.id}
  order by id limit ${chunk} for update`;

export const lockFilesOfSpace = (projectId: string, spaceId: string, after: FilePosition): Sql => sql`
  select id, created_at from files where project_id = ${projectId} and space_id = ${spaceId} and ${afterFile(after)}
  order by created_at, id limit ${chunk} for no key update`;

export const deleteFiles = (projectId: string, fileIds: readonly string[]): Sql => sql`
  delete from files where project_id = ${projectId} and id = any(${arrayOfIds(fileIds)}::uuid[])`;

export const moveFilesToOwner = (projectId: string, fileIds: readonly string[]): Sql => sql`
  update files set space_id = null, updated_at = now()
  where project_id = ${projectId} and id = any(${arrayOfIds(fileIds)}::uuid[])`;

/** Private files whose object is still public, of all projects. */
export const listExposed = (after: string, rowsMax: number): Sql => sql`
  select ${columns}, project_id from files
  where visibility = 'private' and zone = 'public' and id > ${after} order by id limit ${rowsMax}`;

/** Public files whose object is still private, of all projects. */
export const listUnshown = (after: string, rowsMax: number): Sql => sql`
  select ${columns}, project_id from files
  where visibility <> zone and visibility = 'public' and id > ${after} order by id limit ${rowsMax}`;

export interface UnreadRow {
  readonly project_id: string;
  readonly id: string;
  readonly zone: Zone;
  readonly storage_key: string;
}

export const beforeAllUnread: UnreadRow = {
  project_id: beforeAllFiles.id,
  id: beforeAllFiles.id,
  zone: 'private',
  storage_key: '',
};

/** Files of all projects whose content nobody has read for its digests. */
export const listUnread = (after: UnreadRow, rowsMax: number): Sql => sql`
  select project_id, id, zone, storage_key from files
  where (sha256 is null or crc32 is null) and (project_id, id) > (${after.project_id}::uuid, ${after.id}::uuid)
  order by project_id, id limit ${rowsMax}`;

/** The sha256 is that of the upload, the crc32 that of the content, which compression may have replaced. */
export const setDigest = ({ project_id, id }: UnreadRow, { sha256, crc32 }: ContentDigest): Sql => sql`
  update files set sha256 = coalesce(sha256, ${sha256}), crc32 = coalesce(crc32, ${crc32})
  where project_id = ${project_id} and id = ${id} and (sha256 is null or crc32 is null)`;

export const setCrc32 = (projectId: string, fileId: string, crc32: number): Sql => sql`
  update files set crc32 = ${crc32} where project_id = ${projectId} and id = ${fileId}`;

/** Locks a file to move it, if its visibility is still `to` and its object is in the other zone. */
export const lockMisplaced = (projectId: string, fileId: string, to: Zone): Sql => sql`
  select ${selectFromJob(sql`j.status`)} = 'done' as compressed from files
  where id = ${fileId} and project_id = ${projectId} and visibility = ${to} and zone <> ${to} for no key update`;

/** Locks a file if its object is in this zone. */
export const lockFileInZone = (projectId: string, fileId: string, zone: Zone): Sql => sql`
  select from files where id = ${fileId} and project_id = ${projectId} and zone = ${zone} for no key update`;

export const setZone = (projectId: string, fileId: string, zone: Zone): Sql => sql`
  update files set zone = ${zone} where id = ${fileId} and project_id = ${projectId}`;

export const findSpaceOfUser = (projectId: string, userId: string, spaceId: string): Sql => sql`
  select active from spaces where project_id = ${projectId} and user_id = ${userId} and id = ${spaceId}`;

/** Limits of a user and, if given, of one of its spaces. Taken bytes are used or reserved. */
export interface RoomRow {
  readonly storage_limit: number | null;
  readonly taken_bytes: number;
  readonly space_limit: number | null;
  readonly space_taken_bytes: number | null;
}

export const findRoom = (projectId: string, userId: string, spaceId: string | null): Sql => sql`
  select p.storage_limit, u.used_bytes + u.reserved_bytes as taken_bytes, s.limit_bytes as space_limit,
    s.used_bytes + s.reserved_bytes as space_taken_bytes
  from users u
  left join plans p on p.project_id = u.project_id and p.id = coalesce(u.plan_id,
    (select d.id from plans d where d.project_id = ${projectId} and d.is_default))
  left join spaces s on s.project_id = u.project_id and s.user_id = u.id and s.id = ${spaceId}::uuid
  where u.project_id = ${projectId} and u.id = ${userId}`;

export const storeFile = (file: NewFile, audit: AuditStamp, job: object | null = null): Sql => sql`
  select outcome, stored_at from store_file(
    jsonb_populate_record(null::new_file, ${JSON.stringify(toColumns(file))}::jsonb
      || jsonb_build_object('created_at', now(), 'updated_at', now())),
    ${audit.action}, ${audit.actorType}, ${audit.actorId}, ${audit.actorKeyId}, ${audit.ipAddress}, ${audit.userAgent},
    ${JSON.stringify(job)})`;

/** Many in one transaction, with one outcome each. 'passed over': the file would have had to wait for a lock. */
export const storeFiles = (commits: readonly { file: NewFile; audit: AuditStamp }[]): Sql => sql`
  select outcome, stored_at, told from store_files(${JSON.stringify(commits.map(batchEntry))}::jsonb) order by number`;

/**
 * Run after fencing the objects of commits whose answer was lost. 'unknown': the commit still holds its object and may
 * succeed.
 */
export const findOutcomes = (files: readonly NewFile[]): Sql => sql`
  select asked.id, f.created_at as stored_at, case when f.id is not null then 'stored'
    when o.state in ('reserved', 'writing') then 'unknown' else 'not confirmed' end as outcome
  from unnest(${arrayOfIds(files.map(({ id }) => id))}::uuid[],
    ${arrayOfIds(files.map(({ project_id }) => project_id))}::uuid[],
    ${files.map(({ zone }) => zone)}::text[]) as asked(id, project_id, zone)
  left join files f on f.project_id = asked.project_id and f.id = asked.id
  left join objects o on o.project_id = asked.project_id and o.file_id = asked.id and o.id = asked.id
    and o.zone = asked.zone`;

/** By name, not by position: during a rollout the previous release still runs against a table with new columns. */
const toColumns = (file: NewFile) => ({ ...file, sha256: file.sha256 && `\\x${file.sha256}` });

const batchEntry = ({ file, audit }: { file: NewFile; audit: AuditStamp }) => ({
  file: toColumns(file),
  ...toStamp(audit),
});

/** Whose files a statement may change; with a `spaceId`, only those in that space. */
export interface FileScope {
  readonly projectId: string;
  readonly userId: string;
  readonly spaceId: string | null;
}

export interface RemovedRow {
  readonly id: string;
  /** Null if the object stays: the file is in the trash. */
  readonly zone: Zone | null;
}

/**
 * Moves files to the trash, or deletes them where the project has none. Held files stay, and are not among those returned. Without
 * `audit`, the caller records what it did.
 */
export const removeFiles = (
  { projectId, userId, spaceId }: FileScope,
  fileIds: readonly string[],
  forGood: boolean,
  audit: AuditStamp | null,
  event: EventType | null = null,
): Sql => sql`
  select id, zone from remove_files(${projectId}, ${userId}, ${spaceId}, ${arrayOfIds(fileIds)}::uuid[], ${forGood},
    ${audit && JSON.stringify(toStamp(audit))}::jsonb, ${event})`;

/** An audit row as functions of the database take it. */
export const toStamp = (audit: AuditStamp) => ({
  action: audit.action,
  actor_type: audit.actorType,
  actor_id: audit.actorId,
  actor_key_id: audit.actorKeyId,
  ip_address: audit.ipAddress,
  user_agent: audit.userAgent,
});

/** Those that are held. */
export const findHeld = ({ projectId, userId, spaceId }: FileScope, fileIds: readonly string[]): Sql => sql`
  select id, retain_until from files
  where project_id = ${projectId} and user_id = ${userId} and id = any(${arrayOfIds(fileIds)}::uuid[])
    and retain_until > now()${spaceId === null ? noSql : sql` and space_id = ${spaceId}`} order by id limit 1`;

/** A row if this caller has deleted the file since then. */
export const findDeletion = (
  projectId: string,
  userId: string,
  fileId: string,
  since: string,
  audit: AuditStamp,
): Sql => sql`
  select from audit_logs where project_id = ${projectId} and user_id = ${userId} and created_at >= ${since}
    and action in (${audit.action}, 'file.trash') and resource_id = ${fileId.toLowerCase()} and actor_type = ${audit.actorType}
    and actor_id is not distinct from ${audit.actorId}::uuid
    and actor_key_id is not distinct from ${audit.actorKeyId}::text
  limit 1`;

/**
 * The wanted files that exist and that their callers may see, numbered from 1 in the order of `wanted`. Subselects hide
 * the length of the arrays from PostgreSQL, which would otherwise plan again for every length.
 */
export const findFiles = (wanted: readonly WantedFile[]): Sql => sql`
  select number, ${viewJson} as view, storage_key, zone, visibility, name, mime_type, ${compression}
  from unnest((select ${arrayOfIds(wanted.map(({ projectId }) => projectId))}::uuid[]),
    (select ${arrayOfIds(wanted.map(({ userId }) => userId))}::uuid[]),
    (select ${arrayOfIds(wanted.map(({ spaceId }) => spaceId))}::uuid[]),
    (select ${arrayOfIds(wanted.map(({ fileId }) => fileId))}::uuid[]))
    with ordinality as wanted (project, owner, space, file, number)
  join files on id = wanted.file and project_id = wanted.project and user_id = wanted.owner
    and (wanted.space is null or space_id = wanted.space) and ${isUnexpired()}`;

export const findDelivered = (projectId: string, fileId: string): Sql => sql`
  select name, mime_type, ${compression} from files where id = ${fileId} and project_id = ${projectId} and ${isUnexpired()}`;

export const findExisting = (projectId: string, fileId: string): Sql => sql`
  select from files where id = ${fileId} and project_id = ${projectId} and ${isUnexpired()}`;

/** Matches the index, which sorts the slash before every character that a name can have. */
export const toFolderKey = (folder: string): string => folder.replaceAll('/', '\x01');

export const folderKey = sql`translate(folder, '/', E'\\x01')`;

export const lockFile = (projectId: string, userId: string, space: SpaceFilter, fileId: string): Sql => sql`
  select ${columns} from files
  where id = ${fileId} and project_id = ${projectId} and user_id = ${userId}${inSpace(space)} and ${isUnexpired()}
  for no key update`;

export const updateFile = (projectId: string, fileId: string, values: FileValues): Sql => sql`
  update files set folder = ${values.folder}, tags = ${values.tags}, classifier = ${values.classifier},
    metadata = ${JSON.stringify(values.metadata)}::jsonb, visibility = ${values.visibility},
    expires_at = ${values.expires_at}, retain_until = ${values.retain_until}, updated_at = now()
  where project_id = ${projectId} and id = ${fileId} returning ${columns}, view`;

/** Several at once, in the order of their ids, which no deadlock comes of. */
export const lockFiles = ({ projectId, userId, spaceId }: FileScope, fileIds: readonly string[]): Sql => sql`
  select ${columns} from files
  where project_id = ${projectId} and user_id = ${userId} and id = any(${arrayOfIds(fileIds)}::uuid[])
    ${spaceId === null ? noSql : sql`and space_id = ${spaceId}`} and ${isUnexpired()}
  order by id for no key update`;

export const updateFiles = (projectId: string, changes: readonly FileChange[]): Sql => sql`
  update files set folder = new_folder, tags = new_tags, classifier = new_classifier, metadata = new_metadata,
    visibility = new_visibility, expires_at = new_expires_at, retain_until = new_retain_until, updated_at = now()
  from jsonb_to_recordset(${JSON.stringify(changes.map(toNewValues))}::jsonb) as change(file_id uuid, new_folder text,
    new_tags text[], new_classifier text, new_metadata jsonb, new_visibility text, new_expires_at timestamptz,
    new_retain_until timestamptz)
  where project_id = ${projectId} and id = file_id returning ${columns}`;

export interface FileChange {
  readonly id: string;
  readonly values: FileValues;
}

const toNewValues = ({ id, values }: FileChange) => ({
  file_id: id,
  new_folder: values.folder,
  new_tags: values.tags,
  new_classifier: values.classifier,
  new_metadata: values.metadata,
  new_visibility: values.visibility,
  new_expires_at: values.expires_at,
  new_retain_until: values.retain_until,
});

/** The stored JSON of the row. */
export const findView = (projectId: string, fileId: string): Sql => sql`
  select view from files where project_id = ${projectId} and id = ${fileId}`;

/** The whole subtree of a folder as one range of the index: see `toFolderKey`. */
const isBelow = (folder: string): Sql =>
  sql`${folderKey} >= ${toFolderKey(folder)} and ${folderKey} < ${`${toFolderKey(folder)}\x02`}`;

/** The longest folder in a subtree; null if nothing is in it. */
export const findLongestFolder = (
  projectId: string,
  userId: string,
  space: SpaceFilter,
  folder: string,
): Sql => sql`
  select max(length(folder)) as length from files
  where project_id = ${projectId} and user_id = ${userId}${inSpace(space)} and ${isBelow(folder)}`;

/**
 * Whether the project records events. If it does not search, the rest of the transaction is spared the upkeep of `file_names`:
 * with a lock on the project, which therefore does not begin to search meanwhile.
 */
export const prepareMove = (projectId: string): Sql => sql`
  select coalesce(listens_until > now(), false) as listens,
    case when searches_since is null then set_config('pakhus.names_unsearched', 'yes', true) end as unsearched
  from projects where id = ${projectId}`;

/** Gives a subtree another place. */
export interface FolderMove {
  readonly projectId: string;
  readonly userId: string;
  readonly space: SpaceFilter;
  readonly from: string;
  /** Empty for the root. */
  readonly to: string;
}

export const moveFolder = (move: FolderMove): Sql => sql`
  with moved as (${moveFiles(move)} returning 1)
  select count(*)::int as files from moved`;

/** With an event for each file. */
export const moveFolderTold = (move: FolderMove): Sql => sql`
  with moved as (${moveFiles(move)} returning id, project_id, mime_type, view),
  told as (
    insert into events (project_id, type, user_id, data)
    select project_id, 'file.updated', ${move.userId}::uuid, ${ofMoved} from moved),
  notified as materialized (
    select pg_notify('pakhus_events', ${move.projectId}::text) where exists (select from moved))
  select (select count(*) from moved)::int as files, (select count(*) from notified) as notified`;

function moveFiles({ projectId, userId, space, from, to }: FolderMove): Sql {
  const moved = sql`ltrim(${to}::text || substr(folder, length(${from}::text) + 1), '/')`;
  return sql`
    update files set folder = ${moved}, updated_at = now(),
      view = view_moved_file(view, folder, ${moved}, updated_at, now())
    where project_id = ${projectId} and user_id = ${userId}${inSpace(space)} and ${isBelow(from)}`;
}

const ofMoved = sql`view || coalesce(case when starts_with(mime_type, 'image/') then (select ${jobJson}
  from compression_jobs j where j.file_id = moved.id and j.project_id = moved.project_id) end, 'null') || '}'`;

/** The next files of a subtree, in the order of the index, locked. */
export const lockFilesBelow = (
  projectId: string,
  userId: string,
  space: SpaceFilter,
  folder: string,
  after: { readonly key: string; readonly created_at: string; readonly id: string },
  rowsMax: number,
): Sql => sql`
  select id, created_at, ${folderKey} as key, ${heldUntil} from files
  where project_id = ${projectId} and user_id = ${userId}${inSpace(space)} and ${isBelow(folder)}
    and (${folderKey}, created_at, id) > (${after.key}, ${after.created_at}::timestamptz, ${after.id}::uuid)
  order by ${folderKey}, created_at, id limit ${rowsMax} for update`;
