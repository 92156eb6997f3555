// A zip of ten thousand files from disk, in turns with `cat` of the same files through the same kind of socket: how fast it is
// sent, and how much memory the service needs for it.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { formField, formHeaders, formOf } from './support/forms.mjs';
import { median, pace } from './support/load.mjs';
import { watchMemory } from './support/memory.mjs';

export const name = 'zip';

const files = Math.ceil(10_000 * Math.min(pace, 1));
const fileBytes = Number(process.env.BENCH_BYTES ?? 64 << 10);
const uploadsAtOnce = 16;
const rounds = 7;
const execute = promisify(execFile);

export async function run({ pakhus, tenant, folder, startServer }) {
  await fill(pakhus, tenant);
  const cat = await startServer({
    name: 'cat',
    file: fileURLToPath(new URL('./support/cat-server.mjs', import.meta.url)),
    ready: /ready at (\S+)/,
    environment: { FOLDER: join(folder, 'pakhus', 'objects') },
  });
  const targets = {
    zip: {
      url: `${pakhus.url}/project/users/${tenant.userId}/files/zip?folder=zipped`,
      headers: { authorization: `Bearer ${tenant.key}` },
    },
    cat: { url: cat.url, headers: {} },
  };
  // The first of each is a warm-up.
  for (const target of Object.values(targets)) await rateOf(target);
  const memory = watchMemory(pakhus.pid);
  const before = memory.now();
  const rates = { zip: [], cat: [] };
  for (let round = 0; round < rounds; round++)
    for (const [who, target] of Object.entries(targets)) rates[who].push(await rateOf(target));
  return [
    { name: 'zip', figure: median(rates.zip), unit: 'MiB/s' },
    { name: 'cat', figure: median(rates.cat), unit: 'MiB/s' },
    { name: 'zip / cat', figure: median(rates.zip) / median(rates.cat), unit: '', target: { atLeast: 0.7 } },
    { name: 'memory of the zip', figure: memory.stop() - before, unit: 'MiB', target: { atMost: 32 } },
  ];
}

/** By curl, which leaves most of the two cores to the servers. */
async function rateOf({ url, headers }) {
  const given = Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]);
  const format = '%{http_code} %{size_download} %{time_total}';
  const { stdout } = await execute('curl', [
    '--silent',
    '--output',
    '/dev/null',
    '--write-out',
    format,
    ...given,
    url,
  ]);
  const [status, bytes, seconds] = stdout.split(' ').map(Number);
  if (status !== 200) throw new Error(`${url} answered ${status}`);
  if (bytes < files * fileBytes) throw new Error(`${url} sent ${bytes} bytes only`);
  return bytes / 1024 / 1024 / seconds;
}

async function fill(server, tenant) {
  const path = `${server.url}/project/users/${tenant.userId}/files`;
  const body = Buffer.concat([formField('folder', 'zipped'), formOf(fileBytes)]);
  let left = files;
  const sendSome = async () => {
    while (left-- > 0) {
      const headers = { authorization: `Bearer ${tenant.key}`, ...formHeaders };
      const reply = await fetch(path, { method: 'POST', headers, body });
      if (reply.status !== 201) throw new Error(`an upload answered ${reply.status}: ${await reply.text()}`);
      await reply.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: uploadsAtOnce }, sendSome));
}
