// Uploads that survive a cut connection: their throughput next to that of a form, their statements, the memory of those that
// are under way, and what the service pays for files that go straight to the store. BENCH_BYTES is the size of the file.
// S3 is measured only if TEST_S3_ENDPOINT names a server: direct uploads need one.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { sendChunks, sendLarge } from './support/big-upload.mjs';
import { cpuDuring } from './support/cpu.mjs';
import { formHeaders, formOf } from './support/forms.mjs';
import { median, pace } from './support/load.mjs';
import { memoryMiB, watchMemory } from './support/memory.mjs';
import { makeBucket } from './support/s3-bucket.mjs';
import { countingSettings, statementsPer } from './support/statements.mjs';
import { call, createUsers } from './support/tenant.mjs';
import { cancelUpload, createUpload, sendChunk, sendSlowly } from './support/tus.mjs';

export const name = 'uploads';
/** All requests come from one address. */
export const environment = { RATE_LIMIT_MAX: '1000000000' };

const kib = 1 << 10;
const mib = 1 << 20;
const bytes = Number(process.env.BENCH_BYTES ?? Math.ceil(1024 * pace) * mib - 4 * kib);
const chunkBytes = 8 * mib;
/** An odd number: the median of two would be the better one. */
const rounds = 3;
/** Fewer than a user may have under way, and enough to tell them from background work. */
const counted = 90;
const idle = { uploads: 500, perUser: 50, bytes: 64 * kib };
const slow = { uploads: 32, bytes: 64 * mib, pieceBytes: 64 * kib, everyMs: 100 };
const slowMs = 8_000 * pace;
/** A garbage collection or two. */
const settleMs = 3_000;
const direct = {
  partBytes: 8 * mib,
  parts: 8,
  files: Math.ceil(8 * pace),
  smallFiles: Math.ceil(60 * pace),
  warmUps: Math.ceil(25 * pace),
};

export async function run({ pakhus, folder, startSide, startAnother }) {
  const onCounted = await startSide('counted', { settings: countingSettings });
  const measures = [
    ...(await compareThroughput('disk', pakhus)),
    ...(await countStatements(onCounted, join(folder, 'counted-database'))),
    ...(await memoryUnderWay('disk', pakhus)),
  ];
  const bucket = await makeBucket();
  if (!bucket) return [...measures, ...notMeasured];
  try {
    const onS3 = await startAnother('on-s3', { ...environment, ...bucket.environment });
    const server = { ...onS3, tenant: pakhus.tenant };
    return [
      ...measures,
      ...(await compareThroughput('S3', server)),
      ...(await memoryUnderWay('S3', server)),
      ...(await costsOfDirect(server)),
    ];
  } finally {
    await bucket.remove();
  }
}

const notMeasured = [{ name: 'S3: not measured without TEST_S3_ENDPOINT', figure: Number.NaN, unit: '' }];

/** In turns: the same size as a form and in chunks. */
async function compareThroughput(store, server) {
  const { key, userId } = server.tenant;
  const path = `/project/users/${userId}`;
  const headers = { authorization: `Bearer ${key}` };
  const ways = {
    form: (size) => sendLarge({ urls: [`${server.url}${path}/files`], headers }, { bytes: size }),
    chunks: (size) =>
      sendChunks({ urls: [`${server.url}${path}/uploads`], headers }, { bytes: size, chunkBytes }),
  };
  const sent = { form: [], chunks: [] };
  for (const send of Object.values(ways)) await send(2 * chunkBytes);
  for (let round = 0; round < rounds; round++)
    for (const [way, send] of Object.entries(ways)) {
      let tookMs = 0;
      const cpu = await cpuDuring(server, async () => ({ tookMs } = await send(bytes)));
      sent[way].push({ rate: bytes / 1e3 / tookMs, ...cpu, sum: cpu.service + cpu.database });
      await deleteFiles(server, path);
    }
  const middle = (figure) => median(sent.form.map((form, round) => figure(form, sent.chunks[round])));
  const what = `${store}, ${Math.round(bytes / mib)} MiB`;
  const ratio = (field) => middle((form, chunks) => chunks[field] / form[field]);
  return [
    { name: `${what} as a form`, figure: middle((form) => form.rate), unit: 'MB/s' },
    { name: `${what} in chunks`, figure: middle((_, chunks) => chunks.rate), unit: 'MB/s' },
    {
      name: `${what}: chunks to form, throughput`,
      figure: ratio('rate'),
      unit: '',
      target: { atLeast: 0.8 },
    },
    { name: `${what} as a form: CPU, sum`, figure: middle((form) => form.sum), unit: 'ms' },
    { name: `${what} in chunks: CPU of the service`, figure: middle((_, one) => one.service), unit: 'ms' },
    { name: `${what} in chunks: CPU of the database`, figure: middle((_, one) => one.database), unit: 'ms' },
    { name: `${what}: chunks to form, CPU of the service`, figure: ratio('service'), unit: '' },
    { name: `${what}: chunks to form, CPU, sum`, figure: ratio('sum'), unit: '' },
  ];
}

/** Requests follow one another, because those that come at once share statements. */
async function countStatements(server, dataDir) {
  const { tenant } = server;
  const [user] = await createUsers(server, tenant, 1);
  const body = { name: 'a.bin', mimeType: 'application/octet-stream', size: 2 };
  const path = `/project/users/${user}/uploads`;
  const urls = [];
  const create = async () => {
    const { upload } = await call(server, 'POST', path, { as: tenant.key, body });
    urls.push(upload.url);
  };
  // The first requests of a process load what is cached later.
  await create();
  await sendChunk(urls[0], 0, 'ab');
  urls.pop();
  const creation = await statementsPer(dataDir, counted, create);
  const patch = await statementsPer(dataDir, counted, (n) => sendChunk(urls[n], 0, 'a'));
  const last = await statementsPer(dataDir, counted, (n) => sendChunk(urls[n], 1, 'b'));
  const files = [];
  const opening = await statementsPer(dataDir, counted, async () =>
    files.push(await openDirect(server, kib)),
  );
  const sent = await Promise.all(files.map(({ targets }) => sendParts(targets)));
  const closing = await statementsPer(dataDir, counted, (n) => completeDirect(server, files[n], sent[n]));
  return [
    { name: 'statements of a creation', figure: creation, unit: '', target: { atMost: 3 } },
    { name: 'statements of a PATCH', figure: patch, unit: '', target: { atMost: 2 } },
    { name: 'statements of the last PATCH', figure: last, unit: '' },
    {
      name: 'statements of a completion (last PATCH less a PATCH)',
      figure: last - patch,
      unit: '',
      target: { atMost: 2 },
    },
    { name: 'statements of a direct creation and its URLs', figure: opening, unit: '' },
    { name: 'statements of a direct completion', figure: closing, unit: '' },
  ];
}

/** Against the memory after the same work, when nothing is under way any more. */
async function memoryUnderWay(store, server) {
  const users = await createUsers(server, server.tenant, slow.uploads);
  await cancelAll(await startIdle(server, users));
  await (await startSlow(server, users)).stop();
  const grown = { idle: [], slow: [] };
  for (let round = 0; round < rounds; round++) {
    await delay(settleMs);
    const before = memoryMiB(server.pid);
    const urls = await startIdle(server, users);
    await delay(settleMs);
    grown.idle.push(memoryMiB(server.pid) - before);
    const watched = watchMemory(server.pid);
    const receiving = await startSlow(server, users);
    grown.slow.push(watched.stop() - before);
    await receiving.stop();
    await cancelAll(urls);
  }
  return [
    {
      name: `${store}: memory grows by ${idle.uploads} idle uploads`,
      figure: median(grown.idle),
      unit: 'MiB',
      target: { atMost: 24 },
    },
    {
      name: `${store}: and by ${slow.uploads} that receive slowly`,
      figure: median(grown.slow),
      unit: 'MiB',
      target: { atMost: 24 + slow.uploads },
    },
  ];
}

/** Each has received something, so that the service has its hash. Resolves to the URLs. */
async function startIdle(server, users) {
  const chunk = Buffer.alloc(idle.bytes, 'idle');
  const urls = [];
  for (let n = 0; n < idle.uploads; n++) {
    const url = await createUpload(server, users[Math.floor(n / idle.perUser)], 2 * idle.bytes);
    await sendChunk(url, 0, chunk);
    urls.push(url);
  }
  return urls;
}

/** Resolves after a while of receiving. */
async function startSlow(server, users) {
  const piece = Buffer.alloc(slow.pieceBytes, 'slow');
  const sending = [];
  for (let n = 0; n < slow.uploads; n++) {
    const url = await createUpload(server, users[n], slow.bytes);
    sending.push({ url, ...sendSlowly(url, slow.bytes, piece, slow.everyMs) });
  }
  await delay(slowMs);
  return {
    stop: async () => {
      await Promise.all(sending.map(({ stop }) => stop()));
      await cancelAll(sending.map(({ url }) => url));
    },
  };
}

async function cancelAll(urls) {
  for (const url of urls) await cancelUpload(url);
}

/** The CPU time of the service, for files of one small part and of eight: what a part costs is the difference. */
async function costsOfDirect(server) {
  // Before that, a third of the CPU goes to the compiler of V8.
  await costOfFiles(server, direct.warmUps, direct.smallFiles, kib);
  const form = await costOfForms(server, direct.smallFiles);
  const small = await costOfFiles(server, 9, direct.smallFiles, kib);
  const large = await costOfFiles(server, 3, direct.files, direct.parts * direct.partBytes);
  const part = (large - small) / (direct.parts - 1);
  return [
    { name: 'direct, one small part: CPU of the service', figure: small, unit: 'ms' },
    { name: `direct, ${direct.parts} parts of 8 MiB: CPU of the service`, figure: large, unit: 'ms' },
    { name: 'direct: CPU of the service, a file', figure: small - part, unit: 'ms', target: { atMost: 1 } },
    { name: 'direct, one small part: ratio to a form', figure: small / form, unit: '' },
    { name: 'direct: CPU of the service, a part', figure: part, unit: 'ms', target: { atMost: 0.2 } },
  ];
}

/** The same small file in one request, for comparison. */
async function costOfForms(server, files) {
  const { key, userId } = server.tenant;
  const url = `${server.url}/project/users/${userId}/files`;
  const headers = { authorization: `Bearer ${key}`, ...formHeaders };
  const send = async () => (await fetch(url, { method: 'POST', headers, body: formOf(kib) })).text();
  const costs = [];
  for (let batch = 0; batch < 9; batch++) {
    const cpu = await cpuDuring(server, () => Promise.all(Array.from({ length: files }, send)));
    costs.push(cpu.service / files);
  }
  return median(costs.slice(4));
}

/** The median leaves out what jobs do in between. */
async function costOfFiles(server, batches, files, size) {
  const costs = [];
  for (let batch = 0; batch < batches; batch++) costs.push(await costOfBatch(server, files, size));
  return median(costs);
}

/** Resolves to what creation, URLs and completion of a file cost the service. The parts go past it. */
async function costOfBatch(server, files, size) {
  const all = (work) => Promise.all(Array.from({ length: files }, (_, n) => work(n)));
  let opened = [];
  const before = await cpuDuring(server, async () => (opened = await all(() => openDirect(server, size))));
  const sent = await all((n) => sendParts(opened[n].targets));
  const after = await cpuDuring(server, () => all((n) => completeDirect(server, opened[n], sent[n])));
  return (before.service + after.service) / files;
}

async function openDirect(server, size) {
  const { key, userId } = server.tenant;
  const path = `/project/users/${userId}/uploads`;
  const body = { name: 'a.bin', mimeType: 'application/octet-stream', mode: 'direct', size };
  const { upload, parts } = await call(server, 'POST', path, { as: key, body });
  return { at: `${path}/${upload.id}`, targets: parts };
}

const completeDirect = (server, { at }, parts) =>
  call(server, 'POST', `${at}/complete`, { as: server.tenant.key, body: { parts } });

async function sendParts(targets) {
  const parts = [];
  for (const { number, url, size } of targets) {
    const reply = await fetch(url, { method: 'PUT', body: Buffer.alloc(size, 'part') });
    if (!reply.ok) throw new Error(`the store answered ${reply.status}: ${await reply.text()}`);
    parts.push({ number, etag: reply.headers.get('etag') });
  }
  return parts;
}

/** The disk would fill up otherwise. */
async function deleteFiles(server, path) {
  const { key } = server.tenant;
  const { files } = await call(server, 'GET', `${path}/files?limit=100`, { as: key });
  for (const { id } of files) await call(server, 'DELETE', `${path}/files/${id}`, { as: key });
}
