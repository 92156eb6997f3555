// Starts the postmaster: its settings, its socket, and the wait until it accepts connections. It never listens on a
// network address.

import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { machineMemoryBytes } from '../machine-memory.ts';
import { clusterName, endLeftovers } from './embedded-leftovers.ts';
import { boundLog, readTail, sizeOf } from './embedded-log.ts';
import { type Outside, readNoted } from './embedded-outside.ts';
import { chownTo, type Guarded, type RunAs, spawnServer } from './embedded-process.ts';

// The socket is in its own folder, so the port number need not be free.
export const port = 5432;

export interface Server {
  readonly runAs: RunAs;
  readonly postgres: string;
  readonly dataDir: string;
  readonly logFile: string;
  readonly settings: Readonly<Record<string, string>>;
  /** The socket's folder as a client names it, and as PostgreSQL does from inside its data folder. */
  readonly socketDir: string;
  readonly socketSetting: string;
}

// sun_path has 104 bytes on Darwin and 108 on Linux, including the terminator.
const socketPathBytesMax = 103;
const attemptsMax = 3;

const mebibyte = 1 << 20;
const buffersMiB = { min: 128, max: 512 };

/**
 * The size of PostgreSQL's page cache, whose memory is taken as pages are used: a sixteenth of the machine's, which leaves enough for the
 * service and the system. If the cache is much smaller than what a statement changes, the statement has to write pages to disk itself:
 * moving 100,000 files takes a third to a half longer with 128 MiB than with 512.
 */
export function sharedBuffersFor(memoryBytes: number): string {
  const share = Math.floor(memoryBytes / 16 / mebibyte);
  return `${Math.min(Math.max(share, buffersMiB.min), buffersMiB.max)}MB`;
}

const defaults = {
  max_connections: '100',
  // Enough for its writer, which wakes five times a second, to keep up with statements that change many rows.
  wal_buffers: '16MB',
  huge_pages: 'off',
  // /dev/shm is small or missing in many containers.
  dynamic_shared_memory_type: 'mmap',
  max_parallel_workers_per_gather: '0',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  logging_collector: 'off',
  log_checkpoints: 'off',
  log_min_error_statement: 'panic',
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
};

export async function placeSocket(
  socketDir: string,
  outside: Outside,
): Promise<Pick<Server, 'socketDir' | 'socketSetting'>> {
  if (fitsSocket(socketDir)) return { socketDir, socketSetting: '../run' };
  const dir = socketOutside(await outside.path());
  return { socketDir: dir, socketSetting: dir };
}

const fitsSocket = (dir: string): boolean =>
  Buffer.byteLength(join(dir, `.s.PGSQL.${port}`)) <= socketPathBytesMax;

const socketOutside = (dir: string): string => join(dir, 'run');

/** The socket folder of a running server. */
export const findSocket = async (socketDir: string, outsideNote: string): Promise<string> =>
  fitsSocket(socketDir) ? socketDir : socketOutside(await readNoted(outsideNote));

/**
 * Resolves when the server accepts connections. Leftovers of an earlier run are ended first; if one got in the way, the
 * start is retried. An abort stops the server at any time.
 */
export async function launchServer(server: Server, signal: AbortSignal): Promise<Guarded> {
  for (let attempt = 1; ; attempt++) {
    await endLeftovers(server.dataDir);
    try {
      return await launchOnce(server, signal);
    } catch (error) {
      const wasInTheWay = (await endLeftovers(server.dataDir)) > 0;
      if (!wasInTheWay || attempt === attemptsMax || signal.aborted) throw error;
    }
  }
}

async function launchOnce(server: Server, signal: AbortSignal): Promise<Guarded> {
  // An earlier start may have used another user.
  await chownTo(server.runAs, server.dataDir);
  // Emptied every time: PostgreSQL trusts the pid in a socket's lock file, even if it belongs to another process now.
  await rm(server.socketDir, { recursive: true, force: true });
  await mkdir(server.socketDir, { mode: 0o700 });
  await chownTo(server.runAs, server.socketDir);
  await boundLog(server.logFile);
  const logBytes = await sizeOf(server.logFile);
  const guarded = await spawnWithLog(server);
  const release = () => {
    guarded.keepAlive(true);
    guarded.release();
  };
  signal.addEventListener('abort', release, { once: true });
  void guarded.exited.then(() => signal.removeEventListener('abort', release));
  if (signal.aborted) release();
  if (!(await becomesReady(server, guarded))) {
    const { code } = await guarded.exited;
    const tail = await readTail(server.logFile, logBytes);
    throw new Error(
      `PostgreSQL did not start in ${server.dataDir} (code ${code}). The end of its log:\n${tail}`,
    );
  }
  guarded.keepAlive(false);
  return guarded;
}

async function spawnWithLog(server: Server): Promise<Guarded> {
  const log = await open(server.logFile, 'a', 0o600);
  try {
    const command = [
      server.postgres,
      '-D',
      server.runAs.dataArgument(server.dataDir),
      ...(await flags(server)),
    ];
    return await spawnServer(server.runAs, command, { cwd: server.dataDir, logFd: log.fd });
  } finally {
    await log.close();
  }
}

async function flags(server: Server): Promise<string[]> {
  const settings = {
    ...defaults,
    shared_buffers: sharedBuffersFor(machineMemoryBytes()),
    ...server.settings,
    listen_addresses: '',
    port: String(port),
    unix_socket_directories: server.socketSetting,
    unix_socket_permissions: '0700',
    cluster_name: await clusterName(server.dataDir),
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** No timeout, because crash recovery may take long; false if the server ends instead. */
async function becomesReady(server: Server, guarded: Guarded): Promise<boolean> {
  let hasExited = false;
  void guarded.exited.then(() => {
    hasExited = true;
  });
  while (!hasExited) {
    if (await isReady(server.dataDir)) return true;
    await Promise.race([guarded.exited, delay(5)]);
  }
  return false;
}

/** The eighth line of postmaster.pid is the postmaster's state. The file is new: leftovers were removed. */
async function isReady(dataDir: string): Promise<boolean> {
  const text = await readFile(join(dataDir, 'postmaster.pid'), 'utf8').catch(() => '');
  return text.split('\n')[7]?.trim() === 'ready';
}
