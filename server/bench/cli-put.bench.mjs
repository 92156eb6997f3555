// `pakhus put` of a folder with many files of 10 KiB, in turns with the bench client, which sends the same number of
// prepared forms with the same fields to the same user over plain sockets. The command also reads, hashes and lists files.
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildIfStale } from '../../scripts/build.mjs';
import { cpuOf, cpuSince } from './support/cpu.mjs';
import { formField, formHead, formHeaders, formTail } from './support/forms.mjs';
import { drive, median, pace } from './support/load.mjs';

export const name = 'cli-put';

const files = Math.max(100, Math.round(10_000 * pace));
const rounds = 3;
const bytes = 10 * 1024;
const foldersOf = 100;
const jobs = 8;
const command = fileURLToPath(new URL('../../cli/bin/pakhus.mjs', import.meta.url));

export async function run({ pakhus, tenant, folder }) {
  await buildIfStale('client', 'cli');
  const source = join(folder, 'source');
  await writeFiles(source);
  const target = (round) => `${tenant.externalId}:round-${round}/`;
  await sendForms(pakhus, tenant, 32);
  await put(pakhus, tenant, source, target('warm'), folder);
  const [forms, formsFew, puts] = [[], [], []];
  for (let round = 0; round < rounds; round++) {
    forms.push(await sendForms(pakhus, tenant, 32));
    formsFew.push(await sendForms(pakhus, tenant, jobs));
    puts.push(await put(pakhus, tenant, source, target(round), folder));
  }
  const rates = (turns) => median(turns.map(({ perSecond }) => perSecond));
  return [
    { name: 'bench client, 32 connections', figure: rates(forms), unit: '1/s' },
    { name: `bench client, ${jobs} connections`, figure: rates(formsFew), unit: '1/s' },
    { name: 'put', figure: rates(puts), unit: '1/s' },
    {
      name: 'bench client: CPU of service and database',
      figure: median(forms.map(({ cpu }) => cpu.sum)),
      unit: 'ms',
    },
    {
      name: 'put: CPU of service and database',
      figure: median(puts.map(({ servedMs }) => servedMs)),
      unit: 'ms',
    },
    { name: 'put: CPU of the command', figure: median(puts.map(({ cpuMs }) => cpuMs)), unit: 'ms' },
    {
      name: 'put: ratio to 32 connections',
      figure: median(puts.map(({ perSecond }, round) => perSecond / forms[round].perSecond)),
      unit: '',
      target: { atLeast: 0.7 },
    },
    {
      name: 'put: ratio by CPU time of all processes',
      figure: median(puts.map(({ totalMs }, round) => forms[round].totalMs / totalMs)),
      unit: '',
    },
    {
      name: `put: ratio to ${jobs} connections`,
      figure: median(puts.map(({ perSecond }, round) => perSecond / formsFew[round].perSecond)),
      unit: '',
    },
  ];
}

async function writeFiles(source) {
  for (let at = 0; at < foldersOf; at++) await mkdir(join(source, `d${at}`), { recursive: true });
  for (let n = 0; n < files; n++)
    await writeFile(join(source, `d${n % foldersOf}`, `f${n}.bin`), randomBytes(bytes));
}

/** With what the command says about a file: its folder, time and sha256. */
function describedForm() {
  const file = randomBytes(bytes);
  const sha256 = createHash('sha256').update(file).digest('hex');
  const meta = { folder: 'forms', metadata: { mtime: new Date().toISOString() }, sha256 };
  return Buffer.concat([formField('meta', JSON.stringify(meta)), formHead('bench.bin'), file, formTail]);
}

async function sendForms(server, { key, userId }, connections) {
  const body = describedForm();
  const path = `/api/v1/project/users/${userId}/files`;
  const headers = { authorization: `Bearer ${key}`, ...formHeaders };
  let left = files;
  const request = () => (left-- > 0 ? { method: 'POST', path, headers, body } : null);
  const before = process.cpuUsage();
  const summary = await drive({ server, request, connections, seconds: 3600 / pace, expect: 201 });
  const { user, system } = process.cpuUsage(before);
  return { ...summary, totalMs: summary.cpu.sum + (user + system) / 1000 / files };
}

/** From the start of the process to its end. */
async function put(server, { key }, source, target, state) {
  const before = cpuOf(server);
  const startedAt = performance.now();
  const script = 'TIMEFORMAT="cpu %U %S"; time "$0" "$@"';
  const child = spawn('bash', ['-c', script, process.execPath, command, 'put', `${source}/`, target], {
    env: { PATH: process.env.PATH, PAKHUS_URL: server.url, PAKHUS_KEY: key, XDG_STATE_HOME: state },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr.on('data', (chunk) => (output += chunk));
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code !== 0 || !output.includes(' uploaded')) throw new Error(`put failed:\n${output}`);
  const [, user, system] = /cpu ([\d.]+) ([\d.]+)/.exec(output) ?? [];
  const cpuMs = ((Number(user) + Number(system)) * 1000) / files;
  const { service, database } = cpuSince(before, cpuOf(server));
  const servedMs = (service + database) / files;
  return {
    perSecond: (files / (performance.now() - startedAt)) * 1000,
    cpuMs,
    servedMs,
    totalMs: servedMs + cpuMs,
  };
}
