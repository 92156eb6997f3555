// Images per second through the whole service, from upload to done, compared with bare sharp on the same cores; and
// the latency of a read while every core compresses, compared with an idle service.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { cpuDuring } from './support/cpu.mjs';
import { drive, median } from './support/load.mjs';
import { call } from './support/tenant.mjs';

export const name = 'images';

const count = 12;
const rounds = 3;

export async function run({ pakhus, tenant, folder }) {
  const photo = join(folder, 'photo.jpg');
  await makePhoto(photo);
  const bytes = await readFile(photo);
  const read = {
    server: pakhus,
    connections: 4,
    request: {
      path: `/api/v1/project/users/${tenant.userId}`,
      headers: { authorization: `Bearer ${tenant.key}` },
    },
  };
  await compressAll(pakhus, tenant, bytes, 2);
  const perSecond = { pakhus: [], bare: [] };
  const idle = [];
  const busy = [];
  const cpu = { service: [], database: [] };
  for (let round = 0; round < rounds; round++) {
    perSecond.bare.push((count / (await bareSharp(photo))) * 1000);
    idle.push((await drive({ ...read, seconds: 2 })).p99Ms);
    const spent = await cpuDuring(pakhus, async () => {
      perSecond.pakhus.push((count / (await compressAll(pakhus, tenant, bytes, count))) * 1000);
    });
    for (const part of Object.keys(cpu)) cpu[part].push(spent[part] / count);
    const compressing = compressAll(pakhus, tenant, bytes, count);
    await delay(1_000);
    busy.push((await drive({ ...read, seconds: 4 })).p99Ms);
    await compressing;
  }
  const ratios = perSecond.pakhus.map((figure, round) => figure / perSecond.bare[round]);
  return [
    { name: '12 MP to webp 80, through the service', figure: median(perSecond.pakhus), unit: '1/s' },
    { name: '12 MP to webp 80, bare sharp', figure: median(perSecond.bare), unit: '1/s' },
    { name: 'ratio to bare sharp', figure: median(ratios), unit: '', target: { atLeast: 0.85 } },
    { name: 'CPU of the service', figure: median(cpu.service), unit: 'ms/image' },
    { name: 'CPU of the database', figure: median(cpu.database), unit: 'ms/image' },
    { name: 'CPU, sum', figure: median(cpu.service) + median(cpu.database), unit: 'ms/image' },
    { name: 'read, p99, idle', figure: median(idle), unit: 'ms' },
    { name: 'read, p99, while compressing', figure: median(busy), unit: 'ms' },
    {
      name: 'read, p99, compressing to idle',
      figure: median(busy) / median(idle),
      unit: '',
      target: { atMost: 3 },
    },
  ];
}

/** Blurred noise: as hard to compress as a photograph. */
async function makePhoto(path) {
  const noise = sharp({
    create: { width: 1000, height: 750, channels: 3, noise: { type: 'gaussian', mean: 128, sigma: 60 } },
  });
  const raw = await noise.blur(1.2).png().toBuffer();
  await sharp(raw).resize(4000, 3000).jpeg({ quality: 90 }).toFile(path);
}

/** Milliseconds from the first upload to the last finished job. */
async function compressAll(pakhus, tenant, bytes, images) {
  const startedAt = performance.now();
  const jobs = await Promise.all(Array.from({ length: images }, () => upload(pakhus, tenant, bytes)));
  for (const jobId of jobs) await done(pakhus, tenant, jobId);
  return performance.now() - startedAt;
}

async function upload(pakhus, tenant, bytes) {
  const form = new FormData();
  form.append('image', new Blob([bytes], { type: 'image/jpeg' }), 'photo.jpg');
  const response = await fetch(`${pakhus.url}/project/users/${tenant.userId}/images`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tenant.key}` },
    body: form,
  });
  if (response.status !== 202) throw new Error(`image upload got status ${response.status}`);
  return (await response.json()).job_id;
}

async function done(pakhus, tenant, jobId) {
  for (;;) {
    const { status, error } = await call(pakhus, 'GET', `/project/jobs/${jobId}`, { as: tenant.key });
    if (status === 'done') return;
    if (status === 'failed') throw new Error(`a job failed: ${error}`);
    await delay(25);
  }
}

async function bareSharp(photo) {
  const program = fileURLToPath(new URL('support/bare-sharp.mjs', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [program, photo, String(count)]);
  return Number(stdout);
}
