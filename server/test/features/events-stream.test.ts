// The feed as a stream: across instances, after a reconnect, with readers that do not read, and while the service stops.
import { connect } from 'node:net';
import { request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rowsOf } from '../support/database.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { until } from '../support/processes.ts';
import { sendFile } from '../support/send-file.ts';
import { adminSession, createPlan, createTenant, createUser } from '../support/tenants.ts';

let service: TestPakhus;
let admin: string;

beforeAll(async () => {
  service = await startTestPakhus({ ROLE: 'api' });
  admin = await adminSession(service.api);
});
afterAll(() => service.stop());

async function newTenant() {
  const tenant = await createTenant(service.api, admin);
  await createPlan(service.api, tenant.key);
  const user = await createUser(service.api, tenant.key);
  return { tenant, user };
}

interface Frame {
  readonly id: string;
  readonly event: string;
  readonly data: { readonly id: string; readonly type: string; readonly data: { readonly id: string } };
}

interface Stream {
  /** What has come so far. */
  readonly frames: readonly Frame[];
  /** Whether the server has ended it. */
  readonly isOver: boolean;
  waitFor(count: number): Promise<readonly Frame[]>;
  close(): void;
}

async function openStream(baseUrl: string, key: string, lastId?: string): Promise<Stream> {
  const { statusCode, headers, body } = await request(`${baseUrl}/project/events/stream`, {
    headers: { authorization: `Bearer ${key}`, ...(lastId && { 'last-event-id': lastId }) },
    bodyTimeout: 0,
  });
  expect(statusCode).toBe(200);
  expect(headers['content-type']).toContain('text/event-stream');
  const stream = { frames: [] as Frame[], isOver: false };
  const read = async () => {
    let text = '';
    for await (const chunk of body) {
      const frames = `${text}${chunk}`.split('\n\n');
      text = frames.pop() ?? '';
      stream.frames.push(...frames.flatMap(parseFrame));
    }
  };
  const reading = read().catch(() => undefined);
  void reading.then(() => {
    stream.isOver = true;
  });
  return {
    ...stream,
    get isOver() {
      return stream.isOver;
    },
    async waitFor(count) {
      await until(`${count} events`, async () => stream.frames.length >= count);
      return stream.frames;
    },
    close: () => void body.destroy(),
  };
}

function parseFrame(text: string): Frame[] {
  const fields = Object.fromEntries(text.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)));
  return fields.data === undefined ? [] : [{ ...fields, data: JSON.parse(fields.data) }];
}

test('events.stream: everybody hears of a change on another instance, and goes on after a reconnect', async () => {
  const { tenant, user } = await newTenant();
  const another = await service.another();
  try {
    const readers = await Promise.all(
      Array.from({ length: 20 }, () => openStream(another.baseUrl, tenant.key)),
    );
    const ids = [await sendFile(service.api, tenant.key, user.id)];
    for (const reader of readers) {
      const [frame] = await reader.waitFor(1);
      expect(frame).toMatchObject({
        event: 'file.created',
        data: { type: 'file.created', data: { id: ids[0] } },
      });
    }
    const [first] = readers as [Stream];
    const last = first.frames[0]?.id;
    for (const reader of readers) reader.close();
    for (let i = 0; i < 3; i += 1) ids.push(await sendFile(service.api, tenant.key, user.id));
    const again = await openStream(service.baseUrl, tenant.key, last);
    ids.push(await sendFile(another.api, tenant.key, user.id));
    const frames = await again.waitFor(4);
    expect(frames.map(({ data }) => data.data.id)).toEqual(ids.slice(1));
    const paged = await service.api.get(
      `/project/events?cursor=${encodeURIComponent(frames[0]?.id ?? '')}`,
      tenant.key,
    );
    expect(paged.body.events.map(({ id }: { id: string }) => id)).toEqual(
      frames.slice(1).map(({ data }) => data.id),
    );
    again.close();
    await until('all have left', async () => another.pakhus.deps.eventReaders.size === 0);
  } finally {
    await another.stop();
  }
});

test('events.stream: a bad Last-Event-ID is 400, and a stopping service ends its streams and long polls', async () => {
  const { tenant } = await newTenant();
  const bad = await request(`${service.baseUrl}/project/events/stream`, {
    headers: { authorization: `Bearer ${tenant.key}`, 'last-event-id': 'garbled' },
  });
  expect(bad.statusCode).toBe(400);
  await bad.body.dump();
  const another = await service.another();
  const stream = await openStream(another.baseUrl, tenant.key);
  const poll = another.api.get('/project/events?wait=30', tenant.key);
  await until('both wait', async () => another.pakhus.deps.eventReaders.size === 2);
  await another.stop();
  expect((await poll).status).toBe(200);
  await until('the stream is over', async () => stream.isOver);
});

test('events.stream: a reader that does not read is cut off, and others are not', async () => {
  const { tenant } = await newTenant();
  const { hostname, port, pathname } = new URL(service.baseUrl);
  const reader = await openStream(service.baseUrl, tenant.key);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  socket.write(
    `GET ${pathname}/project/events/stream HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${tenant.key}\r\n\r\n`,
  );
  const { eventReaders } = service.pakhus.deps;
  await until('both read', async () => eventReaders.size === 2);
  socket.pause();
  const count = 3_000;
  for (let batch = 0; batch < 8; batch += 1)
    await rowsOf(
      service.databaseUrl,
      `select record_event('${tenant.id}', 'user.updated', null, '{"text":"' || repeat('x', 2000) || '"}')
       from generate_series(1, ${count})`,
    );
  await reader.waitFor(8 * count);
  await until('the slow one is cut', async () => eventReaders.size === 1);
  socket.destroy();
  reader.close();
});
