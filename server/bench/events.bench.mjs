// What events cost: an upload in a project that listens against one in a project that does not, the time from a commit to a reader
// of the stream while 500 events are committed per second, an event with a thousand readers, and a page of the feed among many events.
import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { cpuDuring } from './support/cpu.mjs';
import { formHeaders, formOf } from './support/forms.mjs';
import { drive, pace, ratioOfTurns, takeTurns } from './support/load.mjs';
import { bothSides, costsOfAll } from './support/measures.mjs';
import { memoryMiB } from './support/memory.mjs';
import { call, createTenant, createUsers } from './support/tenant.mjs';

export const name = 'events';

const connections = 32;
const users = 32;
const rounds = 60;
const seconds = 0.6;
const body = formOf(10 * 1024);
const perSecond = 500;
const streamSeconds = Math.max(2, 10 * pace);
/** BENCH_EVENTS=10000000 for the size that the target is meant for. */
const keptEvents = Number(process.env.BENCH_EVENTS ?? 500_000 * pace);
const data = JSON.stringify({ id: 'x'.repeat(36), name: 'holiday.jpg', padding: 'x'.repeat(500) });

export async function run({ pakhus, other, database }) {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    return [
      ...(await uploads(pakhus, other)),
      ...(await commitToStream(pakhus, client)),
      ...(await manyReaders(pakhus, client)),
      ...(await feedPage(pakhus, client)),
    ];
  } finally {
    await client.end();
  }
}

async function uploads(pakhus, other) {
  const listening = await createTenant(pakhus);
  await call(pakhus, 'GET', '/project/events', { as: listening.key });
  const candidates = {
    listening: await uploadsOf(pakhus, listening),
    ...(await bothSides({ pakhus, other }, async (server) => ({
      silent: await uploadsOf(server, server.tenant),
    }))),
  };
  for (const candidate of Object.values(candidates)) await drive({ ...candidate, seconds: 10, connections });
  const summaries = await takeTurns(candidates, { rounds, seconds, warmSeconds: 0.5, connections });
  return [
    ...costsOfAll(summaries),
    {
      name: 'CPU of an upload, listening to silent',
      figure: ratioOfTurns(summaries.listening, summaries.silent),
      unit: '',
      target: { atMost: 1.05 },
    },
  ];
}

async function uploadsOf(server, tenant) {
  const userIds = await createUsers(server, tenant, users);
  let turn = 0;
  const request = () => ({
    method: 'POST',
    path: `/api/v1/project/users/${userIds[turn++ % users]}/files`,
    headers: { authorization: `Bearer ${tenant.key}`, ...formHeaders },
    body,
  });
  return { server, expect: 201, request };
}

async function commitToStream(server, client) {
  const { key, projectId } = await createTenant(server);
  const stop = new AbortController();
  const response = await fetch(`${server.url}/project/events/stream`, {
    headers: { authorization: `Bearer ${key}` },
    signal: stop.signal,
  });
  const delays = [];
  const reading = readDelays(response.body, delays).catch(() => undefined);
  const wanted = perSecond * streamSeconds;
  const startedAt = performance.now();
  for (let n = 0; n < wanted; n++) {
    await client.query(`select record_event($1::uuid, 'user.updated', null, $2)`, [projectId, data]);
    const aheadMs = (n * 1000) / perSecond - (performance.now() - startedAt);
    if (aheadMs > 1) await delay(aheadMs);
  }
  const rate = (wanted * 1000) / (performance.now() - startedAt);
  while (delays.length < wanted) await delay(20);
  stop.abort();
  await reading;
  delays.sort((a, b) => a - b);
  const at = (share) => delays[Math.floor(delays.length * share)] / 1000;
  return [
    { name: 'events committed', figure: rate, unit: '1/s' },
    { name: 'commit to stream, p50', figure: at(0.5), unit: 's' },
    { name: 'commit to stream, p99', figure: at(0.99), unit: 's', target: { atMost: 0.3 } },
  ];
}

/** From the start of the transaction to the arrival of each event. */
async function readDelays(stream, delays) {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    const frames = text.split('\n\n');
    text = frames.pop();
    for (const frame of frames) {
      const [, at] = /"created_at":"([^"]+)"/.exec(frame) ?? [];
      if (at) delays.push(Date.now() - Date.parse(at));
    }
  }
}

const readers = Math.round(1_000 * pace);
const eventsToReaders = 50;

/** As many readers as a project may have, each of which gets every event. */
async function manyReaders(server, client) {
  const { key, projectId } = await createTenant(server);
  const before = memoryMiB(server.pid);
  let received = 0;
  const agent = new http.Agent({ maxSockets: readers });
  const open = () =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}` };
      http
        .get(`${server.url}/project/events/stream`, { agent, headers }, (response) => {
          response.on('data', (chunk) => {
            received += chunk.toString().split('"created_at"').length - 1;
          });
          response.on('error', () => undefined);
          resolve(response);
        })
        .on('error', reject);
    });
  const streams = await Promise.all(Array.from({ length: readers }, open));
  const memory = memoryMiB(server.pid) - before;
  const cpu = await cpuDuring(server, async () => {
    for (let n = 0; n < eventsToReaders; n++) {
      await client.query(`select record_event($1::uuid, 'user.updated', null, $2)`, [projectId, data]);
      await delay(100);
    }
    while (received < readers * eventsToReaders) await delay(20);
  });
  for (const stream of streams) stream.destroy();
  const given = readers * eventsToReaders;
  return [
    { name: 'readers of the stream', figure: readers, unit: '' },
    { name: 'memory for a reader', figure: (memory * 1024) / readers, unit: 'KiB' },
    { name: 'an event for a reader, CPU of the service', figure: (cpu.service * 1000) / given, unit: 'µs' },
    { name: 'an event for a reader, CPU of the database', figure: (cpu.database * 1000) / given, unit: 'µs' },
  ];
}

async function feedPage(server, client) {
  const { key, projectId } = await createTenant(server);
  const { next_cursor: start } = await call(server, 'GET', '/project/events', { as: key });
  const perTransaction = 50_000;
  for (let left = keptEvents; left > 0; left -= perTransaction)
    await client.query(
      `insert into events (slot, project_id, type, data)
       select n % 8, $1, 'user.updated', $2 from generate_series(1, $3::int) n`,
      [projectId, data, Math.min(left, perTransaction)],
    );
  await client.query('analyze events');
  const pages = 20;
  let cursor = start;
  const readOne = async () => {
    const query = `/project/events?limit=1000&cursor=${encodeURIComponent(cursor)}`;
    cursor = (await call(server, 'GET', query, { as: key })).next_cursor;
  };
  for (let n = 0; n < pages; n++) await readOne();
  const cpu = await cpuDuring(server, async () => {
    for (let n = 0; n < pages; n++) await readOne();
  });
  return [
    { name: 'events kept', figure: keptEvents, unit: '' },
    {
      name: 'page of 1,000 events, CPU of the database',
      figure: cpu.database / pages,
      unit: 'ms',
      target: { atMost: 10 },
    },
  ];
}
