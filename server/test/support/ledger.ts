// Compares the database with the store: the invariants of every upload and delete.
import { expect } from 'vitest';
import { reap } from '../../src/features/objects/objects.reaper.ts';
import { uploadUpkeep } from '../../src/features/uploads/uploads.jobs.ts';
import { inBackground } from '../../src/platform/db/postgres.ts';
import { rowsOf } from './database.ts';
import type { TestPakhus } from './pakhus.ts';
import { until } from './processes.ts';

export const never = new AbortController().signal;

/** Files that exist: the live ones and those in the trash. */
const keptFiles = `(select id, project_id, user_id, space_id, size, zone, storage_key from files
  union all select id, project_id, user_id, space_id, size, zone, storage_key from trashed_files)`;

/** All objects, or those of one project, as `zone/key`. */
export async function objectsOf({ pakhus }: TestPakhus, projectId = ''): Promise<string[]> {
  const found: string[] = [];
  for (const zone of ['private', 'public'] as const)
    for await (const key of pakhus.deps.objects.list(zone, projectId && `${projectId}/`))
      found.push(`${zone}/${key}`);
  return found.sort();
}

export async function placesOf({ databaseUrl }: TestPakhus, projectId = ''): Promise<string[]> {
  const rows = await rowsOf<{ place: string }>(
    databaseUrl,
    `select zone || '/' || storage_key as place from ${keptFiles} kept where storage_key like '${projectId}%'
     union all
     select 'private/' || project_id || '/' || object_id from variant_images
       where object_id is not null and project_id::text like '${projectId}%'`,
  );
  return rows.map((row) => row.place).sort();
}

/** How many objects of a project are not in state `stored`: they are held, or the reaper will settle them. */
export async function unsettledOf({ databaseUrl }: TestPakhus, projectId: string): Promise<number> {
  const rows = await rowsOf(
    databaseUrl,
    `select 1 from objects where project_id = '${projectId}' and state <> 'stored'`,
  );
  return rows.length;
}

/** Expires every hold, as if the time for late requests had passed as well. */
export const endHolds = ({ databaseUrl }: { readonly databaseUrl: string }): Promise<true> =>
  until('every hold has ended', () =>
    rowsOf(
      databaseUrl,
      `update objects set held_until = now() - interval '1 second', late_until = null where state <> 'stored'`,
    ).then(() => true, unlessDeadlocked),
  );

/** A worker locks a batch of objects in an order of its own: whoever loses, tries again. */
function unlessDeadlocked(error: { readonly code?: string }): false {
  if (error.code === '40P01') return false;
  throw error;
}

export async function reapAll(service: TestPakhus): Promise<void> {
  await endHolds(service);
  await reapOn(service);
}

/** As the schedule runs it, without the deadline of a request. */
export const reapOn = ({ pakhus: { deps } }: TestPakhus): Promise<number> =>
  reap({ ...deps, db: inBackground(deps.db) }, never);

/** Repeats until nothing is left: an object that a busy store failed to delete is retried at once. */
export async function reapUntilDone(service: TestPakhus): Promise<void> {
  await until('every object is settled', async () => {
    await reapAll(service);
    return (
      (await rowsOf(service.databaseUrl, "select from objects where state <> 'stored' limit 1")).length === 0
    );
  });
}

/**
 * Expires every upload, or those of one user. Repeats until none is left: a request that was cut off may still note its
 * last bytes, which puts the expiry off.
 */
export async function expireUploads(
  { databaseUrl, pakhus: { deps } }: TestPakhus,
  userId?: string,
): Promise<void> {
  const unfinished = `status = 'uploading'${userId ? ` and user_id = '${userId}'` : ''}`;
  await until('every upload has ended', async () => {
    await rowsOf(databaseUrl, `update uploads set expires_at = now() where ${unfinished}`);
    await uploadUpkeep.run({ ...deps, db: inBackground(deps.db) }, never);
    return (await rowsOf(databaseUrl, `select from uploads where ${unfinished}`)).length === 0;
  });
}

/** Reserves bytes for a user outside of spaces, or for a space, by an upload that nobody sends. 0 ends it. */
export async function setReserved(
  { databaseUrl }: { readonly databaseUrl: string },
  table: 'users' | 'spaces',
  id: string,
  bytes: number,
): Promise<void> {
  const owner = table === 'users' ? 'id as user_id, null::uuid as space_id' : 'user_id, id as space_id';
  await rowsOf(
    databaseUrl,
    `with owner as (select project_id, ${owner} from ${table} where id = '${id}'),
     ended as (delete from uploads u using owner o where u.project_id = o.project_id and u.user_id = o.user_id
       and u.space_id is not distinct from o.space_id and u.name = 'reserved' returning u.reserved),
     begun as (${insertReservation(`select *, ${bytes} as bytes from owner where ${bytes} > 0`)}),
     change as (select o.*, ${bytes} - (select coalesce(sum(reserved), 0) from ended) as bytes from owner o),
     of_user as (update users u set reserved_bytes = u.reserved_bytes + c.bytes from change c
       where u.project_id = c.project_id and u.id = c.user_id)
     update spaces s set reserved_bytes = s.reserved_bytes + c.bytes from change c
       where s.project_id = c.project_id and s.id = c.space_id`,
  );
}

/** An upload for each row of project_id, user_id, space_id and bytes. The counters are the caller's. */
export const insertReservation = (rows: string): string => `
  insert into uploads (id, project_id, user_id, space_id, mode, actor_type, name, mime_type, folder, tags, metadata,
    visibility, size, reserved, zone, expires_at)
  select gen_random_uuid(), project_id, user_id, space_id, 'resumable', 'project', 'reserved', 'text/plain', '', '{}', '{}',
    'private', bytes, bytes, 'private', now() + interval '1 day' from (${rows}) r`;

/** Every counter of a user or space that differs from the count or total size of its rows, or of its reservations. */
export function wrongCounters({ databaseUrl }: { readonly databaseUrl: string }): Promise<object[]> {
  return rowsOf<object>(
    databaseUrl,
    `select 'user' as kind, u.id, u.used_bytes, coalesce(sum(f.size), 0) as sum, u.file_count, count(f.id) as files
       from users u left join ${keptFiles} f on f.user_id = u.id group by u.id
       having u.used_bytes <> coalesce(sum(f.size), 0) or u.file_count <> count(f.id)
     union all
     select 'space', s.id, s.used_bytes, coalesce(sum(f.size), 0), s.file_count, count(f.id)
       from spaces s left join ${keptFiles} f on f.space_id = s.id group by s.id
       having s.used_bytes <> coalesce(sum(f.size), 0) or s.file_count <> count(f.id)
     union all
     select 'reserved by user', u.id, u.reserved_bytes, coalesce(sum(p.reserved), 0), 0, count(p.id)
       from users u left join uploads p on p.user_id = u.id and p.status = 'uploading' group by u.id
       having u.reserved_bytes <> coalesce(sum(p.reserved), 0)
     union all
     select 'reserved by space', s.id, s.reserved_bytes, coalesce(sum(p.reserved), 0), 0, count(p.id)
       from spaces s left join uploads p on p.space_id = s.id and p.status = 'uploading' group by s.id
       having s.reserved_bytes <> coalesce(sum(p.reserved), 0)
     union all
     select 'reserved by an ended upload', id, 0, reserved, 0, 1 from uploads where status <> 'uploading' and reserved <> 0`,
  );
}

/** Every user or space whose reserved bytes are not those of its unfinished uploads. */
export function wrongReservations({ databaseUrl }: { readonly databaseUrl: string }): Promise<object[]> {
  const wrong = (kind: string, key: string) =>
    `select '${kind}' as kind, o.id, o.reserved_bytes, coalesce(sum(u.reserved), 0) as sum
     from ${kind}s o left join uploads u on u.${key} = o.id and u.status = 'uploading'
     group by o.id, o.reserved_bytes having o.reserved_bytes <> coalesce(sum(u.reserved), 0)`;
  return rowsOf<object>(databaseUrl, `${wrong('user', 'user_id')} union all ${wrong('space', 'space_id')}`);
}

/** Files and variants without an object, and stored or rewritten objects without their file or variant, as `zone/key`. */
export async function wrongOwners({ databaseUrl }: { readonly databaseUrl: string }): Promise<string[]> {
  const rows = await rowsOf<{ place: string }>(
    databaseUrl,
    `select coalesce(f.zone || '/' || f.project_id || '/' || f.id, o.zone || '/' || o.project_id || '/' || o.id) as place
     from (select project_id, id as file_id, id, zone from ${keptFiles} kept
       union all select project_id, file_id, object_id, 'private' from variant_images where object_id is not null) f
     full join (select * from objects where state in ('stored', 'rewriting')) o
       on o.project_id = f.project_id and o.file_id = f.file_id and o.id = f.id and o.zone = f.zone
     where f.id is null or o.id is null`,
  );
  return rows.map((row) => row.place);
}

/** Projects whose total of cached variant images is not what they have, and images of recipes that no variant has. */
export const wrongImages = ({ databaseUrl }: { readonly databaseUrl: string }): Promise<object[]> =>
  rowsOf<object>(
    databaseUrl,
    `select project_id, sum(total)::int as total, sum(bytes)::int as bytes from (
       select project_id, bytes as total, 0 as bytes from stat_totals where dimension = 'variants'
       union all select project_id, bytes, 0 from stat_deltas where dimension = 'variants'
       union all select project_id, 0, coalesce(bytes, 0) from variant_images) known
     group by project_id having sum(total) <> sum(bytes)
     union all
     select i.project_id, null, i.bytes::int from variant_images i where not exists (
       select from variants v where v.project_id = i.project_id and v.recipe_id = i.recipe_id)`,
  );

/** Tags and views of files that differ from the file's row, from which triggers derive them. */
export function wrongCopies({ databaseUrl }: { readonly databaseUrl: string }): Promise<object[]> {
  const tagged = 'select project_id, user_id, tag, created_at, id from files, unnest(tags) tag';
  return rowsOf<object>(
    databaseUrl,
    `(${tagged} except table file_tags) union all (table file_tags except ${tagged})
     union all
     select project_id, user_id, view, created_at, id from files
       where ((view || 'null}')::jsonb @> jsonb_build_object('id', id, 'space_id', space_id, 'name', name, 'size', size,
         'folder', folder, 'tags', tags, 'classifier', classifier, 'metadata', metadata, 'visibility', visibility)) is not true`,
  );
}

/** Rows, objects and counters agree, and nothing is left to reap. Waits for deletions by a busy store. */
export async function expectBalanced(service: TestPakhus, projectId: string): Promise<void> {
  await until('every object is settled', async () => (await unsettledOf(service, projectId)) === 0);
  expect(await objectsOf(service, projectId), 'objects in the store against rows').toEqual(
    await placesOf(service, projectId),
  );
  const wrong = (await wrongOwners(service)).filter((place) => place.includes(projectId));
  expect(wrong, 'files and stored objects that do not belong together').toEqual([]);
  expect(await wrongCounters(service), 'counters that are not the sum').toEqual([]);
  expect(await wrongCopies(service), 'tags and views that are not as the file').toEqual([]);
}
