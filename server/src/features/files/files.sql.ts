// Statements on files and on the objects that no file owns. `store_file`, `store_files` and `delete_file` are
// functions of the database: each is one statement, and each changes everything or nothing.
import type { AuditStamp } from '../../contract/audit.ts';
import type { FileValues, NewFile, WantedFile } from '../../contract/file.ts';
import type { PlacedObject } from '../../contract/placed-object.ts';
import { newestFiltered, newestFirst, type PageRequest } from '../../platform/db/paging.ts';
import { arrayOfIds, constantSql, noSql, type Sql, sql } from '../../platform/db/sql.ts';
import type { Zone } from '../../platform/objects/object-store.ts';

/** Of the job that compresses a file. Only images have one: nothing is looked for where there can be none. */
const ofJob = (what: Sql): Sql => sql`case when starts_with(mime_type, 'image/') then
  (select ${what} from compression_jobs j where j.file_id = files.id and j.project_id = files.project_id) end`;

const compression = sql`${ofJob(sql`
  jsonb_build_object('id', j.id, 'file_id', j.file_id, 'status', j.status, 'original_size', j.original_size,
    'compressed_size', j.compressed_size, 'format', j.format, 'width', j.width, 'height', j.height, 'error', j.error)`)}
  as compression`;

const columns = sql`id, user_id, space_id, name, size, mime_type, storage_key, folder, tags, classifier, metadata,
  visibility, zone, encode(sha256, 'hex') as sha256, created_at, updated_at, ${compression}`;

/**
 * With three digits of milliseconds: a tenth of a millisecond more keeps PostgreSQL from dropping zeros at the end, and
 * is cut off again. to_char would cost a list 5 % more.
 */
const isoTime = (column: Sql): Sql =>
  sql`left(replace((${column} at time zone 'utc' + '100 microseconds')::text, ' ', 'T'), 23) || 'Z'`;

/** The same shape that `viewJob` makes. */
const jobJson = sql`
  json_strip_nulls(json_build_object('job_id', j.id, 'file_id', j.file_id, 'status', j.status,
    'original_size', case j.status when 'done' then j.original_size end,
    'compressed_size', case j.status when 'done' then j.compressed_size end,
    'compression_ratio', case j.status when 'done'
      then floor(j.original_size::float8 / greatest(j.compressed_size, 1) * 100 + 0.5) / 100 end,
    'format', case j.status when 'done' then j.format end, 'width', case j.status when 'done' then j.width end,
    'height', case j.status when 'done' then j.height end, 'error', case j.status when 'failed' then j.error end))::text`;

/**
 * The same shape that `viewFile` makes, for files that are only read: the database writes them as JSON, piece by
 * piece, because row_to_json looks every column's type up again for every row, and by `||`, because concat() turns
 * every piece, its own text as well, into a copy first.
 */
const viewJson = sql`('{"id":"' || id || '","user_id":"' || user_id
  || '","space_id":' || coalesce('"' || space_id || '"', 'null') || ',"name":' || to_json(name) || ',"size":' || size
  || ',"mimeType":' || to_json(mime_type) || ',"storageKey":' || to_json(storage_key)
  || ',"sha256":"' || encode(sha256, 'hex') || '","folder":' || to_json(folder) || ',"tags":' || to_json(tags)
  || ',"classifier":' || coalesce(to_json(classifier)::text, 'null') || ',"metadata":' || metadata::text
  || ',"visibility":"' || visibility || '","compression":' || coalesce(${ofJob(jobJson)}, 'null')
  || ',"created_at":"' || ${isoTime(sql`created_at`)} || '","updated_at":"' || ${isoTime(sql`updated_at`)} || '"}')`;

/** A page of a list, and where the next one begins, if there is more than fits. */
export interface FilePage {
  /** A JSON array. */
  readonly files: string;
  readonly more: boolean;
  readonly last_created_at: string | null;
  readonly last_id: string | null;
}

/** On record before any byte goes to the store, so that a crash at any moment leaves nothing unknown. */
export const insertDoomed = (objects: readonly PlacedObject[], graceSeconds: number): Sql => sql`
  insert into doomed_objects (zone, storage_key, file_id, due_at)
  select zone, storage_key, file_id, now() + make_interval(secs => ${graceSeconds})
  from unnest(${objects.map(({ zone }) => zone)}::text[], ${objects.map(({ key }) => key)}::text[],
    ${objects.map(({ fileId }) => fileId)}::uuid[]) as object(zone, storage_key, file_id)`;

/**
 * The files are locked: one that is being moved or compressed is waited for, so that what it leaves on record is the
 * object that it has then, and whoever comes after the deletion finds no file.
 */
export const insertDoomedOfUser = (projectId: string, userId: string): Sql => sql`
  insert into doomed_objects (zone, storage_key, file_id, due_at)
  select zone, storage_key, id, now() from files where project_id = ${projectId} and user_id = ${userId} for update
  on conflict do nothing`;

export const insertDoomedOfProject = (projectId: string): Sql => sql`
  insert into doomed_objects (zone, storage_key, file_id, due_at)
  select zone, storage_key, id, now() from files where project_id = ${projectId} for update
  on conflict do nothing`;

/** An upload that takes longer than the grace is still no orphan. */
export const postponeDoomed = (key: string, zone: Zone, graceSeconds: number): Sql => sql`
  update doomed_objects set due_at = now() + make_interval(secs => ${graceSeconds})
  where storage_key = ${key} and zone = ${zone} and claimed_until is null`;

/** Whose record is not due: somebody writes the object, and moves the record on as long as that lasts. */
export const findReserved = (key: string): Sql => sql`
  select from doomed_objects where storage_key = ${key} and due_at > now() and claimed_until is null`;

/** After the object has gone. What is not due yet has a writer that may still bring it back. */
export const deleteDoomedIfDue = (key: string, zone: Zone): Sql => sql`
  delete from doomed_objects
  where storage_key = ${key} and zone = ${zone} and due_at <= now() and claimed_until is null`;

/** Of our own uploads' objects that have gone again or were never begun: their one writer has ended. */
export const deleteDoomed = (zone: Zone, keys: readonly string[]): Sql => sql`
  delete from doomed_objects where zone = ${zone} and storage_key = any(${keys}::text[]) and claimed_until is null`;

export interface DoomedRow {
  readonly zone: Zone;
  readonly storage_key: string;
  readonly file_id: string;
}

/**
 * Takes what is due, for so long that its deletion must be over by then. From now on no commit counts on these
 * objects, so whether a file owns one cannot change any more.
 */
export const claimDoomed = (rowsMax: number, claimSeconds: number): Sql => sql`
  update doomed_objects d set claimed_until = now() + make_interval(secs => ${claimSeconds}), attempts = d.attempts + 1
  from (select storage_key, zone from doomed_objects
    where due_at <= now() and (claimed_until is null or claimed_until <= now())
    order by due_at limit ${rowsMax} for update skip locked) due
  where d.storage_key = due.storage_key and d.zone = due.zone
  returning d.zone, d.storage_key, d.file_id`;

/** Of the claimed objects, those that a file owns. Read after the claim, so that no commit can come between. */
export const listOwned = (zones: readonly Zone[], fileIds: readonly string[]): Sql => sql`
  select storage_key from files where id = any(${fileIds}::uuid[]) and zone = any(${zones}::text[])`;

/**
 * The record of an object that a file owns is needed no more, unless the file goes at this very moment: whoever
 * deletes it counts on a record that is there.
 */
export const releaseOwned = (zone: Zone, zones: readonly Zone[], fileIds: readonly string[]): Sql => sql`
  with owned as (select storage_key from files
    where id = any(${fileIds}::uuid[]) and zone = any(${zones}::text[]) for key share)
  delete from doomed_objects d using owned
  where d.storage_key = owned.storage_key and d.zone = ${zone} and d.claimed_until is not null`;

export const deleteClaimed = (zone: Zone, keys: readonly string[]): Sql => sql`
  delete from doomed_objects where zone = ${zone} and storage_key = any(${keys}::text[]) and claimed_until is not null`;

/** Another try later: the wait doubles up to six hours, for ever. */
const backOff = sql`least(interval '6 hours', interval '15 seconds' * power(2, least(doomed_objects.attempts, 12)))`;

export const postponeClaimed = (zone: Zone, keys: readonly string[]): Sql => sql`
  update doomed_objects set claimed_until = null, due_at = now() + ${backOff}
  where zone = ${zone} and storage_key = any(${keys}::text[]) and claimed_until is not null`;

/**
 * The copy that a move is about to make, if the file still is to be moved: a row that was read a while ago may be of
 * before another move, and to copy again would undo what has been done to the object since. One mover at a time, and
 * none while the reaper is busy there. Where the reaper has failed, its next try may be hours away: a move waits only
 * until the last one cannot arrive any more. A record that lasts longer than a mover's is of a writer that has ended,
 * unless the file's image is in the works.
 */
export const insertDoomedCopy = (
  projectId: string,
  zone: Zone,
  fileId: string,
  leaseSeconds: number,
): Sql => sql`
  insert into doomed_objects (zone, storage_key, file_id, due_at)
  select ${zone}, storage_key, id, now() + make_interval(secs => ${leaseSeconds}) from files
  where id = ${fileId} and project_id = ${projectId} and visibility = ${zone} and zone <> ${zone} for share
  on conflict (storage_key, zone) do update set due_at = excluded.due_at, attempts = 0
    where doomed_objects.claimed_until is null and (doomed_objects.due_at <= now()
      or doomed_objects.attempts > 0 and doomed_objects.due_at - ${backOff} <= now() - interval '30 seconds'
      or doomed_objects.attempts = 0 and doomed_objects.due_at > now() + make_interval(secs => ${leaseSeconds})
        and not exists (select from compression_jobs j
          where j.file_id = ${fileId} and j.project_id = ${projectId} and j.status = 'processing'))
  returning storage_key`;

/** An object that is about to be written again is on record, in case its file is deleted meanwhile. */
export const insertDoomedRewrite = (
  zone: Zone,
  key: string,
  fileId: string,
  graceSeconds: number,
): Sql => sql`
  insert into doomed_objects (zone, storage_key, file_id, due_at)
  values (${zone}, ${key}, ${fileId}, now() + make_interval(secs => ${graceSeconds}))
  on conflict (storage_key, zone) do update set due_at = excluded.due_at where doomed_objects.claimed_until is null
  returning storage_key`;

/** Files that are to be hidden. Of every project: the mover serves them all. From behind the file `after` on. */
export const listExposed = (after: string, rowsMax: number): Sql => sql`
  select ${columns}, project_id from files
  where visibility = 'private' and zone = 'public' and id > ${after} order by id limit ${rowsMax}`;

/** The others that are on the wrong zone: those that are to be shown. */
export const listUnshown = (after: string, rowsMax: number): Sql => sql`
  select ${columns}, project_id from files
  where visibility <> zone and visibility = 'public' and id > ${after} order by id limit ${rowsMax}`;

/** Until the transaction ends the file is neither moved nor is its image job acknowledged. */
export const holdFile = (projectId: string, fileId: string): Sql => sql`
  select from files where id = ${fileId} and project_id = ${projectId} for no key update`;

/**
 * Takes the copy as the file's object and dooms the one it leaves, if the file still wants to be there and has
 * not been compressed since the copy was made. The one it leaves is claimed for the caller, who deletes it:
 * until then no move brings the file back to that zone. Where a worker is about to write it again, its record
 * stays the worker's.
 */
export const markMoved = (
  projectId: string,
  fileId: string,
  to: Zone,
  compressed: boolean,
  claimSeconds: number,
): Sql => sql`
  with reached as (
    delete from doomed_objects d using files f
    where f.project_id = ${projectId} and f.id = ${fileId} and f.zone <> ${to} and f.visibility = ${to}
      and d.storage_key = f.storage_key and d.zone = ${to} and d.claimed_until is null
      and ${compressed} = exists (select from compression_jobs j
        where j.file_id = f.id and j.project_id = f.project_id and j.status = 'done')
    returning d.file_id),
  moved as (
    update files set zone = ${to} where id = (select file_id from reached) and project_id = ${projectId}
    returning storage_key, id),
  left_behind as (
    insert into doomed_objects (zone, storage_key, file_id, due_at, claimed_until)
    select ${otherZone(to)}, storage_key, id, now(), now() + make_interval(secs => ${claimSeconds}) from moved
    on conflict (storage_key, zone) do nothing)
  select storage_key from moved`;

/**
 * Claims a written object for removal by the caller, if no file owns it there: once it is claimed, none comes to own
 * it any more. Whoever was suspended for long may have lost its record.
 */
export const claimAbandoned = (zone: Zone, key: string, fileId: string, claimSeconds: number): Sql => sql`
  insert into doomed_objects (zone, storage_key, file_id, due_at, claimed_until)
  select ${zone}, ${key}, ${fileId}::uuid, now(), now() + make_interval(secs => ${claimSeconds})
  where not exists (select from files f where f.id = ${fileId} and f.storage_key = ${key} and f.zone = ${zone})
  on conflict (storage_key, zone) do update set claimed_until = excluded.claimed_until
    where doomed_objects.claimed_until is null
  returning storage_key`;

/**
 * What private files have on the public zone while a worker's record of it is not due: the worker may be about to
 * write there, or have died. It is claimed so that no move brings a file there meanwhile. Of every project.
 */
export const claimExposed = (claimSeconds: number): Sql => sql`
  update doomed_objects d set claimed_until = now() + make_interval(secs => ${claimSeconds})
  from files f
  where d.zone = 'public' and d.due_at > now() and (d.claimed_until is null or d.claimed_until <= now())
    and f.id = d.file_id and f.storage_key = d.storage_key and f.zone = 'private' and f.visibility = 'private'
  returning d.storage_key`;

/** The record stays: what is written late is found by it. */
export const releaseExposed = (keys: readonly string[]): Sql => sql`
  update doomed_objects set claimed_until = null
  where zone = 'public' and storage_key = any(${keys}::text[]) and due_at > now()`;

/** Whoever deletes a claimed object may take longer than the claim lasts. */
export const extendClaim = (key: string, zone: Zone, claimSeconds: number): Sql => sql`
  update doomed_objects set claimed_until = now() + make_interval(secs => ${claimSeconds})
  where storage_key = ${key} and zone = ${zone} and claimed_until is not null`;

export const otherZone = (zone: Zone): Zone => (zone === 'public' ? 'private' : 'public');

export const findSpaceOfUser = (projectId: string, userId: string, spaceId: string): Sql => sql`
  select active from spaces where project_id = ${projectId} and user_id = ${userId} and id = ${spaceId}`;

/** Limits, and what is used of them, of a user and of one of its spaces, where one is given. */
export interface RoomRow {
  readonly storage_limit: number | null;
  readonly used_bytes: number;
  readonly space_limit: number | null;
  readonly space_used_bytes: number | null;
}

export const findRoom = (projectId: string, userId: string, spaceId: string | null): Sql => sql`
  select p.storage_limit, u.used_bytes, s.limit_bytes as space_limit, s.used_bytes as space_used_bytes
  from users u
  left join plans p on p.project_id = u.project_id and p.id = coalesce(u.plan_id,
    (select d.id from plans d where d.project_id = ${projectId} and d.is_default))
  left join spaces s on s.project_id = u.project_id and s.user_id = u.id and s.id = ${spaceId}::uuid
  where u.project_id = ${projectId} and u.id = ${userId}`;

export const storeFile = (file: NewFile, audit: AuditStamp): Sql => sql`
  select outcome, stored_at from store_file(
    jsonb_populate_record(null::new_file, ${JSON.stringify(columnsOf(file))}::jsonb
      || jsonb_build_object('created_at', now(), 'updated_at', now())),
    ${audit.actorType}, ${audit.actorId}, ${audit.actorKeyId}, ${audit.ipAddress}, ${audit.userAgent})`;

/** Many in one transaction, each with an outcome of its own; 'passed over' are those that would have to wait. */
export const storeFiles = (commits: readonly { file: NewFile; audit: AuditStamp }[]): Sql => sql`
  select outcome, stored_at from store_files(${JSON.stringify(commits.map(batchEntry))}::jsonb) order by number`;

export interface SettledRow {
  readonly id: string;
  readonly outcome: 'stored' | 'not confirmed' | 'unknown';
  readonly stored_at: string | null;
}

/**
 * Of files whose commit was not answered: which have a row. The objects of the others are claimed, so that a commit that
 * is still under way can no longer count on them, and are due for the reaper at once. Nothing is waited for: a record
 * that is locked is about to be taken off by just that commit.
 */
export const settleFiles = (files: readonly NewFile[]): Sql => sql`
  with asked as (
    select * from unnest(${arrayOfIds(files.map(({ id }) => id))}::uuid[],
      ${arrayOfIds(files.map(({ project_id }) => project_id))}::uuid[],
      ${files.map(({ storage_key }) => storage_key)}::text[], ${files.map(({ zone }) => zone)}::text[])
      as asked(id, project_id, storage_key, zone)),
  stored as (
    select f.id, f.created_at from files f join asked a on f.id = a.id and f.project_id = a.project_id),
  recorded as (
    select d.storage_key, d.zone, d.claimed_until from doomed_objects d
    join asked a on a.storage_key = d.storage_key and a.zone = d.zone),
  free as (
    select d.storage_key, d.zone from doomed_objects d
    join asked a on a.storage_key = d.storage_key and a.zone = d.zone
    where d.claimed_until is null and not exists (select from stored s where s.id = a.id)
    for update of d skip locked),
  claimed as (
    update doomed_objects d set claimed_until = now(), due_at = now() from free
    where d.storage_key = free.storage_key and d.zone = free.zone
    returning d.storage_key)
  select a.id, s.created_at as stored_at, case
      when s.id is not null then 'stored'
      when exists (select from claimed c where c.storage_key = a.storage_key) then 'not confirmed'
      when exists (select from recorded r where r.storage_key = a.storage_key and r.claimed_until is null) then 'unknown'
      else 'not confirmed' end as outcome
  from asked a left join stored s on s.id = a.id`;

/** By their names: a release that has added a column must not break the one before it, which still runs. */
const columnsOf = (file: NewFile) => ({ ...file, sha256: `\\x${file.sha256}` });

const batchEntry = ({ file, audit }: { file: NewFile; audit: AuditStamp }) => ({
  file: columnsOf(file),
  actor_type: audit.actorType,
  actor_id: audit.actorId,
  actor_key_id: audit.actorKeyId,
  ip_address: audit.ipAddress,
  user_agent: audit.userAgent,
});

export const deleteFile = (
  projectId: string,
  userId: string,
  spaceId: string | null,
  fileId: string,
  audit: AuditStamp,
): Sql => sql`
  select storage_key, zone from delete_file(${projectId}, ${userId}, ${spaceId}, ${fileId},
    ${audit.actorType}, ${audit.actorId}, ${audit.actorKeyId}, ${audit.ipAddress}, ${audit.userAgent})`;

/** Whether this caller has deleted the file since then. */
export const findDeletion = (
  projectId: string,
  userId: string,
  fileId: string,
  since: string,
  audit: AuditStamp,
): Sql => sql`
  select from audit_logs where project_id = ${projectId} and user_id = ${userId} and created_at >= ${since}
    and action = ${audit.action} and resource_id = ${fileId.toLowerCase()} and actor_type = ${audit.actorType}
    and actor_id is not distinct from ${audit.actorId}::uuid
    and actor_key_id is not distinct from ${audit.actorKeyId}::text
  limit 1`;

/** Which of a user's files a caller sees: all, those of one space, or those at the user's own level. */
export type SpaceFilter = { readonly spaceId: string } | 'none' | 'all';

export interface FileFilter {
  readonly space: SpaceFilter;
  readonly folder?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly classifier?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly visibility?: string | undefined;
}

/**
 * Those of the wanted files that are there for whoever wants them, with their numbers, from 1. The arrays are read
 * by selects of their own, so that PostgreSQL cannot see how long they are: it would plan for each length anew.
 */
export const findFiles = (wanted: readonly WantedFile[]): Sql => sql`
  select number, ${viewJson} as view, storage_key, zone, visibility, name, mime_type, ${compression}
  from unnest((select ${arrayOfIds(wanted.map(({ projectId }) => projectId))}::uuid[]),
    (select ${arrayOfIds(wanted.map(({ userId }) => userId))}::uuid[]),
    (select ${arrayOfIds(wanted.map(({ spaceId }) => spaceId))}::uuid[]),
    (select ${arrayOfIds(wanted.map(({ fileId }) => fileId))}::uuid[]))
    with ordinality as wanted (project, owner, space, file, number)
  join files on id = wanted.file and project_id = wanted.project and user_id = wanted.owner
    and (wanted.space is null or space_id = wanted.space)`;

export const findDelivered = (projectId: string, fileId: string): Sql => sql`
  select name, mime_type, ${compression} from files where id = ${fileId} and project_id = ${projectId}`;

/** A row while the file is there. */
export const findExisting = (projectId: string, fileId: string): Sql => sql`
  select from files where id = ${fileId} and project_id = ${projectId}`;

/**
 * One row, whatever the page holds: a hundred rows would cost more to receive than to find. A page ends early where its
 * files are large, and only what it shows is turned into JSON, because everybody's lists share connections. The
 * aggregates need no order of their own: the rows come in that of the inner query.
 */
export const listFiles = (
  projectId: string,
  userId: string,
  filter: FileFilter,
  after: Sql,
  page: PageRequest,
): Sql => sql`
  select coalesce('[' || string_agg(${viewJson}, ',') filter (where shown) || ']', '[]') as files,
    coalesce(bool_or(not shown), false) as more, min(created_at) filter (where shown) as last_created_at,
    (array_agg(id) filter (where shown))[count(*) filter (where shown)] as last_id
  from (
    select *, row_number() over earlier <= ${page.limit}::int
      and coalesce(sum(pg_column_size(metadata) + pg_column_size(tags)) over earlier, 0) < ${pageBytesMax} as shown
    from (${foundFiles(projectId, userId, filter, after, page)}) found
    window earlier as (rows between unbounded preceding and 1 preceding)) files`;

/** Of what makes a file large, as it is stored: all other fields together are short. */
const pageBytesMax = constantSql(256 * 1024);

const isNarrowed = ({ tags, classifier, mimeType, visibility }: FileFilter): boolean =>
  [tags, classifier, mimeType, visibility].some((value) => value !== undefined);

/** Whether a list may have to look at many more files than it shows: no index knows everything at once. */
export const isSearch = (filter: FileFilter): boolean =>
  isNarrowed(filter) || (filter.folder !== undefined && filter.space !== 'all');

/**
 * A list of one space, of a user's own level or of a folder is found by that alone and only then held against its owner:
 * all of its files have the same one. With the owner among the conditions, PostgreSQL may go through all of the owner's
 * files for a few: it takes user and project for independent, and so every user for small.
 */
function foundFiles(
  projectId: string,
  userId: string,
  filter: FileFilter,
  after: Sql,
  page: PageRequest,
): Sql {
  const { space } = filter;
  const owned = sql`project_id = ${projectId} and user_id = ${userId}`;
  const found = sql`${conditionsOf(filter)}${after}`;
  if (isNarrowed(filter)) return newestFiltered(sql`select * from files where ${owned}${found}`, page);
  if (space === 'all' && filter.folder === undefined)
    return newestFirst(sql`select * from files where ${owned}${found}`, page);
  const within = sql`select * from files where ${holderOf(userId, space)}${found}`;
  return sql`select * from (${newestFirst(within, page)}) found where ${owned}`;
}

/** Who holds the files, in the fewest words; `inSpace` names a space. */
const holderOf = (userId: string, space: SpaceFilter): Sql =>
  space === 'all' || space === 'none' ? sql`user_id = ${userId}` : sql`true`;

function inSpace(space: SpaceFilter): Sql {
  if (space === 'all') return noSql;
  return space === 'none' ? sql` and space_id is null` : sql` and space_id = ${space.spaceId}`;
}

function conditionsOf({ space, folder, tags, classifier, mimeType, visibility }: FileFilter): Sql {
  const inFolder = folder === undefined ? noSql : sql` and ${folderKey} = ${folderKeyOf(folder)}`;
  const tagged = tags?.length ? sql` and tags @> ${tags}::text[] and tags <> '{}'` : noSql;
  const classified = classifier === undefined ? noSql : sql` and classifier = ${classifier}`;
  const typed = mimeType === undefined ? noSql : ofType(mimeType);
  return sql`${inSpace(space)}${inFolder}${tagged}${classified}${typed}${visibleAs(visibility)}`;
}

/** In the statement's own text: PostgreSQL has an index of the public ones, and must see that they are meant. */
function visibleAs(visibility: string | undefined): Sql {
  if (visibility === 'public') return sql` and visibility = 'public'`;
  return visibility === 'private' ? sql` and visibility = 'private'` : noSql;
}

/** A family is a range of the index: `image/` up to, not including, `image0`. */
function ofType(mimeType: string): Sql {
  if (!mimeType.endsWith('/*')) return sql` and mime_type = ${mimeType}`;
  const family = mimeType.slice(0, -2);
  return sql` and mime_type >= ${`${family}/`} and mime_type < ${`${family}0`}`;
}

/** As the index orders folders: the slash below every character that a name can have. */
const folderKeyOf = (folder: string): string => folder.replaceAll('/', '\x01');

const folderKey = sql`translate(folder, '/', E'\\x01')`;

/**
 * The names of the folders right below a prefix, in order, by hopping through the index from one name to the
 * next: a folder with a hundred thousand files costs one hop, like any other.
 */
export function listChildFolders(
  projectId: string,
  userId: string,
  space: SpaceFilter,
  prefix: string,
  afterName: string | null,
  limit: number,
): Sql {
  const start = prefix === '' ? '' : `${folderKeyOf(prefix)}\x01`;
  const within = prefix === '' ? noSql : sql` and ${folderKey} < ${`${folderKeyOf(prefix)}\x02`}`;
  const firstAfter = (bound: Sql) => sql`(select key from (
      select project_id, user_id, ${folderKey} as key from files
      where ${holderOf(userId, space)}${inSpace(space)} and ${folderKey} > ${bound}${within}
      order by ${folderKey} limit 1) first
    where project_id = ${projectId} and user_id = ${userId}) found`;
  const nameOf = sql`split_part(substr(found.key, ${[...start].length + 1}::int), E'\\x01', 1)`;
  const from = afterName === null ? start : `${start}${afterName}\x02`;
  return sql`
    with recursive hop as (
      select ${nameOf} as name, 1 as hops from ${firstAfter(sql`${from}::text`)}
      union all
      select ${nameOf}, hops + 1 from hop, lateral ${firstAfter(sql`${start}::text || hop.name || E'\\x02'`)}
      where hops < ${limit}::int)
    select name from hop`;
}

export const lockFile = (projectId: string, userId: string, space: SpaceFilter, fileId: string): Sql => sql`
  select ${columns} from files
  where id = ${fileId} and project_id = ${projectId} and user_id = ${userId}${inSpace(space)} for no key update`;

export const updateFile = (projectId: string, fileId: string, values: FileValues): Sql => sql`
  update files set folder = ${values.folder}, tags = ${values.tags}, classifier = ${values.classifier},
    metadata = ${JSON.stringify(values.metadata)}::jsonb, visibility = ${values.visibility}, updated_at = now()
  where project_id = ${projectId} and id = ${fileId} returning ${columns}`;
