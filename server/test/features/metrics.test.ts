import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMetrics } from '../../src/platform/metrics.ts';
import { onServer } from '../support/database.ts';
import { startTestPakhus, type TestPakhus } from '../support/pakhus.ts';
import { sendFile } from '../support/send-file.ts';
import { adminSession, createTenant, createUser, type Tenant } from '../support/tenants.ts';

let service: TestPakhus;
let tenant: Tenant;
let userId: string;

beforeAll(async () => {
  service = await startTestPakhus({ METRICS_PORT: '0' });
  tenant = await createTenant(service.api, await adminSession(service.api));
  userId = (await createUser(service.api, tenant.key)).id;
});
afterAll(() => service.stop());

const scrape = async () => (await fetch(service.pakhus.metricsUrl ?? '')).text();

/** Each line that is a sample, by its name and labels. */
const samplesOf = (text: string): Map<string, number> =>
  new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => {
        const space = line.lastIndexOf(' ');
        return [line.slice(0, space), Number(line.slice(space + 1))];
      }),
  );

test('metrics: off unless METRICS_PORT is set, and never on the port of the API', async () => {
  const own = await startTestPakhus();
  try {
    expect(own.pakhus.metricsUrl).toBeNull();
    expect((await own.api.get('/metrics')).status).toBe(404);
    expect((await fetch(new URL('/metrics', own.baseUrl))).status).toBe(404);
  } finally {
    await own.stop();
  }
});

test('metrics: a worker serves them as well', async () => {
  const worker = await service.another({ ROLE: 'worker' });
  const reply = await fetch(worker.pakhus.metricsUrl ?? '');
  expect([reply.status, worker.pakhus.baseUrl]).toEqual([200, null]);
  await worker.stop();
});

test('metrics: the text is well-formed and has everything an operator watches', async () => {
  const reply = await fetch(service.pakhus.metricsUrl ?? '');
  expect(reply.headers.get('content-type')).toContain('text/plain; version=0.0.4');
  const text = await reply.text();
  for (const line of text.trimEnd().split('\n'))
    expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{(\w+="[^"]*",?)+\})? -?[\d.e+-]+)$/);
  const names = [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toEqual(
    expect.arrayContaining([
      'pakhus_http_request_seconds',
      'pakhus_queue_depth',
      'pakhus_reaper_backlog_objects',
      'pakhus_database_connections',
      'pakhus_database_waiting',
      'pakhus_event_loop_delay_seconds',
      'process_resident_memory_bytes',
      'process_cpu_seconds_total',
    ]),
  );
  expect((await fetch(`${service.pakhus.metricsUrl}/more`)).status).toBe(404);
  expect((await fetch(service.pakhus.metricsUrl ?? '', { method: 'POST' })).status).toBe(404);
});

test('metrics: requests, also refused ones, are counted and timed by route, method and status', async () => {
  const key = (route: string, method: string, status: string) =>
    `pakhus_http_request_seconds_count{route="${route}",method="${method}",status="${status}"}`;
  const before = samplesOf(await scrape());
  await sendFile(service.api, tenant.key, userId);
  for (let n = 0; n < 3; n += 1) await service.api.get('/project/users', tenant.key);
  await service.api.get('/project/users', 'nobody');
  await service.api.get('/no/such/route', tenant.key);
  const expected: [string, number][] = [
    [key('files.upload', 'POST', '2xx'), 1],
    [key('users.list', 'GET', '2xx'), 3],
    [key('users.list', 'GET', '4xx'), 1],
    [key('other', 'GET', '4xx'), 1],
  ];
  await expect
    .poll(async () => {
      const after = samplesOf(await scrape());
      return expected.map(([name]) => (after.get(name) ?? 0) - (before.get(name) ?? 0));
    })
    .toEqual(expected.map(([, count]) => count));
  const after = samplesOf(await scrape());
  const buckets = [...after].filter(([name]) =>
    /_request_seconds_bucket\{route="users.list".*2xx/.test(name),
  );
  const counts = buckets.map(([, count]) => count);
  expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  expect(counts.at(-1)).toBe(after.get(key('users.list', 'GET', '2xx')));
  expect(after.get('pakhus_store_operation_seconds_count{operation="put",outcome="ok"}')).toBeGreaterThan(0);
});

test('metrics: the backlog of the reaper is what is due', async () => {
  const before = samplesOf(await scrape()).get('pakhus_reaper_backlog_objects') ?? 0;
  const insert = (state: string, heldUntil: string, attempts: number) =>
    onServer(
      service.databaseUrl,
      `insert into objects (project_id, file_id, id, zone, state, held_until, attempts)
       values (gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'private', '${state}', ${heldUntil}, ${attempts})`,
    );
  await insert('deleting', `now() + interval '1 hour'`, 1);
  await insert('writing', `now() + interval '1 hour'`, 0);
  await insert('stored', 'null', 0);
  expect(samplesOf(await scrape()).get('pakhus_reaper_backlog_objects')).toBe(before + 1);
});

test('metrics: contain no tenant id and no secret', async () => {
  await service.api.get(`/project/users/${userId}`, tenant.key);
  const text = await scrape();
  for (const secret of [tenant.id, userId, tenant.key, tenant.email]) expect(text).not.toContain(secret);
  expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/);
});

test('metrics: a failing gauge is left out without affecting the others', async () => {
  const metrics = createMetrics();
  metrics.gauge('broken', 'Never there.', async () => {
    throw new Error('away');
  });
  metrics.gauge('fine', 'Always there.', () => [{ labels: { name: 'a "b" \\ \n c' }, value: 2 }]);
  const histogram = metrics.histogram('seconds', 'Some times.', [0.1, 1]);
  for (const seconds of [0.05, 0.1, 0.5, 7]) histogram.labelled({}).observe(seconds);
  expect(await metrics.text()).toBe(
    `# HELP fine Always there.
# TYPE fine gauge
fine{name="a \\"b\\" \\\\ \\n c"} 2
# HELP seconds Some times.
# TYPE seconds histogram
seconds_bucket{le="0.1"} 2
seconds_bucket{le="1"} 3
seconds_bucket{le="+Inf"} 4
seconds_sum 7.65
seconds_count 4
`,
  );
});
