// The object ledger: every transition between the states of an object, each one statement. docs/object-ledger.md draws them.
// The commit of an upload and the deletion of a file are in db/functions: they change files in the same statement.
import type { HeldObject, ObjectRef } from '../../contract/object-ref.ts';
import { arrayOfIds, noSql, type Sql, sql } from '../../platform/db/sql.ts';
import type { Zone } from '../../platform/objects/object-store.ts';

const isObject = ({ projectId, fileId, id, zone }: ObjectRef): Sql =>
  sql`project_id = ${projectId} and file_id = ${fileId} and id = ${id} and zone = ${zone}`;

const after = (seconds: number): Sql => sql`now() + make_interval(secs => ${seconds})`;

const arrays = (objects: readonly ObjectRef[]): Sql => sql`
  ${arrayOfIds(objects.map(({ projectId }) => projectId))}::uuid[],
  ${arrayOfIds(objects.map(({ fileId }) => fileId))}::uuid[], ${arrayOfIds(objects.map(({ id }) => id))}::uuid[],
  ${objects.map(({ zone }) => zone)}::text[]`;

/**
 * The arrays before the row comparison make PostgreSQL use the primary key, however small the table is. `coalesce` keeps it
 * from a join that would compare every row with every object.
 */
const isOneOf = (objects: readonly ObjectRef[]): Sql => sql`
  project_id = any(${arrayOfIds(objects.map(({ projectId }) => projectId))}::uuid[])
  and file_id = any(${arrayOfIds(objects.map(({ fileId }) => fileId))}::uuid[])
  and coalesce((project_id, file_id, id, zone) in (select * from unnest(${arrays(objects)})), false)`;

/** → reserved. */
export const reserveObjects = (objects: readonly ObjectRef[], holder: string, seconds: number): Sql => sql`
  insert into objects (project_id, file_id, id, zone, state, holder, held_until)
  select object.project_id, object.file_id, object.id, object.zone, 'reserved', ${holder}, ${after(seconds)}
  from unnest(${arrays(objects)}) as object(project_id, file_id, id, zone)`;

/** reserved → gone: the name was never given to an upload. */
export const releaseReserved = (objects: readonly ObjectRef[], holder: string): Sql => sql`
  delete from objects where ${isOneOf(objects)} and holder = ${holder} and state = 'reserved'`;

/** reserved → writing, and again to renew the hold of a long upload. */
export const beginWriting = (object: HeldObject, seconds: number): Sql => sql`
  update objects set state = 'writing', held_until = ${after(seconds)}
  where ${isObject(object)} and holder = ${object.holder} and state in ('reserved', 'writing')
  returning id`;

/** reserved, writing → gone: the upload was refused, and its object has been deleted. */
export const forgetRefused = (object: HeldObject): Sql => sql`
  delete from objects where ${isObject(object)} and holder = ${object.holder} and state in ('reserved', 'writing')
  returning id`;

/**
 * reserved, writing → deleting: a commit that was not answered cannot store the file any more. A row that is locked by
 * that commit is skipped: the commit is about to succeed.
 */
export const fenceUploads = (objects: readonly ObjectRef[]): Sql => sql`
  update objects o set state = 'deleting', holder = null, held_until = now()
  from (select project_id, file_id, id, zone from objects
    where ${isOneOf(objects)} and state in ('reserved', 'writing') for update skip locked) free
  where o.project_id = free.project_id and o.file_id = free.file_id and o.id = free.id and o.zone = free.zone`;

/** reserved, writing → stored: an object that its file owns besides its own, such as a variant of an image. */
export const storeDerived = (object: HeldObject): Sql => sql`
  update objects set state = 'stored', holder = null, held_until = null
  where ${isObject(object)} and holder = ${object.holder} and state in ('reserved', 'writing')
  returning id`;

export const findOwner = (projectId: string, id: string): Sql => sql`
  select file_id from objects where project_id = ${projectId} and id = ${id} and file_id <> id and state = 'stored'`;

/**
 * → moving: a copy of the object in the other zone is about to be written here. An abandoned copy is taken over, and so is
 * an object that could not be deleted so far, once the last request to delete it cannot arrive any more.
 */
export const startMove = (object: HeldObject, seconds: number): Sql => sql`
  insert into objects (project_id, file_id, id, zone, state, holder, held_until)
  select project_id, file_id, id, ${object.zone}, 'moving', ${object.holder}, ${after(seconds)} from objects
  where ${isObject({ ...object, zone: otherZone(object.zone) })} and state in ('stored', 'rewriting')
  on conflict (project_id, file_id, id, zone) do update
    set state = 'moving', holder = excluded.holder, held_until = excluded.held_until, late_until = null, attempts = 0
    where (objects.state = 'moving' and (objects.holder is null or objects.held_until <= now()))
      or (objects.state = 'deleting' and objects.holder is null
        and coalesce(objects.late_until <= now(), true))
  returning id`;

/** moving → moving without a holder: the copy failed and may still arrive, and another mover may try. */
export const releaseMove = (object: HeldObject, seconds: number): Sql => sql`
  update objects set holder = null, held_until = ${after(seconds)}
  where ${isObject(object)} and holder = ${object.holder} and state = 'moving'
  returning id`;

/**
 * moving → stored, and what the file leaves in the other zone → deleting, held by the same mover. An image worker that is
 * rewriting it there loses its hold, but its last write may still arrive.
 */
export const finishMove = (object: HeldObject, seconds: number): Sql => sql`
  with arrived as (
    update objects set state = 'stored', holder = null, held_until = null, late_until = null
    where ${isObject(object)} and holder = ${object.holder} and state = 'moving'
    returning id),
  left_behind as (
    update objects set state = 'deleting', holder = ${object.holder}, held_until = ${after(seconds)}, attempts = 0,
      late_until = case when state = 'rewriting' then held_until end
    where ${isObject({ ...object, zone: otherZone(object.zone) })} and state in ('stored', 'rewriting')
      and exists (select from arrived))
  select id from arrived`;

/** stored → rewriting. A later attempt at the same image takes over from an earlier one. */
export const startRewrite = (object: HeldObject, seconds: number): Sql => sql`
  update objects set state = 'rewriting', holder = ${object.holder}, held_until = ${after(seconds)}
  where ${isObject(object)} and state in ('stored', 'rewriting')
  returning id`;

/** rewriting → stored. */
export const finishRewrite = (object: HeldObject): Sql => sql`
  update objects set state = 'stored', holder = null, held_until = null
  where ${isObject(object)} and holder = ${object.holder} and state = 'rewriting'
  returning id`;

/** Keeps a hold that is still ours, whatever the state. */
export const renewHold = (object: HeldObject, seconds: number): Sql => sql`
  update objects set held_until = ${after(seconds)} where ${isObject(object)} and holder = ${object.holder}
  returning id`;

/**
 * stored, moving, rewriting → deleting, for all objects of files that are about to be deleted. Writers lose their hold;
 * their last write may still arrive.
 */
export const dropObjects = (projectId: string, fileIds: readonly string[]): Sql => sql`
  update objects set state = 'deleting', holder = null, held_until = now(),
    late_until = case when state in ('moving', 'rewriting') then held_until else late_until end
  where project_id = ${projectId} and file_id = any(${arrayOfIds(fileIds)}::uuid[])
    and state in ('stored', 'moving', 'rewriting')`;

/**
 * → deleting, held by a writer that has lost its object: the file has gone or is in the other zone by now, and the write has
 * ended. Its row may be gone as well, if the writer was suspended for long.
 */
export const takeAbandoned = (object: HeldObject, seconds: number): Sql => sql`
  insert into objects (project_id, file_id, id, zone, state, holder, held_until)
  values (${object.projectId}, ${object.fileId}, ${object.id}, ${object.zone}, 'deleting', ${object.holder}, ${after(seconds)})
  on conflict (project_id, file_id, id, zone) do update
    set state = 'deleting', holder = excluded.holder, held_until = excluded.held_until, late_until = null
    where (objects.state = 'deleting' and objects.holder is null)
      or (objects.state = 'moving' and objects.holder = ${object.holder})
  returning id`;

/** An object to delete. */
export interface DueRow {
  readonly project_id: string;
  readonly file_id: string;
  readonly id: string;
  readonly zone: Zone;
  readonly state: 'deleting' | 'stored';
  /** The same object lives on in the other zone. */
  readonly lives_on: boolean;
}

/**
 * Settles what nobody holds any more, by its state: a rewrite that ended with its process leaves the object to its file;
 * everything else has no file and is held by the caller for deletion.
 */
export const takeExpired = (
  holder: string,
  seconds: number,
  rowsMax: number,
  which: 'all' | 'exposed',
): Sql => sql`
  update objects o set state = case o.state when 'rewriting' then 'stored' else 'deleting' end,
    holder = case o.state when 'rewriting' then null else ${holder}::uuid end,
    held_until = case o.state when 'rewriting' then null else ${after(seconds)} end,
    attempts = case o.state when 'rewriting' then 0 else o.attempts + 1 end
  from (select project_id, file_id, id, zone from objects
    where held_until <= now()${which === 'exposed' ? exposed : noSql}
    order by held_until limit ${rowsMax} for update skip locked) due
  where o.project_id = due.project_id and o.file_id = due.file_id and o.id = due.id and o.zone = due.zone
  returning o.project_id, o.file_id, o.id, o.zone, o.state, exists (select from objects other
    where other.project_id = o.project_id and other.file_id = o.file_id and other.id = o.id and other.zone <> o.zone
      and other.state <> 'deleting') as lives_on`;

/** A late write would make a private file public again: such objects are deleted again and again until it is too late. */
const exposed = sql` and zone = 'public' and state = 'deleting' and late_until > now()`;
const lookAgain = sql`interval '15 seconds'`;

/** deleting → gone, once the object has been deleted. While a late write may still arrive, the row stays. */
export const forgetDeleted = (objects: readonly ObjectRef[], holder: string): Sql => sql`
  with gone as (
    delete from objects where ${isOneOf(objects)} and holder = ${holder} and state = 'deleting'
      and coalesce(late_until <= now(), true))
  update objects set holder = null, attempts = 0, held_until = least(late_until, now() + ${lookAgain})
  where ${isOneOf(objects)} and holder = ${holder} and state = 'deleting' and late_until > now()`;

/** deleting → gone, by the caller that has just deleted a file and its object. */
export const forgetDropped = (object: ObjectRef): Sql => sql`
  delete from objects where ${isObject(object)} and state = 'deleting' and holder is null
    and coalesce(late_until <= now(), true)
  returning id`;

/** deleting → deleting without a holder: the deletion failed. The wait before the next one doubles up to six hours. */
export const retryDeletion = (objects: readonly ObjectRef[], holder: string): Sql => sql`
  update objects set holder = null,
    held_until = now() + least(interval '6 hours', interval '15 seconds' * power(2, least(attempts, 12))),
    late_until = greatest(late_until, now() + interval '30 seconds')
  where ${isOneOf(objects)} and holder = ${holder} and state = 'deleting'`;

/** A row while a writer holds the object. */
export const findWriter = (projectId: string, id: string): Sql => sql`
  select from objects where project_id = ${projectId} and file_id = ${id} and id = ${id}
    and state in ('reserved', 'writing', 'moving', 'rewriting') and held_until > now()
  union all
  select from objects where project_id = ${projectId} and id = ${id} and file_id <> id
    and state in ('reserved', 'writing') and held_until > now()`;

/** How many objects wait for the reaper, up to `most`; beyond that the exact number does not matter. */
export const countDue = (most: number): Sql => sql`
  select count(*) as objects from (
    select from objects where held_until is not null and (held_until <= now() or attempts > 0) limit ${most}) due`;

export const otherZone = (zone: Zone): Zone => (zone === 'public' ? 'private' : 'public');
