import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WebhookBounds } from '../../src/contract/webhook.ts';
import { onServer, rowsOf } from '../support/database.ts';
import { outboxTo } from '../support/mail.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { until } from '../support/processes.ts';
import { ok, type Receiver, startReceiver, status } from '../support/receiver.ts';
import { adminSession, createTenant, createUser, type Tenant } from '../support/tenants.ts';
import {
  createWebhook,
  type Delivery,
  deliveriesOf,
  deliveriesUntil,
  type TestWebhook,
} from '../support/webhooks.ts';

const hourMs = 3_600_000;

let service: TestPakhus;
/** Tests may move its clock forward. */
let on: TestPakhus;
let admin: string;
const receivers: Receiver[] = [];

beforeAll(async () => {
  [service, on] = await Promise.all([start({ METRICS_PORT: '0' }), start()]);
  admin = await adminSession(service.api);
});
afterAll(async () => {
  await Promise.all([service.stop(), on.stop()]);
  await Promise.all(receivers.map((receiver) => receiver.stop()));
});

const start = (environment: Record<string, string> = {}, webhookBounds: Partial<WebhookBounds> = {}) =>
  startTestPakhus({ WEBHOOK_ALLOW_PRIVATE: 'true', ...environment }, undefined, {
    webhookBounds: { pollMs: 20, lingerMs: 50, ...webhookBounds },
  });

async function receiver(...options: Parameters<typeof startReceiver>): Promise<Receiver> {
  const started = await startReceiver(...options);
  receivers.push(started);
  return started;
}

interface Hooked extends Tenant {
  readonly on: TestPakhus;
  readonly to: Receiver;
  readonly webhook: TestWebhook;
}

/** A tenant with a webhook to a receiver. */
async function hooked(answer = ok, fields: object = {}, on = service): Promise<Hooked> {
  const tenant = await createTenant(on.api, on === service ? admin : await adminSession(on.api));
  const to = await receiver({ answer });
  return { ...tenant, on, to, webhook: await createWebhook(on.api, tenant.key, to.url, fields) };
}

/** Changes something, and returns the id of what was changed. */
const change = async ({ key, on }: Pick<Hooked, 'key' | 'on'>): Promise<string> =>
  (await createUser(on.api, key)).id;

const deliveriesWhen = (what: string, { on, key, webhook }: Hooked, isWanted: (all: Delivery[]) => boolean) =>
  deliveriesUntil(what, on.api, key, webhook, isWanted);

const newest = ({ on, key, webhook }: Hooked) => deliveriesOf(on.api, key, webhook).then(([first]) => first);

const viewOf = async ({ on, key, webhook }: Hooked) => (await on.api.get(webhook.path, key)).body.webhook;

const verify = (secret: string, { text, headers }: { text: string; headers: object }) =>
  new Webhook(secret).verify(text, headers as Record<string, string>);

describe('events', () => {
  test('every event comes once, in the order of the feed, signed so that the standardwebhooks package accepts it', async () => {
    const own = await hooked();
    const users: string[] = [];
    for (let n = 0; n < 20; n += 1) users.push(await change(own));
    const got = await own.to.receives(20);
    expect(got.map(({ event }) => event.data.id)).toEqual(users);
    const feed = await service.api.get('/project/events?from=oldest', own.key);
    expect(got.map(({ event }) => event)).toEqual(feed.body.events);
    for (const received of got) {
      expect(verify(own.webhook.secret, received)).toEqual(received.event);
      expect(received.headers['webhook-id']).toBe(received.event.id);
      expect(received.headers['content-type']).toBe('application/json');
      expect(received.headers['user-agent']).toMatch(/^Pakhus-Webhooks\/\d/);
    }
    const deliveries = await deliveriesWhen('all are recorded', own, (all) => all.length === 20);
    expect(deliveries.map(({ event_id }) => event_id).reverse()).toEqual(own.to.ids);
    expect(deliveries[0]).toMatchObject({
      type: 'user.created',
      status: 'succeeded',
      attempts: 1,
      response_status: 200,
      response_body: 'ok',
      error: null,
      next_try_at: null,
    });
  });

  test('consecutive deliveries share a connection', async () => {
    const own = await hooked();
    const ports = new Set<number | undefined>();
    own.to.answer = (response, _received, request) => {
      ports.add(request.socket.remotePort);
      response.end();
    };
    for (let n = 0; n < 5; n += 1) await change(own);
    await own.to.receives(5);
    expect(ports.size).toBe(1);
  });

  test('a webhook gets only the types it asked for, and only what was committed after it was created', async () => {
    const own = await hooked();
    await change(own);
    await own.to.receives(1);
    const [deleted, all] = [await receiver(), await receiver()];
    await createWebhook(service.api, own.key, deleted.url, { types: ['user.deleted'] });
    await createWebhook(service.api, own.key, all.url, { types: ['user.*'] });
    const user = await change(own);
    await service.api.delete(`/project/users/${user}`, own.key);
    await deleted.receives(1);
    await all.receives(2);
    expect(deleted.types).toEqual(['user.deleted']);
    expect(all.types).toEqual(['user.created', 'user.deleted']);
  });

  test('a paused webhook gets nothing, and continues where it stopped when it is switched on', async () => {
    const own = await hooked();
    await change(own);
    await deliveriesWhen('the first is recorded', own, (all) => all.length === 1);
    expect((await service.api.put(own.webhook.path, own.key, { active: false })).status).toBe(200);
    const other = await receiver();
    await createWebhook(service.api, own.key, other.url);
    const [second, third] = [await change(own), await change(own)];
    await other.receives(2);
    expect(own.to.got).toHaveLength(1);
    await service.api.put(own.webhook.path, own.key, { active: true });
    const got = await own.to.receives(3);
    expect(got.slice(1).map(({ event }) => event.data.id)).toEqual([second, third]);
  });

  test('a change of the URL takes effect for the next events', async () => {
    const own = await hooked();
    await change(own);
    await deliveriesWhen('the first is recorded', own, (all) => all.length === 1);
    const moved = await receiver();
    await service.api.put(own.webhook.path, own.key, { url: moved.url });
    const user = await change(own);
    expect((await moved.receives(1))[0]?.event.data.id).toBe(user);
    expect(own.to.got).toHaveLength(1);
  });
});

describe('workers', () => {
  test('two processes share the work: every event comes once, and in order', async () => {
    const other = await service.another({}, { webhookBounds: { pollMs: 20, lingerMs: 1 } });
    try {
      const all = await Promise.all(Array.from({ length: 5 }, () => hooked()));
      const users: string[][] = all.map(() => []);
      for (let n = 0; n < 10; n += 1)
        await Promise.all(all.map(async (own, at) => users[at]?.push(await change(own))));
      await Promise.all(all.map(({ to }) => to.receives(10)));
      await Promise.all(all.map((own) => deliveriesWhen('recorded', own, ({ length }) => length === 10)));
      expect(all.map(({ to }) => to.got.map(({ event }) => event.data.id))).toEqual(users);
    } finally {
      await other.stop();
    }
  });

  test('an event that nobody was told about is found', async () => {
    const own = await hooked();
    await onServer(
      service.databaseUrl,
      `insert into events (project_id, type, data) values ('${own.id}', 'user.updated', '{}')`,
    );
    const another = await service.another({ ROLE: 'worker' });
    await own.to.receives(1);
    await another.stop();
  });

  test('an inactive project gets nothing', async () => {
    const own = await hooked();
    const reply = await service.api.patch(`/admin/projects/${own.id}/status`, admin, { active: false });
    expect(reply.status).toBe(200);
    await onServer(service.databaseUrl, `select record_event('${own.id}', 'user.updated', null, '{}')`);
    const other = await hooked();
    await change(other);
    await other.to.receives(1);
    expect(own.to.got).toEqual([]);
  });

  test('metrics count tries by outcome, measure them, and show what waits', async () => {
    const own = await hooked(status(500));
    await change(own);
    await deliveriesWhen('it failed', own, ({ length }) => length === 1);
    const text = await (await fetch(service.pakhus.metricsUrl ?? '')).text();
    expect(text).toMatch(/^pakhus_webhook_tries_total\{outcome="retrying"\} [1-9]/m);
    expect(text).toMatch(/^pakhus_webhook_try_seconds_count [1-9]/m);
    expect(text).toMatch(/^pakhus_webhook_retries_waiting [1-9]/m);
  });
});

describe('secrets', () => {
  test('after a rotation both secrets sign for a day, and then the new one alone', async () => {
    const own = await hooked(ok, {}, on);
    const reply = await on.api.post(`${own.webhook.path}/rotate-secret`, own.key);
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body.webhook.previous_secret_until).not.toBeNull();
    const secret: string = reply.body.secret;
    await change(own);
    const [both] = await own.to.receives(1);
    if (!both) throw new Error('nothing came');
    expect(String(both.headers['webhook-signature']).split(' ')).toHaveLength(2);
    verify(own.webhook.secret, both);
    verify(secret, both);
    await deliveriesWhen('it is recorded', own, (all) => all.length === 1);
    on.advance(25 * hourMs);
    await change(own);
    const got = await until('the next one', async () => own.to.got.length > 1 && own.to.got[1]);
    expect(String(got.headers['webhook-signature']).split(' ')).toHaveLength(1);
  });
});

describe('failures', () => {
  test('a failed event is sent again with the same id until it succeeds, while others go on', async () => {
    const own = await hooked(status(500), {}, on);
    const [first, second] = [await change(own), await change(own)];
    const failed = await deliveriesWhen('both failed', own, (all) => all.length === 2);
    for (const delivery of failed) {
      expect(delivery).toMatchObject({ status: 'retrying', attempts: 1, response_status: 500 });
      expect(delivery.error).toContain('500');
      const waitMs = Date.parse(delivery.next_try_at ?? '') - Date.parse(delivery.created_at);
      expect(waitMs).toBeGreaterThanOrEqual(4_500);
    }
    expect((await viewOf(own)).failing_since).not.toBeNull();
    own.to.answer = ok;
    on.advance(6_000);
    const done = await deliveriesWhen('both succeeded', own, (all) =>
      all.every(({ status }) => status === 'succeeded'),
    );
    expect(done.map(({ attempts }) => attempts)).toEqual([2, 2]);
    expect(own.to.got.map(({ event }) => event.data.id).sort()).toEqual(
      [first, first, second, second].sort(),
    );
    expect(new Set(own.to.ids).size).toBe(2);
    expect((await viewOf(own)).failing_since).toBeNull();
  });

  test('a process knows when its own retries are due', async () => {
    const seldom = await start({}, { pollMs: hourMs, lingerMs: 1, retryDelaysMs: [300, 600] });
    try {
      const own = await hooked(status(500), {}, seldom);
      await change(own);
      await own.to.receives(3);
    } finally {
      await seldom.stop();
    }
  });

  test('after the last of nine tries a delivery has failed, and the delays grow as documented', async () => {
    const own = await hooked(status(503), {}, on);
    await change(own);
    const delays: number[] = [];
    for (let tries = 1; tries <= 8; tries += 1) {
      const [delivery] = await deliveriesWhen(`try ${tries}`, own, ([only]) => only?.attempts === tries);
      const now = on.pakhus.deps.clock();
      delays.push(Math.round((Date.parse(delivery?.next_try_at ?? '') - now) / 1000));
      on.advance((delays.at(-1) as number) * 1000 + 1000);
    }
    const [failed] = await deliveriesWhen('the last try', own, ([only]) => only?.status === 'failed');
    expect(failed).toMatchObject({ attempts: 9, next_try_at: null });
    [5, 30, 120, 600, 3_600, 21_600, 43_200, 86_400].forEach((seconds, at) => {
      expect(delays[at]).toBeGreaterThanOrEqual(seconds * 0.9 - 3);
      expect(delays[at]).toBeLessThanOrEqual(seconds * 1.1);
    });
  });

  test('410 switches the webhook off at once, with a mail to the owner and an audit row; switched on, it continues', async () => {
    const own = await hooked(status(410));
    await change(own);
    await until('it is off', async () => !(await viewOf(own)).active);
    expect(await viewOf(own)).toMatchObject({ active: false, disabled_reason: 'gone' });
    expect(await newest(own)).toMatchObject({ status: 'failed', response_status: 410, next_try_at: null });
    const [mail] = await outboxTo(service.dataDir, own.email);
    expect(mail?.text).toContain(own.to.url);
    const audit = await service.api.get('/project/audit?action=webhook.update', own.key);
    expect(audit.body.logs[0].metadata.new).toMatchObject({ active: false, disabled_reason: 'gone' });
    const user = await change(own);
    own.to.answer = ok;
    await service.api.put(own.webhook.path, own.key, { active: true });
    const got = await own.to.receives(2);
    expect(got[1]?.event.data.id).toBe(user);
    expect(await viewOf(own)).toMatchObject({ active: true, disabled_reason: null, failing_since: null });
  });

  test('three days without a success switch it off, with a mail', async () => {
    const own = await hooked(status(500), {}, on);
    await change(own);
    await deliveriesWhen('it failed', own, (all) => all.length === 1);
    on.advance(73 * hourMs);
    await until('it is off', async () => !(await viewOf(own)).active);
    expect(await viewOf(own)).toMatchObject({ disabled_reason: 'failing' });
    expect((await outboxTo(on.dataDir, own.email))[0]?.text).toContain(own.to.url);
  });

  test('a receiver that fails again and again is left in peace for a while, and then gets every event', async () => {
    const own = await hooked(status(500), {}, on);
    const users: string[] = [];
    for (let n = 0; n < 12; n += 1) users.push(await change(own));
    await deliveriesWhen('five failed', own, (all) => all.length === 5);
    await until('it rests', async () => {
      const [row] = await rowsOf<{ rests: boolean }>(
        on.databaseUrl,
        `select rest_until is not null and lease_token is null as rests from webhooks where id = '${own.webhook.id}'`,
      );
      return row?.rests === true;
    });
    own.to.answer = ok;
    on.advance(6_000);
    await until('all came', async () => {
      const seen = new Set(own.to.got.map(({ event }) => event.data.id));
      return users.every((user) => seen.has(user));
    });
  });
});
