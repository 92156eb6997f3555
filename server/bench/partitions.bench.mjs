// The cost of splitting `files` into 16 hash partitions by project: the same requests on two databases with the same
// files, one of them split by db/optional/partition-files.sql. The figures include the database and the service.
import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { fillFiles } from './support/fill.mjs';
import { formHeaders, formOf } from './support/forms.mjs';
import { takeTurns, totalOf } from './support/load.mjs';
import { startPakhus } from './support/server.mjs';
import { call, createTenant } from './support/tenant.mjs';

export const name = 'partitions';

const files = Number(process.env.BENCH_FILES ?? 100_000);
const script = new URL('../db/optional/partition-files.sql', import.meta.url);

export async function run({ pakhus, tenant, databaseUrl, folder }) {
  const splitUrl = databaseUrl.replace(/\/[^/?]+\?/, '/split?');
  await query(databaseUrl, 'create database split');
  const first = await startPakhus(folder, splitUrl, { name: 'first' });
  await first.stop();
  await query(splitUrl, await readFile(script, 'utf8'));
  const split = await startPakhus(folder, splitUrl, { name: 'split' });
  try {
    const whole = await requestsOn(pakhus, databaseUrl, tenant);
    const parts = await requestsOn(split, splitUrl, await createTenant(split));
    const turns = Object.keys(whole).flatMap((what) => [
      [`${what}, whole`, whole[what]],
      [`${what}, split`, parts[what]],
    ]);
    const rounds = await takeTurns(Object.fromEntries(turns), { rounds: 4, seconds: 1, connections: 8 });
    const p50 = (what) => totalOf(rounds[what]).p50Ms;
    return Object.keys(whole).flatMap((what) => [
      { name: `${what}: median`, figure: p50(`${what}, whole`), unit: 'ms' },
      {
        name: `${what}: ratio of split to whole`,
        figure: p50(`${what}, split`) / p50(`${what}, whole`),
        unit: '',
      },
    ]);
  } finally {
    await split.stop();
  }
}

async function requestsOn(server, databaseUrl, tenant) {
  const headers = { authorization: `Bearer ${tenant.key}` };
  const base = `/api/v1/project/users/${tenant.userId}`;
  const { space } = await call(server, 'POST', `/project/users/${tenant.userId}/spaces`, {
    as: tenant.key,
    body: { external_id: 'bench', name: 'bench' },
  });
  const fileId = await fillFiles(databaseUrl, tenant, files, "'folder-' || (n % 50)");
  await query(
    databaseUrl,
    `update files set space_id = '${space.id}' where folder = 'folder-3'; analyze files`,
  );
  const read = (path) => ({ server, request: { path, headers } });
  return {
    'read a file': read(`${base}/files/${fileId}`),
    'list 100 files': read(`${base}/files?limit=100`),
    'list a space': read(`${base}/files?limit=100&space_id=${space.id}`),
    'list a folder': read(`${base}/files/folders?prefix=folder-7&limit=20`),
    'upload 10 KiB': {
      server,
      expect: 201,
      request: {
        method: 'POST',
        path: `${base}/files`,
        headers: { ...headers, ...formHeaders },
        body: formOf(10 * 1024),
      },
    },
  };
}

async function query(databaseUrl, statement) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}
