// The servers under measurement: a built Pakhus as its own process, its PostgreSQL, and the servers that a bench
// compares it with.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const adminEmail = 'admin@pakhus.local';
export const adminPassword = 'the admin of the benches';

const pakhusReady = /Pakhus is ready at (\S+)/;
const tmpfsType = 0x01021994;
const readyWithinMs = 60_000;

/** A folder for the run, on a disk if there is one: fsync to memory costs nothing and proves nothing. */
export async function makeWorkFolder() {
  for (const base of [process.env.BENCH_DIR, '/var/tmp', tmpdir()]) {
    if (!base || !existsSync(base)) continue;
    if (base !== tmpdir() && (await statfs(base)).type === tmpfsType) continue;
    return mkdtemp(join(base, 'pakhus-bench-'));
  }
}

/** The embedded PostgreSQL of this checkout, reachable for other processes as well. Its `pid` is the postmaster's. */
export async function startDatabase(folder, settings = {}) {
  const { startEmbeddedPostgres } = await import('../../dist/platform/db/embedded.js');
  const silent = { info() {}, warn() {}, error: (fields, message) => console.error(message, fields) };
  const { connection, stop } = await startEmbeddedPostgres({
    dataDir: folder,
    log: silent,
    settings: { max_connections: '200', ...settings },
  });
  const { host, port, user, password, database } = connection;
  const query = `host=${encodeURIComponent(host)}&port=${port}`;
  const url = `postgres://${user}:${encodeURIComponent(password)}@/${database}?${query}`;
  return { url, pid: await postmasterIn(folder), stop };
}

/** The postmaster of an embedded PostgreSQL, given the data folder of Pakhus. */
export async function postmasterIn(dataDir) {
  const pidFile = join(dataDir, 'postgres', 'cluster', 'data', 'postmaster.pid');
  return Number((await readFile(pidFile, 'utf8')).split('\n')[0]);
}

/** In a checkout, the service is in `server/`; in an older one it is at the root. */
export const mainOf = (checkout) =>
  [join(checkout, 'server'), checkout].map((base) => join(base, 'dist', 'main.js')).find(existsSync) ??
  fail(`${checkout} is not built: it has no dist/main.js`);

const fail = (message) => {
  throw new Error(message);
};

/** `from` is another built checkout to compare with; `environment` overrides the settings below. */
export async function startPakhus(
  folder,
  database,
  { name = 'pakhus', from = root, environment, nodeFlags } = {},
) {
  const server = await startServer(folder, {
    name,
    file: mainOf(from),
    nodeFlags,
    ready: pakhusReady,
    environment: {
      ...environmentOfAll,
      DATA_DIR: join(folder, name),
      DATABASE_URL: database.url,
      ...environment,
    },
  });
  return { ...server, database };
}

const environmentOfAll = {
  PORT: '0',
  HOST: '127.0.0.1',
  LOG_LEVEL: 'info',
  JWT_SECRET: 'a secret that only the benches know about',
  ADMIN_EMAIL: adminEmail,
  ADMIN_PASSWORD: adminPassword,
  USER_TOKEN_TTL_SECONDS: '86400',
};

/** Pakhus as it is installed: without any settings but where to listen and where to keep its data. */
export async function startEmbedded(folder, { dataDir, from = root }) {
  const server = await startServer(folder, {
    name: 'embedded',
    file: mainOf(from),
    ready: pakhusReady,
    environment: { PORT: '0', HOST: '127.0.0.1', DATA_DIR: dataDir },
  });
  return { ...server, database: { pid: await postmasterIn(dataDir) } };
}

/** Starts a program that prints its address. Its output goes to a file, like the log of a service. */
export async function startServer(folder, { name, file, ready, environment, nodeFlags = [] }) {
  const output = join(folder, `${name}.log`);
  const descriptor = openSync(output, 'w');
  const child = spawn(process.execPath, [...nodeFlags, file], {
    cwd: folder,
    env: { PATH: process.env.PATH, NODE_ENV: 'production', ...environment },
    stdio: ['ignore', descriptor, descriptor],
  });
  closeSync(descriptor);
  const exited = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
  };
  try {
    const url = await readyUrl(child, output, ready);
    return { name, pid: child.pid, url, stop, lastWords: () => lastWords(name, child, output) };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Of a server that has ended although nobody stopped it; otherwise null. */
async function lastWords(name, { exitCode, signalCode }, output) {
  if (exitCode === null && signalCode === null) return null;
  const text = await readFile(output, 'utf8');
  return `${name} has ended (${exitCode ?? signalCode}):\n${text.slice(-3000)}`;
}

async function readyUrl(child, output, ready) {
  const giveUpAt = Date.now() + readyWithinMs;
  for (;;) {
    const text = await readFile(output, 'utf8');
    const url = ready.exec(text)?.[1];
    if (url) return url;
    if (child.exitCode !== null || Date.now() > giveUpAt)
      throw new Error(`a server did not become ready:\n${text.slice(-2000)}`);
    await delay(20);
  }
}

export const removeFolder = (folder) => rm(folder, { recursive: true, force: true });
