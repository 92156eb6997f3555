// The cost of splitting `files` into 16 hash partitions by project: the same requests on two databases with the same
// files, one of them split by db/optional/partition-files.sql. The figures include the database and the service.
import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { fillFiles } from './support/fill.mjs';
import { formHeaders, formOf } from './support/forms.mjs';
import { takeTurns, totalOf } from './support/load.mjs';
import { costsOfAll } from './support/measures.mjs';
import { startPakhus } from './support/server.mjs';
import { call, createTenant } from './support/tenant.mjs';

export const name = 'partitions';

const files = Number(process.env.BENCH_FILES ?? 100_000);
const script = new URL('../db/optional/partition-files.sql', import.meta.url);

export async function run({ pakhus, database, folder }) {
  const splitDatabase = { ...database, url: database.url.replace(/\/[^/?]+\?/, '/split?') };
  await query(database, 'create database split');
  const first = await startPakhus(folder, splitDatabase, { name: 'first' });
  await first.stop();
  await query(splitDatabase, await readFile(script, 'utf8'));
  const split = await startPakhus(folder, splitDatabase, { name: 'split' });
  try {
    const whole = await requestsOn(pakhus);
    const parts = await requestsOn({ ...split, tenant: await createTenant(split) });
    const turns = Object.keys(whole).flatMap((what) => [
      [`${what}, whole`, whole[what]],
      [`${what}, split`, parts[what]],
    ]);
    const rounds = await takeTurns(Object.fromEntries(turns), { rounds: 4, seconds: 1, connections: 8 });
    const sum = (what) => totalOf(rounds[what]).cpu.sum;
    return [
      ...costsOfAll(rounds),
      ...Object.keys(whole).map((what) => ({
        name: `${what}: CPU, sum, ratio of split to whole`,
        figure: sum(`${what}, split`) / sum(`${what}, whole`),
        unit: '',
      })),
    ];
  } finally {
    await split.stop();
  }
}

async function requestsOn(server) {
  const { tenant, database } = server;
  const headers = { authorization: `Bearer ${tenant.key}` };
  const base = `/api/v1/project/users/${tenant.userId}`;
  const { space } = await call(server, 'POST', `/project/users/${tenant.userId}/spaces`, {
    as: tenant.key,
    body: { external_id: 'bench', name: 'bench' },
  });
  const fileId = await fillFiles(server, files, { folder: "'folder-' || (n % 50)" });
  await query(database, `update files set space_id = '${space.id}' where folder = 'folder-3'; analyze files`);
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

async function query({ url }, statement) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}
