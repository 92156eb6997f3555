// Compares the database with the store: the invariants of every upload and delete.
import { expect } from 'vitest';
import { reap } from '../../src/features/objects/objects.reaper.ts';
import { inBackground } from '../../src/platform/db/postgres.ts';
import { rowsOf } from './database.ts';
import type { TestPakhus } from './pakhus.ts';
import { until } from './processes.ts';

export const never = new AbortController().signal;

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
    `select zone || '/' || storage_key as place from files where storage_key like '${projectId}%'`,
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
export const endHolds = ({ databaseUrl }: { readonly databaseUrl: string }): Promise<object[]> =>
  rowsOf<object>(
    databaseUrl,
    `update objects set held_until = now() - interval '1 second', late_until = null where state <> 'stored'`,
  );

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

/** Every counter of a user or space that differs from the count or total size of its rows. */
export function wrongCounters({ databaseUrl }: { readonly databaseUrl: string }): Promise<object[]> {
  return rowsOf<object>(
    databaseUrl,
    `select 'user' as kind, u.id, u.used_bytes, coalesce(sum(f.size), 0) as sum, u.file_count, count(f.id) as files
       from users u left join files f on f.user_id = u.id group by u.id
       having u.used_bytes <> coalesce(sum(f.size), 0) or u.file_count <> count(f.id)
     union all
     select 'space', s.id, s.used_bytes, coalesce(sum(f.size), 0), s.file_count, count(f.id)
       from spaces s left join files f on f.space_id = s.id group by s.id
       having s.used_bytes <> coalesce(sum(f.size), 0) or s.file_count <> count(f.id)`,
  );
}

/** Files without an object, and stored or rewritten objects without a file, as `zone/key`. */
export async function wrongOwners({ databaseUrl }: { readonly databaseUrl: string }): Promise<string[]> {
  const rows = await rowsOf<{ place: string }>(
    databaseUrl,
    `select coalesce(f.zone || '/' || f.storage_key, o.zone || '/' || o.project_id || '/' || o.id) as place
     from files f full join (select * from objects where state in ('stored', 'rewriting')) o
       on o.project_id = f.project_id and o.file_id = f.id and o.id = f.id and o.zone = f.zone
     where f.id is null or o.id is null`,
  );
  return rows.map((row) => row.place);
}

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
