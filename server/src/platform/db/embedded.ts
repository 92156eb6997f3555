// Runs PostgreSQL as a child process on a private unix socket. It is restarted when it dies, and never outlives this
// process. See docs/adr/0009-embedded-postgres.md.

import { chmod, mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findPackage, prepareBinaries } from './embedded-binaries.ts';
import { databaseName, openCluster, roleName, runningCluster } from './embedded-cluster.ts';
import { endLeftovers } from './embedded-leftovers.ts';
import { FolderInUse, lockFolder } from './embedded-lock.ts';
import { boundLog, readTail, sizeOf } from './embedded-log.ts';
import { type Outside, openOutside } from './embedded-outside.ts';
import { chooseRunAs, type Guarded } from './embedded-process.ts';
import { findSocket, launchServer, placeSocket, port, type Server } from './embedded-server.ts';

export interface EmbeddedPostgres {
  /** What `pg` needs to connect. The host is the folder of the unix socket. */
  readonly connection: { host: string; port: number; user: string; password: string; database: string };
  stop(): Promise<void>;
}

export interface EmbeddedLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface EmbeddedOptions {
  /** The database is in the subfolder `postgres`. */
  readonly dataDir: string;
  readonly log: EmbeddedLog;
  readonly settings?: Readonly<Record<string, string>>;
  /** Overrides the installed package with the binaries. */
  readonly binariesDir?: string;
  /** False: as root, do not use a user namespace. */
  readonly userNamespace?: boolean;
}

const logCheckMs = 10_000;
const stopTimeoutMs = 30_000;
const steadyMs = 30_000;
const backOffMsMax = 10_000;

export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const startedAt = performance.now();
  const packageDir = options.binariesDir ?? findPackage();
  const folder = folderIn(options.dataDir);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  const lock = await lockFolder(join(folder, 'lock'));
  const outside = await openOutside(join(folder, 'outside'));
  const tidy = async () => {
    await outside.remove();
    await lock.release();
  };
  try {
    const { server, password } = await prepareServer(options, packageDir, folder, outside);
    const stopping = new AbortController();
    const first = await launchServer(server, stopping.signal);
    const ms = Math.round(performance.now() - startedAt);
    options.log.info({ folder, ms, runsAs: server.runAs.name }, 'PostgreSQL is ready');
    const stop = keepRunning(server, first, stopping, options.log, tidy);
    return { connection: connectionTo(server.socketDir, password), stop };
  } catch (error) {
    await tidy();
    throw error;
  }
}

const folderIn = (dataDir: string): string => join(resolve(dataDir), 'postgres');

const connectionTo = (host: string, password: string): EmbeddedPostgres['connection'] => ({
  host,
  port,
  user: roleName,
  password,
  database: databaseName,
});

/** Connects to the server of a running process, or starts one. */
export async function joinEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  try {
    return await startEmbeddedPostgres(options);
  } catch (error) {
    if (!(error instanceof FolderInUse)) throw error;
    return { connection: await findEmbeddedConnection(options.dataDir), stop: () => Promise.resolve() };
  }
}

/** How to connect to the server of a process that is running. Rejects with ENOENT if there is no database. */
export async function findEmbeddedConnection(dataDir: string): Promise<EmbeddedPostgres['connection']> {
  const folder = folderIn(dataDir);
  const { socketDir, passwordFile } = runningCluster(folder);
  const password = await readFile(passwordFile, 'utf8');
  return connectionTo(await findSocket(socketDir, join(folder, 'outside')), password);
}

async function prepareServer(
  options: EmbeddedOptions,
  packageDir: string,
  folder: string,
  outside: Outside,
): Promise<{ server: Server; password: string }> {
  const runAs = await chooseRunAs({ userNamespace: options.userNamespace ?? true });
  if (runAs.name === 'nobody') {
    options.log.warn({}, 'As root, PostgreSQL runs as nobody: other processes of nobody can reach its files');
  }
  const binaries = await prepareBinaries(runAs, packageDir, join(folder, 'binaries'), outside.path);
  const cluster = await openCluster(runAs, binaries, folder);
  const server: Server = {
    runAs,
    postgres: binaries.postgres,
    dataDir: cluster.dataDir,
    logFile: join(folder, 'postgresql.log'),
    settings: options.settings ?? {},
    ...(await placeSocket(cluster.socketDir, outside)),
  };
  return { server, password: await readFile(cluster.passwordFile, 'utf8') };
}

/** Returns the stop function; a second call waits for the first. */
function keepRunning(
  server: Server,
  first: Guarded,
  stopping: AbortController,
  log: EmbeddedLog,
  tidy: () => Promise<void>,
): () => Promise<void> {
  const checkLog = () =>
    void boundLog(server.logFile).catch((err) => log.warn({ err }, 'The log of PostgreSQL could not be cut'));
  const logTimer = setInterval(checkLog, logCheckMs).unref();
  const supervision = supervise(server, first, stopping.signal, log);
  let stopped: Promise<void> | undefined;
  const stop = async () => {
    clearInterval(logTimer);
    stopping.abort();
    // The guard escalates on its own; this is for a guard that hangs or was stopped.
    const force = setTimeout(
      () => void endLeftovers(server.dataDir, 0).catch(() => undefined),
      stopTimeoutMs,
    );
    await supervision;
    clearTimeout(force);
    await endLeftovers(server.dataDir, 0).finally(tidy);
  };
  return () => {
    stopped ??= stop();
    return stopped;
  };
}

/** Restarts the server whenever it ends, until `signal` is aborted and the server is gone. */
async function supervise(
  server: Server,
  first: Guarded,
  signal: AbortSignal,
  log: EmbeddedLog,
): Promise<void> {
  let running: Guarded | undefined = first;
  let quickEnds = 0;
  while (running !== undefined) {
    const since = performance.now();
    const logBytes = await sizeOf(server.logFile);
    const end = await running.exited;
    if (signal.aborted) return;
    quickEnds = performance.now() - since > steadyMs ? 0 : quickEnds + 1;
    const tail = await readTail(server.logFile, logBytes).catch(() => '');
    log.error({ ...end, folder: server.dataDir, tail }, 'PostgreSQL has ended; it is started again');
    running = await revive(server, quickEnds, signal, log);
  }
}

async function revive(
  server: Server,
  quickEnds: number,
  signal: AbortSignal,
  log: EmbeddedLog,
): Promise<Guarded | undefined> {
  for (let attempt = quickEnds; !signal.aborted; attempt++) {
    try {
      await backOff(attempt, signal);
      const running = await launchServer(server, signal);
      log.info({ folder: server.dataDir, attempt }, 'PostgreSQL is back');
      return running;
    } catch (error) {
      if (!signal.aborted) log.error({ err: error, attempt }, 'PostgreSQL could not be started again');
    }
  }
  return undefined;
}

/** The first restart is immediate: most often it was a single kill. */
async function backOff(attempt: number, signal: AbortSignal): Promise<void> {
  if (attempt > 1) await delay(Math.min(backOffMsMax, 50 * 2 ** attempt), undefined, { signal });
}
