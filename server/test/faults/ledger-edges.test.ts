// Takes objects through every edge of the state diagram in docs/object-ledger.md. Processes are killed, or suspended, while an
// object is in a given state; a survivor and the reaper must settle it.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import type { ObjectStore } from '../../src/platform/objects/object-store.ts';
import { createS3Store } from '../../src/platform/objects/s3/s3-store.ts';
import { type Api, apiOf } from '../support/api.ts';
import { bytesOf } from '../support/bytes.ts';
import { freshDatabase, onServer, rowsOf, waitersIn } from '../support/database.ts';
import { blankPng } from '../support/image-files.ts';
import { endHolds, wrongCounters, wrongOwners } from '../support/ledger.ts';
import { testSecrets } from '../support/pakhus.ts';
import { type PakhusProcess, startProcess } from '../support/process.ts';
import { until } from '../support/processes.ts';
import { openRawPost } from '../support/raw-client.ts';
import { sendFile } from '../support/send-file.ts';
import { diskStoreIn, keysIn, storesFor } from '../support/stores.ts';
import { adminSession, createPlan, createTenant, createUser } from '../support/tenants.ts';
import { drawnTransitions, keepTransitions, seenTransitions } from '../support/transitions.ts';
import { patchTus, startTus, tusVersion } from '../support/tus.ts';
import { contentTypeOf, formOf, partsOf, upload } from '../support/uploads.ts';

const image = blankPng(64, 48);
const large = bytesOf(600_000, 1);

/** Places where the database can hold up a statement, so that its process is caught in a known state. */
const gates = {
  commit: 'before insert on files',
  finishMove: 'before update of zone on files',
  noteResult: 'before update of result_sha256 on compression_jobs',
  forget: 'before delete on objects',
} as const;
type Gate = keyof typeof gates;

const buildGates = (url: string): Promise<unknown> =>
  onServer(
    url,
    `create function pass_gate() returns trigger language plpgsql as $$ begin
       perform pg_advisory_xact_lock_shared(1, hashtext(tg_argv[0]));
       return coalesce(new, old);
     end $$;
     ${Object.entries(gates)
       .map(
         ([name, on]) =>
           `create trigger gate_${name} ${on} for each row execute function pass_gate('${name}');`,
       )
       .join('')}`,
  );

/** Runs `meanwhile` once as many statements as `waiters` wait at the gate, and lets them pass afterwards. */
async function atGate(
  url: string,
  gate: Gate,
  start: () => unknown,
  meanwhile: () => Promise<void>,
  waiters = 1,
): Promise<void> {
  const keeper = new pg.Client({ connectionString: url });
  await keeper.connect();
  try {
    await keeper.query('select pg_advisory_lock(1, hashtext($1))', [gate]);
    const started = start();
    await until(`${waiters} statements wait at ${gate}`, async () => (await waitersIn(url)) >= waiters);
    await meanwhile();
    await keeper.query('select pg_advisory_unlock_all()');
    await started;
  } finally {
    await keeper.end();
  }
}

/** kill -9, with the statements that wait for a lock: the server would finish them without their client. */
async function killWithStatements(url: string, victim: PakhusProcess): Promise<void> {
  await victim.kill();
  await onServer(
    url,
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`,
  );
  await until('no statement waits', async () => (await waitersIn(url)) === 0);
}

for (const choice of storesFor('every edge of the ledger')) {
  // Both at once: they mostly wait.
  describe.concurrent(`on ${choice.name}`, () => {
    test('objects: every transition that the diagram shows happens, and no other', async () => {
      const database = await freshDatabase();
      const dataDir = await mkdtemp(join(tmpdir(), 'pakhus-edges-'));
      const opened = await choice.open();
      const store = opened.buckets ? createS3Store(opened.buckets.options) : diskStoreIn(dataDir);
      const environment = {
        ...testSecrets,
        ...opened.environment,
        DATABASE_URL: database.url,
        DATA_DIR: dataDir,
        REAPER_INTERVAL_SECONDS: '1',
        IMAGE_CONCURRENCY: '3',
      };
      const processes: PakhusProcess[] = [];
      const start = async (role: 'api' | 'worker') => {
        const started = await startProcess({ ...environment, ROLE: role });
        processes.push(started);
        return started;
      };
      try {
        await keepTransitions(database.url);
        await buildGates(database.url);
        await walkTheDiagram({ url: database.url, store, start });
        expect(await wrongOwners({ databaseUrl: database.url })).toEqual([]);
        expect(await wrongCounters({ databaseUrl: database.url })).toEqual([]);
        expect(await seenTransitions(database.url)).toEqual(await drawnTransitions());
      } finally {
        for (const { child } of processes) child.kill('SIGKILL');
        await store.close();
        await database.drop();
        await opened.close();
        await rm(dataDir, { recursive: true, force: true });
      }
    });
  });
}

interface Scene {
  readonly url: string;
  readonly store: ObjectStore;
  start(role: 'api' | 'worker'): Promise<PakhusProcess>;
}

interface Tenant {
  readonly key: string;
  readonly userId: string;
  readonly path: string;
}

async function walkTheDiagram(scene: Scene): Promise<void> {
  const survivor = apiOf((await scene.start('api')).baseUrl);
  const tenant = await openTenant(survivor);
  await killUploads(scene, survivor, tenant);
  await refuseUploads(scene, survivor);
  await killMove(scene, survivor, tenant);
  await killDeletion(scene, survivor, tenant);
  await killRewrites(scene, survivor, tenant);
  await settle(scene);
  await suspendRewrite(scene, survivor, tenant);
  await settle(scene);
}

async function openTenant(api: Api): Promise<Tenant> {
  const { key } = await createTenant(api, await adminSession(api));
  const { id } = await createUser(api, key);
  return { key, userId: id, path: `/project/users/${id}` };
}

const stateOf = async ({ url }: Scene, fileId: string): Promise<string[]> =>
  (
    await rowsOf<{ state: string }>(url, `select state from objects where file_id = '${fileId}' order by 1`)
  ).map(({ state }) => state);

const countIn = async ({ url }: Scene, state: string): Promise<number> =>
  (await rowsOf(url, `select from objects where state = '${state}'`)).length;

/** A small upload dies before its commit, a large one while it arrives. */
async function killUploads(scene: Scene, survivor: Api, { key, path, userId }: Tenant): Promise<void> {
  const small = await scene.start('api');
  const lost = () => upload(apiOf(small.baseUrl), key, path, 'small').catch(() => undefined);
  await atGate(scene.url, 'commit', lost, () => killWithStatements(scene.url, small));
  expect(await countIn(scene, 'reserved')).toBe(1);

  // Its object is written from the first chunk on.
  const unfinished = await startTus(survivor, key, userId, { size: 10 });
  expect((await patchTus(survivor, unfinished, 0, Buffer.from('half'))).status).toBe(204);
  expect((await survivor.call('DELETE', unfinished, { headers: tusVersion })).status).toBe(204);

  const streaming = await scene.start('api');
  const form = formOf(partsOf(large));
  const client = await openRawPost(streaming.baseUrl, {
    path: `${path}/files`,
    as: key,
    headers: [`Content-Type: ${contentTypeOf()}`, `Content-Length: ${form.length}`],
  });
  await client.write(form.subarray(0, 400_000));
  await until('the object is being written', async () => (await countIn(scene, 'writing')) === 1);
  await streaming.kill();

  // A large file is private until its whole form has arrived: a public one is copied, and the first object forgotten.
  for (const visibility of ['private', 'public'])
    expect((await upload(survivor, key, path, large, { meta: { visibility } })).status).toBe(201);
  expect(await countIn(scene, 'writing')).toBe(1);
}

/** Two uploads for which there is room for one: both are written, the second is refused at its commit. */
async function refuseUploads(scene: Scene, survivor: Api): Promise<void> {
  const { key, path } = await openTenant(survivor);
  await createPlan(survivor, key, { storageLimit: 10 });
  const statuses: number[] = [];
  const send = async () => {
    statuses.push((await upload(survivor, key, path, 'six...')).status);
  };
  await atGate(
    scene.url,
    'commit',
    () => Promise.all([send(), send()]),
    async () => undefined,
    2,
  );
  expect(statuses.sort()).toEqual([201, 422]);
}

/** A move dies with its copy written; then the file is deleted. */
async function killMove(scene: Scene, survivor: Api, { key, userId, path }: Tenant): Promise<void> {
  const fileId = await sendFile(survivor, key, userId);
  const mover = await scene.start('api');
  const move = () =>
    apiOf(mover.baseUrl)
      .put(`${path}/files/${fileId}`, key, { visibility: 'public' })
      .catch(() => undefined);
  await atGate(scene.url, 'finishMove', move, () => killWithStatements(scene.url, mover));
  expect(await stateOf(scene, fileId)).toEqual(['moving', 'stored']);
  expect((await survivor.delete(`${path}/files/${fileId}`, key)).status).toBe(204);
  expect(await stateOf(scene, fileId)).toContain('deleting');
}

/** A deletion dies after the store has deleted the object. */
async function killDeletion(scene: Scene, survivor: Api, { key, userId, path }: Tenant): Promise<void> {
  const fileId = await sendFile(survivor, key, userId);
  const deleter = await scene.start('api');
  const remove = () =>
    apiOf(deleter.baseUrl)
      .delete(`${path}/files/${fileId}`, key)
      .catch(() => undefined);
  await atGate(scene.url, 'forget', remove, () => killWithStatements(scene.url, deleter));
  expect(await stateOf(scene, fileId)).toEqual(['deleting']);
}

/** Resolves to the ids of images whose worker was caught while it rewrites their objects. */
async function catchRewriting(
  { url, start }: Scene,
  survivor: Api,
  { key, userId }: Tenant,
  images: number,
  seize: (worker: PakhusProcess) => Promise<void>,
): Promise<string[]> {
  const worker = await start('worker');
  const send = () => sendFile(survivor, key, userId, { bytes: image, type: 'image/png', as: 'image' });
  const sent = Promise.all(Array.from({ length: images }, send));
  await atGate(
    url,
    'noteResult',
    () => sent,
    () => seize(worker),
    images,
  );
  return sent;
}

/** A worker dies while it rewrites: one image is deleted, one moves there and back, one is left to the reaper. */
async function killRewrites(scene: Scene, survivor: Api, tenant: Tenant): Promise<void> {
  const { key, path } = tenant;
  const ids = await catchRewriting(scene, survivor, tenant, 3, (worker) => worker.kill());
  const [deleted = '', moved = '', kept = ''] = ids;
  for (const fileId of [deleted, moved, kept]) expect(await stateOf(scene, fileId)).toEqual(['rewriting']);

  expect((await survivor.delete(`${path}/files/${deleted}`, key)).status).toBe(204);
  expect(await stateOf(scene, deleted)).toEqual(['deleting']);

  const show = (visibility: string) => survivor.put(`${path}/files/${moved}`, key, { visibility });
  expect((await show('public')).status).toBe(200);
  // The dead worker's last write may still arrive: the row stays until then.
  expect(await stateOf(scene, moved)).toEqual(['deleting', 'stored']);
  await rowsOf(scene.url, `update objects set late_until = now() where file_id = '${moved}'`);
  expect((await show('private')).status).toBe(200);
  expect(await stateOf(scene, moved)).toEqual(['stored']);
}

/** A worker sleeps through the deletion of its image and the reaper's work, and writes its result afterwards. */
async function suspendRewrite(scene: Scene, survivor: Api, tenant: Tenant): Promise<void> {
  let sleeper: PakhusProcess | undefined;
  const [fileId = ''] = await catchRewriting(scene, survivor, tenant, 1, async (worker) => {
    worker.child.kill('SIGSTOP');
    sleeper = worker;
  });
  expect((await survivor.delete(`${tenant.path}/files/${fileId}`, tenant.key)).status).toBe(204);
  await settle(scene);
  expect(await stateOf(scene, fileId)).toEqual([]);
  sleeper?.child.kill('SIGCONT');
  await until(
    'the worker notices',
    async () =>
      (await rowsOf(scene.url, "select from transitions where step = 'none to deleting'")).length > 0,
  );
  await until('it cleans up', async () => (await stateOf(scene, fileId)).length === 0);
  expect(await sleeper?.stop()).toBe(0);
}

/** Time passes, and a worker settles everything. */
async function settle(scene: Scene): Promise<void> {
  await endHolds({ databaseUrl: scene.url });
  const worker = await scene.start('worker');
  await until('every object is settled', async () => {
    await endHolds({ databaseUrl: scene.url });
    return (await rowsOf(scene.url, "select from objects where state <> 'stored'")).length === 0;
  });
  await worker.stop();
  const owned = await rowsOf<{ key: string }>(scene.url, 'select storage_key as key from files order by 1');
  expect(await keysIn(scene.store)).toEqual(owned.map(({ key }) => key));
}
