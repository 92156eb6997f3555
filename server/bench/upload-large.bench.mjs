// Large uploads: one of 1 GiB and eight of 128 MiB at once, compared with a bare server that does not hash and with the
// rate of sha256 on one core; reads while eight uploads run; and the memory of uploads, to disk and to S3.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startBareUpload } from './support/bare.mjs';
import { keepSending, sendLarge } from './support/big-upload.mjs';
import { cpuDuring, machine } from './support/cpu.mjs';
import { sha256Rate } from './support/limits.mjs';
import { drive, median, pace } from './support/load.mjs';
import { watchMemory } from './support/memory.mjs';
import { startS3Sink } from './support/s3-sink.mjs';
import { call, createUsers } from './support/tenant.mjs';

export const name = 'upload-large';

const mib = 1 << 20;
const rounds = Math.ceil(5 * pace);
const shapes = {
  '1 GiB': { bytes: Math.ceil(1024 * pace) * mib - 4096, count: 1 },
  '8 × 128 MiB': { bytes: Math.ceil(128 * pace) * mib, count: 8 },
};
const crowd = { bytes: Math.ceil(100 * pace) * mib, count: 100 };

export async function run({ pakhus, other, folder, startServer, startAnother }) {
  const bare = await startBareUpload(startServer, { BARE_HASH: 'off' });
  const targets = {
    bare: { server: bare, urls: [bare.url], headers: {}, discard: () => emptyFolder(join(folder, 'bare')) },
    pakhus: targetOf(pakhus),
    ...(other && { other: targetOf(other) }),
  };
  for (const target of Object.values(targets)) await sendLarge(target, { bytes: 8 * mib });
  const memory = watchMemory(pakhus.pid);
  const before = memory.now();
  const results = { '1 GiB': [], '8 × 128 MiB': [] };
  for (let round = 0; round < rounds; round++) results['1 GiB'].push(await sendToAll(targets, '1 GiB'));
  const grown = memory.stop() - before;
  for (let round = 0; round < rounds; round++)
    results['8 × 128 MiB'].push(await sendToAll(targets, '8 × 128 MiB'));
  const onS3 = await startAnother('on-s3', await startS3Sink());
  return [
    ...Object.entries(results).flatMap(([shape, measured]) => ratesOf(shape, measured)),
    ...(await readsWhileUploading(targets.pakhus)),
    { name: '1 GiB: memory grows by', figure: grown, unit: 'MiB', target: { atMost: 64 } },
    ...(await memoryOfCrowd('100 × 100 MiB at once', pakhus)),
    ...(await memoryOfCrowd('100 × 100 MiB at once on S3', { ...onS3, tenant: pakhus.tenant })),
  ];
}

function targetOf(server, users = [server.tenant.userId]) {
  const paths = users.map((user) => `/project/users/${user}/files`);
  return {
    server,
    urls: paths.map((path) => `${server.url}${path}`),
    headers: { authorization: `Bearer ${server.tenant.key}` },
    discard: async () => {
      for (const path of paths) await deleteAll(server, path);
    },
  };
}

/** One round: MB/s and CPU of every target, and the rate of the hash at that time. */
async function sendToAll(targets, shape) {
  const { bytes, count } = shapes[shape];
  const round = { hash: { rate: sha256Rate() } };
  for (const [who, target] of Object.entries(targets)) {
    let tookMs = 0;
    const cpu = await cpuDuring(target.server, async () => {
      const sent = await sendLarge(target, { bytes, count });
      if (sent.again > 0) throw new Error(`${who} refused ${sent.again} uploads`);
      tookMs = sent.tookMs;
    });
    round[who] = { rate: (bytes * count) / 1e3 / tookMs, cpu };
    await target.discard();
  }
  return round;
}

function ratesOf(shape, measured) {
  const middle = (figure) => median(measured.map(figure));
  const ours = (figure) => middle(({ pakhus }) => figure(pakhus));
  return [
    { name: `${shape}: throughput`, figure: ours(({ rate }) => rate), unit: 'MB/s' },
    { name: `${shape}: bare server`, figure: middle(({ bare }) => bare.rate), unit: 'MB/s' },
    { name: `${shape}: sha256, one core`, figure: middle(({ hash }) => hash.rate), unit: 'MB/s' },
    ...(shape === '1 GiB' ? ratioOfOne(middle) : ratioOfEight(middle)),
    { name: `${shape}: CPU of the service`, figure: ours(({ cpu }) => cpu.service), unit: 'ms' },
    { name: `${shape}: CPU of the database`, figure: ours(({ cpu }) => cpu.database), unit: 'ms' },
    { name: `${shape}: CPU, sum`, figure: ours(({ cpu }) => cpu.service + cpu.database), unit: 'ms' },
    ...(measured[0].other ? againstOther(shape, middle) : []),
  ];
}

const ratioOfOne = (middle) => [
  {
    name: '1 GiB: ratio to the slower of bare server and sha256',
    figure: middle(({ pakhus, bare, hash }) => pakhus.rate / Math.min(bare.rate, hash.rate)),
    unit: '',
    target: { atLeast: 0.9 },
  },
];

/** With SHA instructions the hash is not the limit, and a second core gains nothing. */
function ratioOfEight(middle) {
  const fastHash = machine().shaInstructions;
  return [
    {
      name: '8 × 128 MiB: ratio to sha256 on one core',
      figure: middle(({ pakhus, hash }) => pakhus.rate / hash.rate),
      unit: '',
      ...(!fastHash && { target: { atLeast: 1.6 } }),
    },
    {
      name: '8 × 128 MiB: ratio to bare server',
      figure: middle(({ pakhus, bare }) => pakhus.rate / bare.rate),
      unit: '',
      ...(fastHash && { target: { atLeast: 0.8 } }),
    },
  ];
}

const againstOther = (shape, middle) => [
  {
    name: `${shape}: new/other, throughput`,
    figure: middle(({ pakhus, other }) => pakhus.rate / other.rate),
    unit: '',
  },
  ...['service', 'database'].map((part) => ({
    name: `${shape}: new/other, CPU of the ${part}`,
    figure: middle(({ pakhus, other }) => pakhus.cpu[part] / other.cpu[part]),
    unit: '',
  })),
];

/** The p99 of a file's detail, idle and beside eight uploads that never end. */
async function readsWhileUploading(target) {
  const { server, discard } = target;
  const { key, userId } = server.tenant;
  await sendLarge(target, { bytes: mib });
  const { files } = await call(server, 'GET', `/project/users/${userId}/files?limit=1`, { as: key });
  const path = `/api/v1/project/users/${userId}/files/${files[0].id}`;
  const read = { server, connections: 4, request: { path, headers: target.headers } };
  await drive({ ...read, seconds: 3 });
  const idle = [];
  const busy = [];
  for (let round = 0; round < rounds; round++) {
    idle.push((await drive({ ...read, seconds: 3 })).p99Ms);
    const uploads = keepSending(target, shapes['8 × 128 MiB']);
    await delay(500);
    busy.push((await drive({ ...read, seconds: 3 })).p99Ms);
    await uploads.stop();
  }
  await discard();
  return [
    { name: 'file detail, p99, idle', figure: median(idle), unit: 'ms' },
    { name: 'file detail, p99, during eight uploads', figure: median(busy), unit: 'ms' },
    {
      name: 'file detail, p99, during eight uploads to idle',
      figure: median(busy) / median(idle),
      unit: '',
      target: { atMost: 3 },
    },
  ];
}

/** Of ten users: the uploads of one user are admitted one after the other. */
async function memoryOfCrowd(what, server) {
  const target = targetOf(server, await createUsers(server, server.tenant, 10));
  const memory = watchMemory(server.pid);
  const { again } = await sendLarge(target, crowd);
  await target.discard();
  return [
    { name: `${what}: total memory`, figure: memory.stop(), unit: 'MiB', target: { atMost: 512 } },
    { name: `${what}: sent again`, figure: again, unit: '' },
  ];
}

/** The disk would fill up otherwise. */
async function deleteAll(server, path) {
  const { key } = server.tenant;
  for (;;) {
    const { files } = await call(server, 'GET', `${path}?limit=100`, { as: key });
    if (files.length === 0) return;
    for (const { id } of files) await call(server, 'DELETE', `${path}/${id}`, { as: key });
  }
}

async function emptyFolder(folder) {
  for (const file of await readdir(folder)) await rm(join(folder, file));
}
