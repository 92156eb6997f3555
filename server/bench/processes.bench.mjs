// How throughput grows with API processes, and how many of them one core of PostgreSQL carries: on S3 and a PostgreSQL
// server, first with PostgreSQL on one core and the service on the other, then with both wherever the kernel puts them.
// Also bytes per row, for the arithmetic in docs/scaling.md.
import { execFileSync } from 'node:child_process';
import { cpuOf, cpuSince, processesOf } from './support/cpu.mjs';
import { fillAudit, fillFiles, fillNames, mixedColumns } from './support/fill.mjs';
import { formHeaders, formOf } from './support/forms.mjs';
import { drive, mergeSummaries, totalOf } from './support/load.mjs';
import { costsOf } from './support/measures.mjs';
import { startS3SinkProcess } from './support/s3-sink.mjs';
import { bytesPerRow, query } from './support/sizes.mjs';
import { createSpaces, createUsers } from './support/tenant.mjs';

export const name = 'processes';

const files = Number(process.env.BENCH_FILES ?? 200_000);
const users = 32;
const connections = 32;
const rounds = 6;
const seconds = 2;
const allCores = `0-${Number.parseInt(execFileSync('nproc', ['--all']), 10) - 1}`;
const body = formOf(10 * 1024);

export async function run({ pakhus, tenant, database, startAnother }) {
  const sink = await startS3SinkProcess();
  try {
    const environment = { ...sink.environment, ROLE: 'api' };
    const apis = [await startAnother('api-1', environment), await startAnother('api-2', environment)];
    const requests = await prepareRequests(pakhus, tenant);
    const setups = {
      'database on a core, one API on another': { apis: apis.slice(0, 1), pinned: true },
      'database on a core, two APIs on another': { apis, pinned: true },
      'one API, not pinned': { apis: apis.slice(0, 1), pinned: false },
      'two APIs, not pinned': { apis, pinned: false },
    };
    const summaries = await takeTurnsPinned(database, apis, setups, requests);
    return [...throughputs(summaries), ...(await sizeMeasures(pakhus))];
  } finally {
    sink.stop();
  }
}

/** Many users and files, so that no two concurrent requests share their work. */
async function prepareRequests(pakhus, tenant) {
  const ids = await createUsers(pakhus, tenant, users);
  const list = `'{${ids.join()}}'::uuid[]`;
  const spaces = await createSpaces(pakhus, tenant, ids);
  await fillFiles(pakhus, files, {
    ...mixedColumns(`('{${spaces.join()}}'::uuid[])[1 + n % ${users}]`),
    user_id: `(${list})[1 + n % ${users}]`,
  });
  const sample = `select id, user_id from files where user_id = any(${list}) order by id limit 5000`;
  const { rows } = await query(pakhus.database.url, sample);
  const headers = { authorization: `Bearer ${tenant.key}` };
  const base = (user) => `/api/v1/project/users/${user}/files`;
  let turn = 0;
  const next = (all) => all[turn++ % all.length];
  return {
    'file detail': {
      request: () => {
        const { id, user_id } = next(rows);
        return { path: `${base(user_id)}/${id}`, headers };
      },
    },
    'list of 100': { request: () => ({ path: `${base(next(ids))}?limit=100`, headers }) },
    'upload of 10 KiB': {
      expect: 201,
      request: () => ({
        method: 'POST',
        path: base(next(ids)),
        headers: { ...headers, ...formHeaders },
        body,
      }),
    },
  };
}

async function takeTurnsPinned(database, apis, setups, requests) {
  const summaries = {};
  for (let round = 0; round <= rounds; round++) {
    for (const [setup, { apis: used, pinned }] of Object.entries(setups)) {
      pin(processesOf(database.pid), pinned ? '0' : allCores);
      pin(
        apis.map(({ pid }) => pid),
        pinned ? '1' : allCores,
      );
      for (const [what, request] of Object.entries(requests)) {
        const summary = await driveAll(used, database, request);
        // The first round is a warm-up.
        const key = `${what}, ${setup}`;
        if (round > 0) summaries[key] = [...(summaries[key] ?? []), summary];
      }
    }
  }
  return summaries;
}

/** Threads included. New processes and threads inherit the cores of the one that starts them. */
function pin(pids, cores) {
  for (const pid of pids)
    execFileSync('taskset', ['-a', '-p', '-c', cores, String(pid)], { stdio: 'ignore' });
}

/** The load is shared between the processes; the database counts once. */
async function driveAll(apis, database, request) {
  const before = cpuOf({ pid: process.pid, database });
  const each = await Promise.all(
    apis.map(({ url, pid }) =>
      drive({ server: { url, pid }, ...request, connections: connections / apis.length, seconds }),
    ),
  );
  return mergeSummaries(each, cpuSince(before, cpuOf({ pid: process.pid, database })).database);
}

const throughputs = (summaries) =>
  Object.entries(summaries).flatMap(([what, measured]) => {
    const { cpu } = totalOf(measured);
    return [
      ...costsOf(what, measured),
      {
        name: `${what}: requests that a core of PostgreSQL carries`,
        figure: 1000 / cpu.database,
        unit: '1/s',
      },
      {
        name: `${what}: cores of API that a core of PostgreSQL carries`,
        figure: cpu.service / cpu.database,
        unit: '',
      },
    ];
  });

const largeTables = ['files', 'file_tags', 'file_names', 'objects', 'audit_logs'];

/** As the rows leave them, and rebuilt: in service, indexes are somewhere between. */
async function sizeMeasures(pakhus) {
  const { url } = pakhus.database;
  await fillAudit(pakhus, files, {});
  await fillNames(pakhus);
  await query(url, 'vacuum (analyze)');
  const sizes = await bytesPerRow(pakhus.database, largeTables);
  for (const table of largeTables) await query(url, `reindex table ${table}`);
  const rebuilt = await bytesPerRow(pakhus.database, largeTables);
  return [
    ...sizes,
    ...rebuilt.filter(({ index }) => index).map((size) => ({ ...size, note: ', rebuilt' })),
  ].map(({ table, index, bytes, note = '' }) => ({
    name: index ? `index ${index}${note}` : `table ${table}`,
    figure: bytes,
    unit: 'bytes/row',
  }));
}
