// How many webhooks one process delivers per second to a local receiver, and how long after its commit an event arrives while
// 500 of them are committed per second. Events are inserted into the database: the uploads of the other benches would cost more
// than what is measured here.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { cpuDuring } from './support/cpu.mjs';
import { pace } from './support/load.mjs';
import { startDatabase, startPakhus, startServer } from './support/server.mjs';
import { call, createTenant } from './support/tenant.mjs';

export const name = 'webhooks';
/** Starts its own. */
export const servers = false;

const webhooks = 10;
const backlog = Math.round(1_500 * pace);
const perSecond = 500;
const seconds = Math.max(2, 10 * pace);
const data = JSON.stringify({ id: 'x'.repeat(36), name: 'holiday.jpg', padding: 'x'.repeat(600) });

export async function run({ folder }) {
  const database = await startDatabase(join(folder, 'database'));
  const environment = { WEBHOOK_ALLOW_PRIVATE: 'true' };
  const server = await startPakhus(folder, database, { environment });
  const sink = await startServer(folder, {
    name: 'sink',
    file: fileURLToPath(new URL('support/webhook-sink.mjs', import.meta.url)),
    ready: /sink is ready at (\S+)/,
    environment: {},
  });
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    const tenant = await createTenant(server);
    return [
      ...(await throughput(server, sink, client, tenant)),
      ...(await latency(server, sink, client, await createTenant(server))),
    ];
  } finally {
    await client.end();
    await sink.stop();
    await server.stop();
    await database.stop();
  }
}

const tell = async (sink) => (await fetch(sink.url)).json();

async function throughput(server, sink, client, { key, projectId }) {
  const paths = [];
  for (let n = 0; n < webhooks; n++) {
    const body = { url: sink.url, active: false };
    const { webhook } = await call(server, 'POST', '/project/webhooks', { as: key, body });
    paths.push(`/project/webhooks/${webhook.id}`);
  }
  await client.query(
    `insert into events (project_id, type, data) select $1, 'user.updated', $2 from generate_series(1, $3::int)`,
    [projectId, data, backlog],
  );
  const wanted = webhooks * backlog;
  let received = { count: 0 };
  let total = 0;
  const startedAt = Date.now();
  const cpu = await cpuDuring(server, async () => {
    await Promise.all(paths.map((path) => call(server, 'PUT', path, { as: key, body: { active: true } })));
    while (total < wanted) {
      await delay(50);
      received = await tell(sink);
      total += received.count;
    }
  });
  const tookMs = received.lastAt - startedAt;
  for (const path of paths) await call(server, 'DELETE', path, { as: key });
  return [
    {
      name: 'deliveries, 10 webhooks',
      figure: (wanted * 1000) / tookMs,
      unit: '/s',
      target: { atLeast: 1_000 },
    },
    { name: 'CPU of the service per delivery', figure: cpu.service / wanted, unit: 'ms' },
    { name: 'CPU of the database per delivery', figure: cpu.database / wanted, unit: 'ms' },
  ];
}

async function latency(server, sink, client, { key, projectId }) {
  await call(server, 'POST', '/project/webhooks', { as: key, body: { url: sink.url } });
  await tell(sink);
  const startedAt = performance.now();
  for (let n = 0; n < perSecond * seconds; n++) {
    await client.query(`select record_event($1::uuid, 'user.updated', null, $2)`, [projectId, data]);
    const aheadMs = (n * 1000) / perSecond - (performance.now() - startedAt);
    if (aheadMs > 1) await delay(aheadMs);
  }
  const rate = (perSecond * seconds * 1000) / (performance.now() - startedAt);
  const delays = [];
  while (delays.length < perSecond * seconds) {
    delays.push(...(await tell(sink)).delays);
    await delay(50);
  }
  delays.sort((a, b) => a - b);
  const at = (share) => delays[Math.floor(delays.length * share)] / 1000;
  return [
    { name: 'events committed', figure: rate, unit: '/s' },
    { name: 'commit to webhook, p50', figure: at(0.5), unit: 's' },
    { name: 'commit to webhook, p99', figure: at(0.99), unit: 's', target: { atMost: 1 } },
  ];
}
