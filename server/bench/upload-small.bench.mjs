// Uploads of 10 KiB over 32 connections, compared with pgbench running the same two statements on the same
// database (reserve the object, store the file), and with the CPU time of a bare server that writes the same form
// to disk.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startBareUpload } from './support/bare.mjs';
import { formHeaders, formOf } from './support/forms.mjs';
import { median, takeTurns, totalOf } from './support/load.mjs';
import { bothSides, costsOfAll } from './support/measures.mjs';
import { createUsers } from './support/tenant.mjs';

export const name = 'upload-small';

const connections = 32;
const users = 32;
const rounds = 8;
const seconds = 1.5;
const body = formOf(10 * 1024);

export async function run({ pakhus, other, tenant, database, folder, startServer }) {
  const script = join(folder, 'store-file.sql');
  writeFileSync(script, storeFileScript(tenant.projectId, await createUsers(pakhus, tenant, users)));
  const candidates = {
    bare: {
      server: await startBareUpload(startServer),
      expect: 201,
      request: { method: 'POST', path: '/', headers: formHeaders, body },
    },
    ...(await bothSides({ pakhus, other }, uploadsTo)),
  };
  // A long warm-up: an upload runs through much code that has to be compiled. Against another checkout more turns, and
  // no pgbench, which would fill only one of the two databases.
  const turns = { rounds: other ? 24 : rounds, seconds, warmSeconds: 10, connections };
  const summaries = await takeTurns(candidates, turns);
  const measures = costsOfAll(summaries, { upload: { atMost: 1.2 } });
  return other ? measures : [...measures, ...(await compareWithBare(summaries, database.url, script))];
}

/** Compared with the same statements without a service, and with the same form without a database. */
async function compareWithBare(summaries, url, script) {
  const commits = [];
  for (let round = 0; round < rounds; round++) commits.push(await pgbench(url, script));
  const [ours, bare] = [totalOf(summaries.upload), totalOf(summaries.bare)];
  return [
    { name: 'pgbench commits', figure: median(commits), unit: '1/s' },
    {
      name: 'upload: ratio to pgbench',
      figure: ours.perSecond / median(commits),
      unit: '',
      target: { atLeast: 0.5 },
    },
    {
      name: 'upload: CPU of the service, ratio to bare',
      figure: ours.cpu.service / bare.cpu.service,
      unit: '',
    },
  ];
}

async function uploadsTo(server) {
  const userIds = await createUsers(server, server.tenant, users);
  let turn = 0;
  const request = () => ({
    method: 'POST',
    path: `/api/v1/project/users/${userIds[turn++ % users]}/files`,
    headers: { authorization: `Bearer ${server.tenant.key}`, ...formHeaders },
    body,
  });
  return { upload: { server, expect: 201, request } };
}

/** The statements of an upload, in its two transactions. */
function storeFileScript(projectId, userIds) {
  const pick = userIds.map((id, index) => `when ${index} then '${id}'`).join(' ');
  const id = 'md5(:n::text)::uuid';
  return `\\set who random(0, ${userIds.length - 1})
\\set n random(1, 1000000000000)
insert into objects (project_id, file_id, id, zone, state, held_until)
  values ('${projectId}', ${id}, ${id}, 'private', 'reserved', now() + interval '1 hour');
select outcome from store_file(jsonb_populate_record(null::new_file, jsonb_build_object('id', ${id},
  'project_id', '${projectId}', 'user_id', case :who ${pick} end, 'name', 'bench.bin', 'size', 10240,
  'mime_type', 'application/octet-stream', 'storage_key', '${projectId}/' || ${id}, 'folder', '', 'tags', '[]'::jsonb,
  'metadata', '{}'::jsonb, 'visibility', 'private', 'zone', 'private', 'sha256', '\\x00', 'created_at', now(),
  'updated_at', now())), 'file.upload', 'project', '${projectId}'::uuid, 'bench', '127.0.0.1', 'pgbench');
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
