// Two PostgreSQL servers of Debian's packages, a primary and its synchronous standby, on loopback with throw-away data.
import { type ChildProcess, execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { spawnChild } from './children.ts';
import { rowsOf } from './database.ts';
import { freePort } from './ports.ts';
import { childrenOf, until } from './processes.ts';

/** Undefined where there is none. */
export const postgresBin: string | undefined = findBin();

function findBin(): string | undefined {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).map(Number).filter(Number.isInteger) : [];
  const newest = Math.max(...versions);
  return versions.length > 0 ? `${root}/${newest}/bin` : undefined;
}

/** PostgreSQL refuses to run as root. */
const owner = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {};

function idOf(which: string): number {
  return Number(execFileSync('id', [which, 'postgres'], { encoding: 'utf8' }));
}

export interface PostgresServer {
  readonly port: number;
  readonly url: string;
  /** SIGSTOP to all of its processes: connections stay open and silent. */
  pause(): Promise<void>;
  goOn(): void;
  /** SIGKILL, to all of its processes. */
  kill(): Promise<void>;
}

export interface PostgresPair {
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
  /** The standby becomes a primary. */
  promote(): Promise<void>;
  remove(): Promise<void>;
}

const role = 'pakhus';
const applicationName = 'standby';

/** Commits are confirmed only once the standby has them. */
export async function startPostgresPair(): Promise<PostgresPair> {
  const folder = await mkdtemp(join(tmpdir(), 'pakhus-pair-'));
  await chmod(folder, 0o777);
  const dataOf = (name: string) => join(folder, name);
  await run('initdb', [
    '-D',
    dataOf('primary'),
    '-U',
    role,
    '--auth=trust',
    '--no-sync',
    '-E',
    'UTF8',
    '--locale=C.UTF-8',
  ]);
  // A server that has never run can simply be copied.
  await asOwner('cp', ['-a', dataOf('primary'), dataOf('standby')]);
  await asOwner('touch', [join(dataOf('standby'), 'standby.signal')]);
  const [primaryPort, standbyPort] = [await freePort(), await freePort()];
  const source = `host=127.0.0.1 port=${primaryPort} user=${role} application_name=${applicationName}`;
  const primary = await startServer(dataOf('primary'), primaryPort, [
    `synchronous_standby_names=${applicationName}`,
  ]);
  const standby = await startServer(dataOf('standby'), standbyPort, [`primary_conninfo=${source}`]);
  await until('the standby follows', async () => {
    const rows = await rowsOf(primary.url, `select from pg_stat_replication where sync_state = 'sync'`);
    return rows.length > 0;
  });
  return {
    primary,
    standby,
    promote: async () => void (await rowsOf(standby.url, 'select pg_promote(true, 30)')),
    async remove() {
      await Promise.all([primary.kill(), standby.kill()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function startServer(
  dataDir: string,
  port: number,
  settings: readonly string[],
): Promise<PostgresServer> {
  const options = [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    'unix_socket_directories=',
    'fsync=off',
    'max_connections=200',
    'wal_receiver_timeout=0',
    'wal_sender_timeout=0',
    ...settings,
  ].flatMap((setting) => ['-c', setting]);
  const child = spawnChild(`${postgresBin}/postgres`, ['-D', dataDir, ...options], {
    cwd: '/',
    stdio: 'ignore',
    ...owner,
  });
  const url = `postgres://${role}@127.0.0.1:${port}/postgres`;
  await until('the server is up', () =>
    rowsOf(url, 'select 1').then(
      () => true,
      () => false,
    ),
  );
  return {
    port,
    url,
    pause: async () => signalAll(child, 'SIGSTOP'),
    goOn: () => void signalAll(child, 'SIGCONT'),
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      await signalAll(child, 'SIGKILL');
      await exited;
    },
  };
}

/** Signals the postmaster first, so that it starts no more processes. */
async function signalAll(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const pid = child.pid as number;
  const backends = await childrenOf(pid, '');
  child.kill(signal);
  const later = signal === 'SIGKILL' ? [] : await childrenOf(pid, '');
  for (const backend of new Set([...backends, ...later])) {
    try {
      process.kill(backend, signal);
    } catch {
      // It has already exited.
    }
  }
}

const asOwner = (command: string, args: readonly string[]) =>
  promisify(execFile)(command, args, { cwd: '/', ...owner });

const run = (program: string, args: readonly string[]) => asOwner(`${postgresBin}/${program}`, args);
