// One upload of 1 GiB compared with a bare server, and the memory of uploads: one large upload, and a hundred at
// once, to disk and to S3.
import { existsSync, readFileSync } from 'node:fs';
import { startBareUpload } from './support/bare.mjs';
import { sendLarge } from './support/big-upload.mjs';
import { median } from './support/load.mjs';
import { startS3Sink } from './support/s3-sink.mjs';

export const name = 'upload-large';

const mib = 1 << 20;
const rounds = 5;
const largeBytes = 1024 * mib - 4096;

export async function run({ pakhus, tenant, startServer, startAnother }) {
  const bare = await startBareUpload(startServer);
  const headers = { authorization: `Bearer ${tenant.key}` };
  const upload = (bytes, { url } = pakhus) =>
    succeeded(sendLarge(`${url}/project/users/${tenant.userId}/files`, headers, bytes));
  const uploadBare = (bytes) => succeeded(sendLarge(bare.url, {}, bytes));
  await upload(8 * mib);
  await uploadBare(8 * mib);

  const before = memoryMiB(pakhus.pid);
  const watch = watchMemory(pakhus.pid);
  const speeds = { pakhus: [], bare: [] };
  for (let round = 0; round < rounds; round++) {
    speeds.bare.push(largeBytes / 1e3 / (await uploadBare(largeBytes)));
    speeds.pakhus.push(largeBytes / 1e3 / (await upload(largeBytes)));
  }
  const afterLarge = watch.stop();
  const memoryOfCrowd = async (server) => {
    const crowd = watchMemory(server.pid);
    await Promise.all(Array.from({ length: 100 }, () => upload(100 * mib, server)));
    return crowd.stop();
  };
  const onDisk = await memoryOfCrowd(pakhus);
  const onS3 = await memoryOfCrowd(await startAnother('on-s3', await startS3Sink()));
  const ratios = speeds.pakhus.map((speed, round) => speed / speeds.bare[round]);
  return [
    { name: '1 GiB: throughput', figure: median(speeds.pakhus), unit: 'MB/s' },
    { name: '1 GiB: throughput of bare server', figure: median(speeds.bare), unit: 'MB/s' },
    { name: '1 GiB: ratio to bare server', figure: median(ratios), unit: '', target: { atLeast: 0.7 } },
    { name: '1 GiB: memory grows by', figure: afterLarge - before, unit: 'MiB', target: { atMost: 64 } },
    { name: '100 × 100 MiB at once: total memory', figure: onDisk, unit: 'MiB', target: { atMost: 512 } },
    { name: '100 × 100 MiB at once on S3: total memory', figure: onS3, unit: 'MiB', target: { atMost: 512 } },
  ];
}

async function succeeded(sending) {
  const { status, text, tookMs } = await sending;
  if (status !== 201) throw new Error(`upload got status ${status}: ${text}`);
  return tookMs;
}

/** Resident memory; NaN without /proc or after the process has ended. */
function memoryMiB(pid) {
  const file = `/proc/${pid}/status`;
  return existsSync(file)
    ? Number(/VmRSS:\s+(\d+)/.exec(readFileSync(file, 'utf8'))?.[1]) / 1024
    : Number.NaN;
}

/** `stop` returns the highest value seen. */
function watchMemory(pid) {
  let most = memoryMiB(pid);
  const timer = setInterval(() => {
    most = Math.max(most, memoryMiB(pid));
  }, 50);
  return {
    stop: () => {
      clearInterval(timer);
      return most;
    },
  };
}
