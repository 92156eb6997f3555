// The content of a file: from disk next to a bare node:http file server, and from S3 next to the store itself, by the
// signed URL of the same file. S3 is measured only if TEST_S3_ENDPOINT names a server. Judge the ratios: what is compared takes turns.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startBareFile } from './support/bare.mjs';
import { cpuDuring } from './support/cpu.mjs';
import { download } from './support/curl.mjs';
import { median, pace } from './support/load.mjs';
import { memoryMiB, watchMemory } from './support/memory.mjs';
import { makeBucket } from './support/s3-bucket.mjs';
import { call } from './support/tenant.mjs';

export const name = 'content';
export const environment = { RATE_LIMIT_MAX: '1000000000' };

const bytes = Math.ceil(128 * pace) << 20;
const rounds = Math.max(3, Math.ceil(25 * pace));
/** Before the rounds, so that V8 does not compile beside them. */
const warmUps = Math.ceil(10 * pace);

export async function run({ pakhus, folder, startServer, startAnother }) {
  const file = join(folder, 'bare.bin');
  await writeFile(file, Buffer.alloc(bytes, 'pakhus '));
  const bare = await startBareFile(startServer, file);
  const fromDisk = await store(pakhus, pakhus.tenant);
  const measures = await compare('disk', pakhus, fromDisk, { url: bare.url }, 'bare file server', 0.8);
  const bucket = await makeBucket();
  if (!bucket) return measures;
  try {
    const onS3 = await startAnother('on-s3', { ...environment, ...bucket.environment });
    const fromS3 = await store(onS3, pakhus.tenant);
    const direct = { url: fromS3.signedUrl };
    return [...measures, ...(await compare('S3', onS3, fromS3, direct, 'the store itself', 0.7))];
  } finally {
    await bucket.remove();
  }
}

/** Uploads the file, and resolves to how it is read. */
async function store(server, { key, userId }) {
  const form = new FormData();
  form.append('file', new Blob([Buffer.alloc(bytes, 'pakhus ')]), 'large.bin');
  const path = `/project/users/${userId}/files`;
  const headers = { authorization: `Bearer ${key}` };
  const sent = await fetch(`${server.url}${path}`, { method: 'POST', headers, body: form });
  const { file } = await sent.json();
  const { file: read } = await call(server, 'GET', `${path}/${file.id}`, { as: key });
  return { url: `${server.url}${path}/${file.id}/content`, headers, signedUrl: read.url };
}

/** MB/s. */
async function readOnce(target) {
  const { bytes: received, seconds } = await download(target);
  if (received !== bytes) throw new Error(`${received} of ${bytes} bytes came from ${target.url}`);
  return bytes / 1e6 / seconds;
}

async function compare(where, server, ours, theirs, whose, atLeast) {
  for (let read = 0; read < warmUps; read++) for (const target of [ours, theirs]) await readOnce(target);
  const before = memoryMiB(server.pid);
  const memory = watchMemory(server.pid);
  const measured = [];
  for (let round = 0; round < rounds; round++) {
    let rate = 0;
    const cpu = await cpuDuring(server, async () => {
      rate = await readOnce(ours);
    });
    measured.push({ ours: rate, theirs: await readOnce(theirs), cpu: cpu.service });
  }
  const grown = memory.stop() - before;
  const middle = (figure) => median(measured.map(figure));
  return [
    { name: `${where}: throughput`, figure: middle((one) => one.ours), unit: 'MB/s' },
    { name: `${where}: ${whose}`, figure: middle((one) => one.theirs), unit: 'MB/s' },
    {
      name: `${where}: ratio to ${whose}`,
      figure: middle((one) => one.ours / one.theirs),
      unit: '',
      target: { atLeast },
    },
    { name: `${where}: CPU of the service`, figure: middle(({ cpu }) => cpu), unit: 'ms' },
    { name: `${where}: memory grows by`, figure: grown, unit: 'MiB' },
  ];
}
