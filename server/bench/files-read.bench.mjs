// The cost of large reads: a file with its URL, a list of 100, the first page and page 5,000 of half a million
// files, and one level of a folder with a hundred thousand. On a shared machine CPU time varies by half, so a bare
// handler that reads the same rows takes turns with Pakhus.
import pg from 'pg';
import { startBare } from './support/bare.mjs';
import { fillFiles } from './support/fill.mjs';
import { takeTurns, totalOf } from './support/load.mjs';
import { startS3Sink } from './support/s3-sink.mjs';
import { call } from './support/tenant.mjs';

export const name = 'files-read';

const files = Number(process.env.BENCH_FILES ?? 500_000);
const folderFiles = Math.min(100_000, files / 5);
const pageSize = 100;
const deepPage = Math.min(5_000, Math.floor(files / pageSize) - 1);

export async function run({ pakhus, other, tenant, databaseUrl, startServer, startAnother }) {
  const bare = await startBare(startServer, databaseUrl);
  const onS3 = await startAnother('on-s3', await startS3Sink());
  const fileId = await fillFiles(databaseUrl, tenant, files, folderOf);
  const headers = { authorization: `Bearer ${tenant.key}` };
  const base = `/api/v1/project/users/${tenant.userId}/files`;
  const cursor = await cursorOfPage(pakhus, tenant, databaseUrl);
  const read = (path, server = pakhus) => ({ server, request: { path: `${base}${path}`, headers } });
  const bareRead = (path) => ({
    server: bare,
    request: { path: `/projects/${tenant.projectId}/users/${tenant.userId}/files${path}` },
  });
  const details = await takeTurns(
    {
      'bare detail': bareRead(`/${fileId}`),
      detail: read(`/${fileId}`),
      'detail on S3': read(`/${fileId}`, onS3),
      ...(other && { 'other detail': read(`/${fileId}`, other) }),
    },
    { rounds: 4, seconds: 4, warmSeconds: 20, connections: 32 },
  );
  const lists = await takeTurns(
    {
      'bare list of 100': bareRead(`?limit=${pageSize}`),
      'list of 100': read(`?limit=${pageSize}`),
      [`list of 100, page ${deepPage}`]: read(`?limit=${pageSize}&cursor=${cursor}`),
      'small folder': read(`/folders?prefix=small&limit=${pageSize}`),
      'folder of many files': read(`/folders?prefix=many&limit=${pageSize}`),
      'folders beside it': read(`/folders?limit=${pageSize}`),
      ...(other && { 'other list of 100': read(`?limit=${pageSize}`, other) }),
    },
    { rounds: 8, seconds: 1, warmSeconds: 6, connections: 32 },
  );
  const totals = Object.fromEntries(
    Object.entries({ ...details, ...lists }).map(([who, rounds]) => [who, totalOf(rounds)]),
  );
  const target = {
    detail: { atMost: 0.15 },
    'detail on S3': { atMost: 0.15 },
    'list of 100': { atMost: 0.6 },
  };
  return [
    ...Object.entries(totals).flatMap(([who, { cpuMsPerRequest, quietCpuMsPerRequest, p50Ms }]) => [
      {
        name: `${who}: CPU`,
        figure: cpuMsPerRequest,
        unit: 'ms/request',
        ...(target[who] && { target: target[who] }),
      },
      { name: `${who}: CPU, quiet rounds`, figure: quietCpuMsPerRequest, unit: 'ms/request' },
      { name: `${who}: latency, median`, figure: p50Ms, unit: 'ms' },
    ]),
    ...['detail', 'detail on S3', 'list of 100'].map((who) => ({
      name: `${who}: CPU, ratio to bare server`,
      figure: totals[who].cpuMsPerRequest / totals[bareOf(who)].cpuMsPerRequest,
      unit: '',
    })),
    {
      name: `page ${deepPage} to page 1, latency`,
      figure: totals[`list of 100, page ${deepPage}`].p50Ms / totals['list of 100'].p50Ms,
      unit: '',
      target: { atMost: 1.5 },
    },
    {
      name: 'folder of many files to small folder, latency',
      figure: totals['folder of many files'].p50Ms / totals['small folder'].p50Ms,
      unit: '',
      target: { atMost: 1.5 },
    },
  ];
}

const bareOf = (who) => (who.startsWith('detail') ? 'bare detail' : 'bare list of 100');

const folderOf = `case when n <= ${folderFiles} then 'many' when n <= ${folderFiles + pageSize} then 'small'
  else 'folder-' || (n % 50) || '/deeper-' || (n % 7) end`;

/** Walking 5,000 pages takes minutes, so the cursor is built from the last row before the page. */
async function cursorOfPage(pakhus, tenant, databaseUrl) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query(
    'select created_at, id from files where user_id = $1 order by created_at desc, id desc offset $2 limit 1',
    [tenant.userId, deepPage * pageSize - 1],
  );
  await client.end();
  const { cursorCodec } = await import('../dist/kernel/cursor.js');
  const { deriveKey } = await import('../dist/kernel/crypto/secret.js');
  const codec = cursorCodec(deriveKey('a secret that only the benches know about', 'cursor'));
  const cursor = codec.encode(`files:${tenant.userId}`, [rows[0].created_at.toISOString(), rows[0].id]);
  await call(pakhus, 'GET', `/project/users/${tenant.userId}/files?limit=1&cursor=${cursor}`, {
    as: tenant.key,
  });
  return cursor;
}
