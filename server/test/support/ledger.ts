// Compares what the system of record says with what the store holds: the invariants of every upload and delete.
import { expect } from 'vitest';
import { reap } from '../../src/features/files/files.reaper.ts';
import { inBackground } from '../../src/platform/db/postgres.ts';
import { rowsOf } from './database.ts';
import type { TestPakhus } from './pakhus.ts';
import { until } from './processes.ts';

export const never = new AbortController().signal;

/** Every object, or those of one project, as `zone/key`. */
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

export async function doomedOf({ databaseUrl }: TestPakhus, projectId: string): Promise<number> {
  const rows = await rowsOf(
    databaseUrl,
    `select 1 from doomed_objects where storage_key like '${projectId}/%'`,
  );
  return rows.length;
}

/** Makes every doomed object due, as if the grace had passed, and reaps. */
export async function reapAll(service: TestPakhus): Promise<void> {
  await rowsOf(service.databaseUrl, `update doomed_objects set due_at = now() - interval '1 second'`);
  await reapOn(service);
}

/** As the schedule runs it: without the bound that a request has. */
export const reapOn = ({ pakhus: { deps } }: TestPakhus): Promise<number> =>
  reap({ ...deps, db: inBackground(deps.db) }, never);

/** The same until nothing is left: what a busy store did not delete in time is tried again at once. */
export async function reapUntilDone(service: TestPakhus): Promise<void> {
  await until('nothing is doomed', async () => {
    await reapAll(service);
    return (await rowsOf(service.databaseUrl, 'select from doomed_objects limit 1')).length === 0;
  });
}

/** Every counter that differs from the number of the rows or the sum of their sizes, of users and of spaces. */
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

/** Rows, objects and counters agree, and nothing is left to reap: what a busy store still removes is awaited. */
export async function expectBalanced(service: TestPakhus, projectId: string): Promise<void> {
  await until('no doomed object', async () => (await doomedOf(service, projectId)) === 0);
  expect(await objectsOf(service, projectId), 'objects in the store against rows').toEqual(
    await placesOf(service, projectId),
  );
  expect(await wrongCounters(service), 'counters that are not the sum').toEqual([]);
}
