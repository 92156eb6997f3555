// Workers that are killed without warning while they deliver: every event arrives, some of them twice, with the same id.
import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { repetitions } from '../support/bounds.ts';
import { onServer } from '../support/database.ts';
import { startTestPakhus, type TestPakhus, testSecrets } from '../support/pakhus.ts';
import { type PakhusProcess, startProcess } from '../support/process.ts';
import { until } from '../support/processes.ts';
import { ok, type Receiver, startReceiver } from '../support/receiver.ts';
import { adminSession, createTenant, createUser } from '../support/tenants.ts';
import { createWebhook, deliveriesUntil } from '../support/webhooks.ts';

const kills = repetitions(50, 2);

let api: TestPakhus;
let receiver: Receiver;

beforeAll(async () => {
  api = await startTestPakhus({ ROLE: 'api', WEBHOOK_ALLOW_PRIVATE: 'true' });
  receiver = await startReceiver();
});
afterAll(async () => {
  await api.stop();
  await receiver.stop();
});

const startWorker = (): Promise<PakhusProcess> =>
  startProcess({
    ...testSecrets,
    ROLE: 'worker',
    DATABASE_URL: api.databaseUrl,
    DATA_DIR: api.dataDir,
    WEBHOOK_ALLOW_PRIVATE: 'true',
  });

/** As if the time of the leases had passed. */
const endLeases = () =>
  onServer(
    api.databaseUrl,
    `update webhooks set lease_until = now() - interval '1 second', due_at = '-infinity' where lease_token is not null`,
  );

async function feedOf(key: string): Promise<{ id: string }[]> {
  const events = [];
  for (let query = 'from=oldest'; ; ) {
    const { body } = await api.api.get(`/project/events?limit=1000&${query}`, key);
    if (body.events.length === 0) return events;
    events.push(...body.events);
    query = `cursor=${body.next_cursor}`;
  }
}

test('a worker killed after it has sent an event and before it has recorded it: the event comes again, with the same id', async () => {
  const { key } = await createTenant(api.api, await adminSession(api.api));
  const webhook = await createWebhook(api.api, key, receiver.url);
  receiver.answer = () => undefined;
  const first = await startWorker();
  await createUser(api.api, key);
  await receiver.receives(1);
  await first.kill();
  receiver.answer = ok;
  await endLeases();
  const second = await startWorker();
  const [one, again] = await receiver.receives(2);
  expect(again?.headers['webhook-id']).toBe(one?.headers['webhook-id']);
  expect(again?.text).toBe(one?.text);
  const [delivery] = await deliveriesUntil('recorded', api.api, key, webhook, (all) => all.length > 0);
  expect(delivery).toMatchObject({ status: 'succeeded', event_id: one?.event.id });
  expect(await second.stop()).toBe(0);
  await api.api.delete(webhook.path, key);
});

test(`after ${kills} kills of the worker, the receiver has every event of the feed`, async () => {
  const { key } = await createTenant(api.api, await adminSession(api.api));
  await createWebhook(api.api, key, receiver.url);
  receiver.got.length = 0;
  let isOver = false;
  const change = async () => {
    while (!isOver) await createUser(api.api, key);
  };
  const changing = Promise.all(Array.from({ length: 3 }, change));
  for (let kill = 0; kill < kills; kill += 1) {
    const worker = await startWorker();
    const enough = receiver.got.length + randomInt(1, 40);
    await until('it delivers', async () => receiver.got.length >= enough);
    await worker.kill();
    await endLeases();
  }
  isOver = true;
  await changing;
  const last = await startWorker();
  const feed = await feedOf(key);
  await until('every event has come', async () => new Set(receiver.ids).size >= feed.length);
  expect([...new Set(receiver.ids)].sort()).toEqual(feed.map(({ id }) => id).sort());
  const bodies = new Map(feed.map((event) => [event.id, event]));
  for (const { event } of receiver.got) expect(event).toEqual(bodies.get(event.id));
  expect(await last.stop()).toBe(0);
});
