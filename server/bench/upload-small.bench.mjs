// Uploads of 10 KiB over 32 connections, compared with pgbench running the same two statements on the same
// database (reserve the object, store the file), and with the CPU time of a bare server that writes the same form
// to disk.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startBareUpload } from './support/bare.mjs';
import { formHeaders, formOf } from './support/forms.mjs';
import { drive, median, takeTurns, totalOf } from './support/load.mjs';
import { createUsers } from './support/tenant.mjs';

export const name = 'upload-small';

const connections = 32;
const users = 32;
const rounds = 8;
const seconds = 1.5;

export async function run({ pakhus, other, tenant, databaseUrl, folder, startServer }) {
  const userIds = await createUsers(pakhus, tenant, users);
  const body = formOf(10 * 1024);
  let turn = 0;
  const bare = await startBareUpload(startServer);
  const uploadBare = {
    server: bare,
    expect: 201,
    request: { method: 'POST', path: '/', headers: formHeaders, body },
  };
  const uploadTo = (server) => ({
    server,
    expect: 201,
    request: () => ({
      method: 'POST',
      path: `/api/v1/project/users/${userIds[turn++ % users]}/files`,
      headers: { authorization: `Bearer ${tenant.key}`, ...formHeaders },
      body,
    }),
  });
  const script = join(folder, 'store-file.sql');
  writeFileSync(script, storeFileScript(tenant.projectId, userIds));
  const perSecond = { pakhus: [], pgbench: [] };
  // A long warm-up: an upload runs through much code that has to be compiled.
  await drive({ ...uploadTo(pakhus), seconds: 10, connections });
  await drive({ ...uploadBare, seconds: 3, connections });
  const summaries = { bare: [], pakhus: [], other: [] };
  for (let round = 0; round < rounds; round++) {
    perSecond.pgbench.push(await pgbench(databaseUrl, script));
    const turns = await takeTurns(
      { bare: uploadBare, pakhus: uploadTo(pakhus), ...(other && { other: uploadTo(other) }) },
      { rounds: 1, seconds, connections },
    );
    for (const [who, [summary]] of Object.entries(turns)) summaries[who].push(summary);
    perSecond.pakhus.push(turns.pakhus[0].perSecond);
  }
  const { cpuMsPerRequest, quietCpuMsPerRequest, p50Ms, p99Ms } = totalOf(summaries.pakhus);
  const { cpuMsPerRequest: bareCpu } = totalOf(summaries.bare);
  const ratios = perSecond.pakhus.map((figure, round) => figure / perSecond.pgbench[round]);
  return [
    { name: 'uploads', figure: median(perSecond.pakhus), unit: '1/s' },
    { name: 'pgbench commits', figure: median(perSecond.pgbench), unit: '1/s' },
    { name: 'ratio to pgbench', figure: median(ratios), unit: '', target: { atLeast: 0.5 } },
    { name: 'CPU', figure: cpuMsPerRequest, unit: 'ms/request', target: { atMost: 0.6 } },
    { name: 'CPU, quiet rounds', figure: quietCpuMsPerRequest, unit: 'ms/request' },
    { name: 'CPU, ratio to bare server', figure: cpuMsPerRequest / bareCpu, unit: '' },
    { name: 'bare: CPU', figure: bareCpu, unit: 'ms/request' },
    { name: 'latency, median', figure: p50Ms, unit: 'ms' },
    { name: 'latency, p99', figure: p99Ms, unit: 'ms' },
    ...(other
      ? [{ name: 'other: CPU', figure: totalOf(summaries.other).cpuMsPerRequest, unit: 'ms/request' }]
      : []),
  ];
}

/** The statements of an upload, in its two transactions. */
function storeFileScript(projectId, userIds) {
  const pick = userIds.map((id, index) => `when ${index} then '${id}'`).join(' ');
  const id = 'md5(:n::text)::uuid';
  return `\\set who random(0, ${userIds.length - 1})
\\set n random(1, 1000000000000)
insert into objects (project_id, file_id, id, zone, state, held_until)
  values ('${projectId}', ${id}, ${id}, 'private', 'reserved', now() + interval '1 hour');
select outcome from store_file(row(${id}, '${projectId}'::uuid, (case :who ${pick} end)::uuid, null::uuid, 'bench.bin',
  10240::bigint, 'application/octet-stream', '${projectId}/' || ${id}, '', '{}'::text[], null::text, '{}'::jsonb,
  'private', 'private', '\\x00'::bytea, now(), now())::new_file, 'file.upload', 'project', '${projectId}'::uuid, 'bench', '127.0.0.1', 'pgbench');
`;
}

/** Commits per second, or NaN without pgbench. */
async function pgbench(databaseUrl, script) {
  const program = findPgbench();
  if (!program) return Number.NaN;
  const url = new URL(databaseUrl.replace('@/', '@localhost/'));
  const environment = {
    ...process.env,
    PGHOST: url.searchParams.get('host') ?? '',
    PGPORT: url.searchParams.get('port') ?? '',
    PGUSER: url.username,
    PGPASSWORD: decodeURIComponent(url.password),
  };
  const child = spawn(
    program,
    [
      '-n',
      '-M',
      'simple',
      '-c',
      String(connections),
      '-j',
      '2',
      '-T',
      '2',
      '-f',
      script,
      url.pathname.slice(1),
    ],
    { env: environment },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`pgbench failed:\n${output}`);
  return Number(/tps = ([\d.]+)/.exec(output)?.[1]);
}

function findPgbench() {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  return [...versions.map((version) => join(debian, version, 'bin', 'pgbench')), '/usr/bin/pgbench'].find(
    existsSync,
  );
}
