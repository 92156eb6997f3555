// Receivers that misbehave: their deliveries tell what happened, and nobody else waits for them.
import net from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeCertificate } from '../support/certificate.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { until } from '../support/processes.ts';
import { type Answer, type Receiver, startReceiver, status } from '../support/receiver.ts';
import { adminSession, createTenant, createUser, type Tenant } from '../support/tenants.ts';
import { createWebhook, deliveriesOf, deliveriesUntil } from '../support/webhooks.ts';

let service: TestPakhus;
let tenant: Tenant;
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  service = await startTestPakhus({ WEBHOOK_ALLOW_PRIVATE: 'true' }, undefined, {
    webhookBounds: { pollMs: 20, lingerMs: 50 },
    outbound: { timeoutMs: 1_500 },
  });
  tenant = await createTenant(service.api, await adminSession(service.api));
});
afterAll(async () => {
  await service.stop();
  await Promise.all(stops.map((stop) => stop()));
});

async function receiver(answer: Answer, tls?: { key: string; cert: string }): Promise<Receiver> {
  const started = await startReceiver({ answer, ...(tls ? { tls } : {}) });
  stops.push(() => started.stop());
  return started;
}

/** Answers every connection with `talk`, whatever was asked. */
async function rawReceiver(talk: (socket: net.Socket) => void): Promise<string> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => talk(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  );
  return `http://127.0.0.1:${(server.address() as net.AddressInfo).port}/`;
}

/** Writes byte after byte, for as long as somebody listens. */
function drip(socket: net.Socket, text: string): void {
  let at = 0;
  const timer = setInterval(() => {
    if (at < text.length && !socket.destroyed) socket.write(text.charAt(at++));
    else clearInterval(timer);
  }, 100);
  socket.on('close', () => clearInterval(timer));
}

const head = (length: number) => `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n`;

async function fill(socket: net.Socket, bytes: number): Promise<void> {
  const chunk = Buffer.alloc(1 << 20, 'x');
  socket.write(head(bytes));
  for (let sent = 0; sent < bytes && !socket.destroyed; sent += chunk.length)
    if (!socket.write(chunk))
      await new Promise((resolve) => {
        socket.once('drain', resolve).once('close', resolve);
      });
}

/** What the first delivery to a receiver shows. */
const misbehaviours: Record<string, { open: () => Promise<string>; shows: object }> = {
  'accepts and never answers': {
    open: async () => (await receiver(() => undefined)).url,
    shows: { status: 'retrying', response_status: null, error: 'No complete answer within 1.5 seconds' },
  },
  'answers 500': {
    open: async () => (await receiver(status(500))).url,
    shows: { status: 'retrying', response_status: 500, response_body: 'status 500' },
  },
  'answers 301': {
    open: async () => {
      const elsewhere = await receiver(() => expect.unreachable('a redirect was followed'));
      return (await receiver(status(301, { location: elsewhere.url }))).url;
    },
    shows: {
      status: 'retrying',
      response_status: 301,
      error: 'The receiver answered 301: redirects are not followed',
    },
  },
  'answers 410': {
    open: async () => (await receiver(status(410))).url,
    shows: { status: 'failed', response_status: 410 },
  },
  'drips the head of its answer': {
    open: () =>
      rawReceiver((socket) => drip(socket, `HTTP/1.1 200 OK\r\nX-Slow: ${'x'.repeat(500)}\r\n\r\n`)),
    shows: { status: 'retrying', response_status: null, error: 'No complete answer within 1.5 seconds' },
  },
  'drips the body of its answer': {
    open: () =>
      rawReceiver((socket) => {
        socket.write(head(500));
        drip(socket, 'x'.repeat(500));
      }),
    shows: { status: 'succeeded', response_status: 200, error: null },
  },
  'sends a gigabyte': {
    open: () => rawReceiver((socket) => void fill(socket, 1 << 30)),
    shows: { status: 'succeeded', response_status: 200, response_body: 'x'.repeat(1024) },
  },
  'sends headers without end': {
    open: () =>
      rawReceiver((socket) => socket.write(`HTTP/1.1 200 OK\r\n${'X-Long: 123456789\r\n'.repeat(10_000)}`)),
    shows: { status: 'retrying', error: 'The headers of the answer are too long' },
  },
  'speaks something else': {
    open: () => rawReceiver((socket) => socket.end('SSH-2.0-OpenSSH_9.2p1\r\n')),
    shows: { status: 'retrying', error: 'The answer is not valid HTTP' },
  },
  'resets the connection': {
    open: () => rawReceiver((socket) => socket.resetAndDestroy()),
    shows: { status: 'retrying', error: 'The connection was closed before an answer came' },
  },
  'is not there': {
    open: async () => {
      const gone = await startReceiver();
      await gone.stop();
      return gone.url;
    },
    shows: { status: 'retrying', error: 'The connection was refused' },
  },
  'has a certificate that nobody vouches for': {
    open: async () => (await receiver(status(200), makeCertificate('localhost'))).url,
    shows: { status: 'retrying', error: expect.stringContaining('SELF_SIGNED') },
  },
  'answers with what no database stores': {
    open: async () => (await receiver((response) => void response.end(Buffer.from('a\0b\xff\ud83d')))).url,
    shows: { status: 'succeeded', response_body: expect.stringMatching(/^a\ufffdb/) },
  },
};

describe('a receiver that', () => {
  for (const [name, { open, shows }] of Object.entries(misbehaviours)) {
    test.concurrent(`${name} is told apart in its delivery`, async () => {
      const own = await createTenant(service.api, await adminSession(service.api));
      const webhook = await createWebhook(service.api, own.key, await open());
      await createUser(service.api, own.key);
      const [delivery] = await deliveriesUntil(name, service.api, own.key, webhook, (all) => all.length > 0);
      expect(delivery).toMatchObject({ attempts: 1, ...shows });
    });
  }
});

test('while nine webhooks of a project hang, the tenth gets all of its events, and others of other projects too', async () => {
  const patient = await startTestPakhus({ WEBHOOK_ALLOW_PRIVATE: 'true' }, undefined, {
    // They hang for as long as the test takes.
    outbound: { timeoutMs: 600_000 },
  });
  try {
    const admin = await adminSession(patient.api);
    const [own, other] = [await createTenant(patient.api, admin), await createTenant(patient.api, admin)];
    const [hanging, good, foreign] = [
      await receiver(() => undefined),
      await receiver(status(200)),
      await receiver(status(204)),
    ];
    const hung = await createWebhook(patient.api, own.key, hanging.url);
    for (let n = 0; n < 8; n += 1) await createWebhook(patient.api, own.key, hanging.url);
    await createWebhook(patient.api, own.key, good.url);
    await createWebhook(patient.api, other.key, foreign.url);
    await createUser(patient.api, own.key);
    await until('nine hang', async () => hanging.got.length === 9);
    for (let n = 0; n < 10; n += 1) await createUser(patient.api, own.key);
    await createUser(patient.api, other.key);
    await good.receives(11);
    await foreign.receives(1);
    expect(hanging.got).toHaveLength(9);
    expect(await deliveriesOf(patient.api, own.key, hung)).toEqual([]);
  } finally {
    await patient.stop();
  }
});

describe('on demand', () => {
  test('a test is signed, reaches a webhook that is switched off, is tried once and is no event', async () => {
    const own = await createTenant(service.api, await adminSession(service.api));
    const to = await receiver(status(200));
    const webhook = await createWebhook(service.api, own.key, to.url, { active: false, types: ['file.*'] });
    const reply = await service.api.post(`${webhook.path}/test`, own.key);
    expect(reply.status, reply.text).toBe(202);
    expect(reply.body.delivery).toMatchObject({ type: 'test', status: 'pending', attempts: 0 });
    const [got] = await to.receives(1);
    expect(got?.event).toEqual({
      id: reply.body.delivery.event_id,
      type: 'test',
      created_at: reply.body.delivery.created_at,
      project_id: own.id,
      user_id: null,
      data: { webhook_id: webhook.id },
    });
    await deliveriesUntil(
      'it succeeded',
      service.api,
      own.key,
      webhook,
      ([only]) => only?.status === 'succeeded',
    );
    to.answer = status(500);
    await service.api.post(`${webhook.path}/test`, own.key);
    const [failed] = await deliveriesUntil(
      'it failed',
      service.api,
      own.key,
      webhook,
      ([latest]) => latest?.status === 'failed',
    );
    expect(failed).toMatchObject({ attempts: 1, response_status: 500, next_try_at: null });
    expect((await service.api.get('/project/events?from=oldest', own.key)).body.events).toEqual([]);
    expect((await service.api.get(webhook.path, own.key)).body.webhook.failing_since).toBeNull();
  });

  test('a replay sends the same event with the same id, in a delivery of its own', async () => {
    const own = await createTenant(service.api, await adminSession(service.api));
    const to = await receiver(status(200));
    const webhook = await createWebhook(service.api, own.key, to.url);
    await createUser(service.api, own.key);
    const [first] = await deliveriesUntil('sent', service.api, own.key, webhook, (all) => all.length === 1);
    const reply = await service.api.post(`${webhook.path}/deliveries/${first?.id}/replay`, own.key);
    expect(reply.status, reply.text).toBe(202);
    const [one, two] = await to.receives(2);
    expect(two?.text).toBe(one?.text);
    expect(two?.headers['webhook-id']).toBe(one?.headers['webhook-id']);
    const all = await deliveriesUntil(
      'sent again',
      service.api,
      own.key,
      webhook,
      ([latest]) => latest?.attempts === 1,
    );
    expect(all.map(({ id }) => id)).toEqual([reply.body.delivery.id, first?.id]);
  });

  test('deliveries are listed newest first, by pages and by status, and only those of the webhook', async () => {
    const own = await createTenant(service.api, await adminSession(service.api));
    const to = await receiver(status(200));
    const webhook = await createWebhook(service.api, own.key, to.url, { types: ['user.*'] });
    for (let n = 0; n < 5; n += 1) await createUser(service.api, own.key);
    await deliveriesUntil('sent', service.api, own.key, webhook, (all) => all.length === 5);
    to.answer = status(500);
    await createUser(service.api, own.key);
    await deliveriesUntil('failed', service.api, own.key, webhook, (all) => all.length === 6);
    const all = await deliveriesOf(service.api, own.key, webhook);
    expect(await deliveriesOf(service.api, own.key, webhook, '&status=retrying')).toEqual(all.slice(0, 1));
    expect(await deliveriesOf(service.api, own.key, webhook, '&status=succeeded')).toEqual(all.slice(1));
    const paged = [];
    for (let cursor = ''; ; ) {
      const { body } = await service.api.get(`${webhook.path}/deliveries?limit=2${cursor}`, own.key);
      paged.push(...body.deliveries);
      if (body.next_cursor === null) break;
      cursor = `&cursor=${body.next_cursor}`;
    }
    expect(paged).toEqual(all);
    expect((await service.api.get(`${webhook.path}/deliveries`, tenant.key)).status).toBe(404);
  });
});
