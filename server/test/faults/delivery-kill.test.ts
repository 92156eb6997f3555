// Copies, batches, folders, trash, expiry, holds, shares, zips and variants on two processes that are killed again and again, at
// random moments and in the middle of transactions. Whatever was confirmed holds, whatever was cut short is done or not done as a
// whole, and nothing else stays. DELIVERY_KILLS sets how many kills there are.
import { describe, expect, test } from 'vitest';
import { moveMisplaced } from '../../src/features/files/files.move.ts';
import { emptyTrash, removeExpired } from '../../src/features/files/files.upkeep.ts';
import { testMsMax } from '../support/bounds.ts';
import { rowsOf } from '../support/database.ts';
import { DeliveryClient, type Shared } from '../support/delivery-client.ts';
import { Instances } from '../support/instances.ts';
import { endHolds, expectBalanced, never, reapUntilDone } from '../support/ledger.ts';
import { startTestPakhus, type TestPakhus, testSecrets } from '../support/pakhus.ts';
import { until } from '../support/processes.ts';
import { storesFor } from '../support/stores.ts';
import { adminSession, createPlan, createTenant, createUser } from '../support/tenants.ts';

const asked = process.env.DELIVERY_KILLS;
/** Each costs the start of a process. */
const killsOn = (store: 'disk' | 's3'): number => Number(asked ?? (store === 'disk' ? 4 : 2));
const changesBetweenKills = 30;
const clientsOfProject = 4;
const bytesMax = 2_000_000;

interface Settled {
  readonly projectId: string;
  readonly clients: readonly DeliveryClient[];
}

/** A project with a trash, or without, and clients with a user each. */
async function openProject(
  service: TestPakhus,
  admin: string,
  instances: Instances,
  trash_days: number,
): Promise<Settled> {
  const { api, databaseUrl } = service;
  const { id, key } = await createTenant(api, admin);
  await createPlan(api, key, { storageLimit: bytesMax });
  expect((await api.put('/project/settings', key, { trash_days })).status).toBe(200);
  const variant = { name: 'small', format: 'webp', width: 32 };
  expect((await api.post('/project/variants', key, variant)).status).toBe(201);
  const clients: DeliveryClient[] = [];
  for (let nth = 0; nth < clientsOfProject; nth += 1) {
    const { id: userId } = await createUser(api, key);
    const home = { instances, databaseUrl, key, userId, keepsTrash: trash_days > 0, bytesMax };
    clients.push(new DeliveryClient(home));
  }
  return { projectId: id, clients };
}

/** Works on both processes until all kills have happened. */
async function killUnderLoad(
  service: TestPakhus,
  instances: Instances,
  clients: readonly DeliveryClient[],
  kills: number,
) {
  const changes = () => clients.reduce((sum, client) => sum + client.changes, 0);
  let isOver = false;
  const work = async (client: DeliveryClient) => {
    try {
      while (!isOver) {
        await instances.complete;
        await client.step();
      }
    } finally {
      // One that has failed ends the others, or nobody would hear of it before the last kill.
      isOver = true;
    }
  };
  const working = Promise.all(clients.map(work));
  // Told of below.
  working.catch(() => undefined);
  for (let kill = 0; kill < kills && !isOver; kill += 1) {
    const goal = changes() + changesBetweenKills;
    await until('enough has changed', async () => isOver || changes() >= goal);
    await dueNow(service, 'files.expire');
    if (asked && kill % 20 === 0) console.log(`${kill} kills, ${changes()} changes`);
    await instances.killOne();
  }
  isOver = true;
  await working;
}

/** Whichever process starts next runs the task. */
const dueNow = ({ databaseUrl }: TestPakhus, task: string) =>
  rowsOf(databaseUrl, `update schedules set due_at = now() where name = '${task}'`);

/** Everything that runs by itself has run. */
async function settle(service: TestPakhus): Promise<void> {
  const { deps } = service.pakhus;
  await endHolds(service);
  await until('nothing is left to expire', async () => {
    const left = await rowsOf(service.databaseUrl, 'select from files where expires_at is not null');
    await removeExpired(deps, never);
    return left.length === 0;
  });
  await emptyTrash(deps, never);
  await reapUntilDone(service);
  await moveMisplaced(deps, never);
  await reapUntilDone(service);
}

/** What the trash and the shares of a user must be, beside what the client has compared all the time. */
async function judge(service: TestPakhus, client: DeliveryClient): Promise<void> {
  const now = await client.look();
  const places = new Map(now.map(({ id, isTrashed }) => [id, isTrashed ? 'trash' : 'live']));
  const { keepsTrash, userId } = client.home;
  for (const id of client.expiring.keys())
    expect(places.get(id), `${id} has expired`).toBe(keepsTrash ? 'trash' : undefined);
  for (const id of client.aged.keys())
    expect(places.get(id), `${id} was in the trash for long`).toBeUndefined();
  await client.readBack(service.api);
  const rows = await rowsOf<{ id: string; file_id: string; downloads: number; max_downloads: number }>(
    service.databaseUrl,
    `select id, file_id, downloads, max_downloads from shares where user_id = '${userId}'`,
  );
  expect(rows.filter(({ file_id }) => !places.has(file_id))).toEqual([]);
  expect(rows.filter(({ downloads, max_downloads }) => downloads > max_downloads)).toEqual([]);
  const counted = new Map(rows.map(({ id, downloads }) => [id, downloads]));
  for (const shared of client.shares)
    if (places.has(shared.fileId)) judgeShare(shared, counted.get(shared.id));
}

function judgeShare({ id, completed, begun, max }: Shared, downloads = -1): void {
  expect(downloads, `downloads of ${id}`).toBeGreaterThanOrEqual(completed);
  expect(downloads, `downloads of ${id}`).toBeLessThanOrEqual(Math.min(begun, max));
}

/** How often each verb was confirmed and cut short. */
function tally(clients: readonly DeliveryClient[]): string {
  const sums = new Map<string, { done: number; cut: number }>();
  for (const [what, { done, cut }] of clients.flatMap(({ counts }) => [...counts])) {
    const sum = sums.get(what) ?? { done: 0, cut: 0 };
    sums.set(what, { done: sum.done + done, cut: sum.cut + cut });
  }
  return [...sums].map(([what, { done, cut }]) => `${what} ${done}, cut ${cut}`).join('; ');
}

describe.each(storesFor('delivery kills'))('on $name', (store) => {
  const kills = killsOn(store.name);
  test(`after ${kills} kills every copy, batch, folder, share and zip is whole or absent, and quotas are exact`, {
    timeout: testMsMax + kills * 20_000,
  }, async () => {
    const opened = await store.open();
    const service = await startTestPakhus({ ...opened.environment, ROLE: 'api' });
    const { databaseUrl, dataDir } = service;
    const environment = {
      ...testSecrets,
      ...opened.environment,
      DATA_DIR: dataDir,
      RATE_LIMIT_MAX: '1000000000',
      REAPER_GRACE_SECONDS: '1',
      REAPER_INTERVAL_SECONDS: '1',
    };
    const instances = new Instances(environment, databaseUrl);
    try {
      const admin = await adminSession(service.api);
      await instances.start();
      const projects = [
        await openProject(service, admin, instances, 30),
        await openProject(service, admin, instances, 0),
      ];
      const clients = projects.flatMap((project) => project.clients);
      await killUnderLoad(service, instances, clients, kills);
      console.log(`delivery kills on ${store.name}: ${tally(clients)}`);
      await settle(service);
      for (const client of clients) await judge(service, client);
      for (const { projectId } of projects) await expectBalanced(service, projectId);
      expect(await orphansIn(databaseUrl)).toEqual([]);
    } finally {
      await instances.stop();
      await service.stop();
      await opened.close();
    }
  });
});

/** Variants without their file, and public objects of trashed files. */
const orphansIn = (databaseUrl: string): Promise<object[]> =>
  rowsOf<object>(
    databaseUrl,
    `select 'variant' as kind, file_id from variant_images v
       where not exists (select from files f where f.project_id = v.project_id and f.id = v.file_id)
         and not exists (select from trashed_files t where t.project_id = v.project_id and t.id = v.file_id)
     union all select 'public in the trash', id from trashed_files where zone = 'public'`,
  );
