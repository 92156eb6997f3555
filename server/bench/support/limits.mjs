// What the machine can do at best, for comparison: no service is faster than its hash, its disk, its database or its
// HTTP parser.
import { createHash, randomBytes } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { startBareHttp } from './bare.mjs';
import { drive, pace } from './load.mjs';

const mib = 1 << 20;
const forMs = 1500 * pace;

export async function measureLimits(folder, database, startServer) {
  return [
    { name: 'sha256, one core', figure: sha256Rate(), unit: 'MB/s' },
    { name: 'fdatasync of 4 KiB', figure: await syncRate(folder), unit: '1/s' },
    { name: 'commits, 1 connection', figure: await commitRate(database, 1), unit: '1/s' },
    { name: 'commits, 32 connections', figure: await commitRate(database, 32), unit: '1/s' },
    { name: 'bare node:http, 32 connections', figure: await httpRate(startServer), unit: '1/s' },
  ];
}

/** By CPU time: the hash never waits, so other load on the machine does not count. */
export function sha256Rate() {
  const piece = randomBytes(mib);
  const hash = createHash('sha256').update(piece);
  const before = process.cpuUsage();
  for (let bytes = mib; ; bytes += mib) {
    hash.update(piece);
    const { user, system } = process.cpuUsage(before);
    if (user + system >= forMs * 1000) return bytes / (user + system);
  }
}

async function syncRate(folder) {
  const file = await open(join(folder, 'synced'), 'a');
  const block = randomBytes(4096);
  try {
    return await rateOf(async () => {
      await file.write(block);
      await file.datasync();
    });
  } finally {
    await file.close();
  }
}

async function commitRate(database, connections) {
  const clients = Array.from(
    { length: connections },
    () => new pg.Client({ connectionString: database.url }),
  );
  await Promise.all(clients.map((client) => client.connect()));
  try {
    await clients[0].query('create table if not exists committed (n int)');
    const insert = { name: 'commit', text: 'insert into committed values ($1)', values: [1] };
    const rates = await Promise.all(clients.map((client) => rateOf(() => client.query(insert))));
    return rates.reduce((total, rate) => total + rate, 0);
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}

async function httpRate(startServer) {
  const server = await startBareHttp(startServer);
  const request = { path: '/' };
  await drive({ server, request, seconds: 1 });
  const { perSecond } = await drive({ server, request, seconds: 1.5 });
  await server.stop();
  return perSecond;
}

async function rateOf(work) {
  const startedAt = performance.now();
  for (let count = 0; ; count++) {
    const tookMs = performance.now() - startedAt;
    if (tookMs >= forMs) return (count / tookMs) * 1000;
    await work();
  }
}
