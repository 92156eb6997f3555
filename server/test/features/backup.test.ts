// Runs the backup and the restore of docs/operations.md while the service is in use.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { afterEach, expect, inject, test } from 'vitest';
import type { Api } from '../support/api.ts';
import { copyObjects, dumpDatabase } from '../support/backup.ts';
import { bytesOf, sha256 } from '../support/bytes.ts';
import { dropDatabase, freshDatabase, onServer, rowsOf, withDatabase } from '../support/database.ts';
import { expectBalanced, objectsOf, placesOf, reapAll } from '../support/ledger.ts';
import { startTestPakhus } from '../support/pakhus.ts';
import { until } from '../support/processes.ts';
import { adminSession, createTenant, createUser } from '../support/tenants.ts';
import { upload } from '../support/uploads.ts';

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'pakhus-backup-'));
  cleanUps.push(() => rm(made, { recursive: true, force: true }));
  return made;
}

async function emptyDatabase(): Promise<string> {
  const server = inject('databaseServer');
  const name = `pakhus_restore_${randomBytes(6).toString('hex')}`;
  await onServer(server, `create database ${name} template template0`);
  cleanUps.push(() => dropDatabase(server, name));
  return withDatabase(server, name);
}

/** Null if the bytes are gone. */
async function digestOf(api: Api, at: string, key: string): Promise<string | null> {
  const { file } = (await api.get(at, key)).body;
  const download = await request(file.url);
  const bytes = Buffer.from(await download.body.arrayBuffer());
  return download.statusCode === 200 ? sha256(bytes) : null;
}

test('backup: a backup under load, database first, then objects, restores every row with its bytes and nothing else', async () => {
  const source = await startTestPakhus({ REAPER_INTERVAL_SECONDS: '1' });
  cleanUps.push(() => source.stop());
  const { api } = source;
  const { id, key } = await createTenant(api, await adminSession(api));
  const path = `/project/users/${(await createUser(api, key)).id}`;
  const stored = new Map<string, string>();
  const deleting = new Set<string>();
  let over = false;
  const client = async (seed: number) => {
    for (let nth = 0; !over; nth += 1) {
      const bytes = bytesOf(500 + nth, seed);
      const visibility = nth % 3 === 0 ? 'public' : 'private';
      const reply = await upload(api, key, path, bytes, { meta: { visibility } });
      expect(reply.status, reply.text).toBe(201);
      stored.set(reply.body.file.id, sha256(bytes));
      const doomed = nth % 2 === 0 ? [...stored.keys()].find((one) => !deleting.has(one)) : undefined;
      if (doomed === undefined) continue;
      deleting.add(doomed);
      expect((await api.delete(`${path}/files/${doomed}`, key)).status).toBe(204);
    }
  };
  const working = Promise.all([1, 2, 3, 4].map(client));
  const more = async (count: number) => {
    const before = stored.size;
    await until('more is stored', async () => stored.size > before + count);
  };

  const copy = await folder();
  const live = join(source.dataDir, 'objects');
  await more(40);
  // Last night's copy, to which today's adds the new objects.
  await copyObjects(live, join(copy, 'objects'));
  await more(20);
  const confirmed = [...stored.keys()];
  const dump = await dumpDatabase(source.databaseUrl, copy);
  await more(20);
  await copyObjects(live, join(copy, 'objects'));
  await more(20);
  over = true;
  await working;
  console.log(`backup: dumped by ${dump.by}`);

  const dataDir = await folder();
  const migrated = await freshDatabase();
  cleanUps.push(() => migrated.drop());
  const empty = await emptyDatabase();
  await copyObjects(join(copy, 'objects'), join(dataDir, 'objects'));
  await dump.restore({ empty, migrated: migrated.url });
  const databaseUrl = dump.by === 'pg_dump' ? empty : migrated.url;
  // Only the API for now: nothing may be reaped before the check.
  const instance = await source.another({ DATABASE_URL: databaseUrl, DATA_DIR: dataDir, ROLE: 'api' });
  cleanUps.push(() => instance.stop());
  const restored = { ...instance, databaseUrl, dataDir };

  const rows = await rowsOf<{ id: string; digest: string }>(
    databaseUrl,
    `select id, encode(sha256, 'hex') as digest from files`,
  );
  const known = new Set(rows.map((row) => row.id));
  expect(rows.length).toBeGreaterThan(30);
  let without = 0;
  for (const row of rows) {
    const at = `${path}/files/${row.id}`;
    const digest = await digestOf(restored.api, at, key);
    if (digest !== null) {
      expect(digest, row.id).toBe(row.digest);
      if (stored.has(row.id)) expect(digest).toBe(stored.get(row.id));
      continue;
    }
    // Its owner deleted it between dump and copy, so the restore deletes it too.
    expect(deleting.has(row.id), `${row.id} has no bytes, but nobody deleted it`).toBe(true);
    expect((await restored.api.delete(at, key)).status).toBe(204);
    without += 1;
  }
  const lost = confirmed.filter((one) => !known.has(one) && !deleting.has(one));
  expect(without).toBeLessThan(rows.length);
  expect(lost, 'confirmed before the dump began, and not in it').toEqual([]);
  console.log(`backup: ${rows.length} rows restored, ${without} of them deleted by their owners since`);

  // Objects stored after the dump have no row: recorded in the ledger, the reaper deletes them.
  const owned = new Set(await placesOf(restored));
  const extras = (await objectsOf(restored)).filter((place) => !owned.has(place));
  expect(extras.length).toBeGreaterThan(0);
  await rowsOf(
    databaseUrl,
    `insert into objects (project_id, file_id, id, zone, state, held_until)
     select split_part(place, '/', 2)::uuid, split_part(place, '/', 3)::uuid, split_part(place, '/', 3)::uuid,
       split_part(place, '/', 1), 'deleting', now()
     from unnest('{${extras.join(',')}}'::text[]) place on conflict do nothing`,
  );
  await reapAll(restored);
  await expectBalanced(restored, id);
  expect((await upload(restored.api, key, path, bytesOf(10))).status).toBe(201);
});
