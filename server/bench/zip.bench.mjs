// A zip of ten thousand files from disk, in turns with `cat` of the same files through the same kind of socket: how fast it is
// sent, and how much memory the service needs for it.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { download } from './support/curl.mjs';
import { formField, formHeaders, formOf } from './support/forms.mjs';
import { median, pace } from './support/load.mjs';
import { watchMemory } from './support/memory.mjs';

export const name = 'zip';

const files = Math.ceil(10_000 * Math.min(pace, 1));
const fileBytes = Number(process.env.BENCH_BYTES ?? 64 << 10);
const uploadsAtOnce = 16;
const rounds = 7;

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

async function rateOf(target) {
  const { bytes, seconds } = await download(target);
  if (bytes < files * fileBytes) throw new Error(`${target.url} sent ${bytes} bytes only`);
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
