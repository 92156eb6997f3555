// Random changes on two processes that are killed again and again, as are their database connections. Afterwards the feed has
// what the audit log has: nothing is missing, nothing is told twice, every reader sees the same order, and a webhook got each of
// them. EVENT_KILLS sets how many kills there are.
import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Api, apiOf } from '../support/api.ts';
import { testMsMax } from '../support/bounds.ts';
import { cutConnections, freshDatabase } from '../support/database.ts';
import { auditedEvents, eventsOfAudit, readFeed, type ShownEvent } from '../support/feed.ts';
import { testSecrets } from '../support/pakhus.ts';
import { type PakhusProcess, startProcess } from '../support/process.ts';
import { until } from '../support/processes.ts';
import { startReceiver } from '../support/receiver.ts';
import { trySendFile } from '../support/send-file.ts';
import {
  adminSession,
  createPlan,
  createTenant,
  createUser,
  type Tenant,
  unique,
} from '../support/tenants.ts';
import { unlessGone } from '../support/unless-gone.ts';
import { createWebhook } from '../support/webhooks.ts';

const kills = Number(process.env.EVENT_KILLS ?? 2);
const clients = 6;
const changesBetweenKills = 40;

const pick = <Item>(items: readonly Item[]): Item => items[randomInt(items.length)] as Item;

interface World {
  readonly tenant: Tenant;
  readonly users: string[];
  readonly files: { readonly user: string; readonly id: string }[];
  /** A process that runs. */
  api(): Api;
  changes: number;
}

/** One random change. What it did is in the audit log, whether or not its answer arrived. */
async function change(world: World): Promise<void> {
  const { tenant, users, files } = world;
  const api = world.api();
  const user = pick(users);
  const path = `/project/users/${user}`;
  const file = files.length > 0 && randomInt(3) > 0 ? pick(files) : null;
  const send = async () => {
    const reply = await unlessGone(() => trySendFile(api, tenant.key, user));
    if (reply?.status === 201) files.push({ user, id: reply.body.file.id });
    return reply;
  };
  const createOne = async () => {
    const reply = await unlessGone(() => api.post('/project/users', tenant.key, { externalId: unique('u') }));
    if (reply?.status === 201) users.push(reply.body.user.id);
    return reply;
  };
  const fileAt = file && `/project/users/${file.user}/files/${file.id}`;
  const changeOne = () => unlessGone(() => api.put(fileAt as string, tenant.key, { tags: [unique('t')] }));
  const deleteOne = () => unlessGone(() => api.delete(fileAt as string, tenant.key));
  const suspend = () => unlessGone(() => api.put(path, tenant.key, { active: true }));
  const space = () =>
    unlessGone(() => api.post(`${path}/spaces`, tenant.key, { external_id: unique('s'), name: 'a space' }));
  const reply = await pick(fileAt ? [changeOne, deleteOne] : [send, send, send, createOne, suspend, space])();
  if (reply) expect([200, 201, 204, 404, 503], reply.text).toContain(reply.status);
  world.changes += 1;
}

/** A process, or the connections of all of them. */
async function killSomething(processes: (PakhusProcess | null)[], environment: Record<string, string>) {
  const at = randomInt(3);
  if (at === 2) {
    await cutConnections(environment.DATABASE_URL as string);
    return;
  }
  const victim = processes[at] as PakhusProcess;
  processes[at] = null;
  await victim.kill();
  processes[at] = await startProcess(environment);
}

test(`events: after ${kills} kills the feed equals the audit log, in one order for every reader`, {
  timeout: testMsMax + kills * 20_000,
}, async () => {
  const database = await freshDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'pakhus-events-'));
  const environment = {
    ...testSecrets,
    DATABASE_URL: database.url,
    DATA_DIR: folder,
    WEBHOOK_ALLOW_PRIVATE: 'true',
  };
  const receiver = await startReceiver();
  const processes: (PakhusProcess | null)[] = [
    await startProcess(environment),
    await startProcess(environment),
  ];
  const api = () => apiOf(pick(processes.filter((each) => each !== null)).baseUrl);
  try {
    const tenant = await createTenant(api(), await adminSession(api()));
    await createPlan(api(), tenant.key);
    const feed = await readFeed(api(), tenant.key);
    await createWebhook(api(), tenant.key, receiver.url);
    const first = await createUser(api(), tenant.key);
    const world: World = { tenant, users: [first.id], files: [], api, changes: 0 };
    let isOver = false;
    const client = async () => {
      while (!isOver) await change(world);
    };
    const working = Promise.all(Array.from({ length: clients }, client));
    for (let kill = 0; kill < kills; kill += 1) {
      const goal = world.changes + changesBetweenKills;
      await until('enough has changed', async () => world.changes >= goal);
      await killSomething(processes, environment);
    }
    isOver = true;
    await working;

    const demanded = await eventsOfAudit(database.url, tenant.id);
    expect(demanded.length).toBeGreaterThan(kills * 10);
    const readAll = async (limit: number) => {
      const reader = await readFeed(api(), tenant.key, `&limit=${limit}`, feed.cursor);
      const events: ShownEvent[] = [];
      for (let audited = 0; audited < demanded.length; ) {
        const more = await reader.next(1);
        events.push(...more);
        audited += auditedEvents(more).length;
      }
      return events;
    };
    const events = await readAll(7);
    expect(auditedEvents(events)).toEqual(demanded);
    expect((await readAll(1_000)).map(({ id }) => id)).toEqual(events.map(({ id }) => id));
    await until('the webhook got all', async () => new Set(receiver.ids).size >= events.length);
    expect([...new Set(receiver.ids)].sort()).toEqual(events.map(({ id }) => id).sort());
  } finally {
    await receiver.stop();
    for (const each of processes) await each?.stop();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  }
});
