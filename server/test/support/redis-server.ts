// Redis servers and sentinels for one test, from Debian's package, on loopback and without persistence.
import { type ChildProcess, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { spawnChild } from './children.ts';
import { freePort, isListening } from './ports.ts';
import { until } from './processes.ts';

export const hasRedisServer = !spawnSync('redis-server', ['--version']).error;

export interface RedisServer {
  readonly port: number;
  readonly url: string;
  start(): Promise<void>;
  /** kill -9. */
  stop(): Promise<void>;
  pause(): void;
  goOn(): void;
  /** Sends one command on a new connection. */
  ask(command: string, ...args: string[]): Promise<unknown>;
  remove(): Promise<void>;
}

export const startRedisServer = (...more: string[]): Promise<RedisServer> =>
  launch([], (port) => [`port ${port}`, 'bind 127.0.0.1', 'save ""', ...more]);

export async function startRedisReplica(primary: RedisServer, ...more: string[]): Promise<RedisServer> {
  const replica = await startRedisServer(`replicaof 127.0.0.1 ${primary.port}`, ...more);
  await until('the replica follows', async () =>
    String(await replica.ask('INFO', 'replication')).includes('master_link_status:up'),
  );
  return replica;
}

/** A quorum of one: fails over half a second after the primary is gone. */
export const startSentinel = (name: string, primary: RedisServer, ...more: string[]): Promise<RedisServer> =>
  launch(['--sentinel'], (port) => [
    `port ${port}`,
    'bind 127.0.0.1',
    `sentinel monitor ${name} 127.0.0.1 ${primary.port} 1`,
    `sentinel down-after-milliseconds ${name} 500`,
    `sentinel failover-timeout ${name} 5000`,
    ...more,
  ]);

async function launch(
  args: readonly string[],
  settingsOf: (port: number) => readonly string[],
): Promise<RedisServer> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'pakhus-redis-'));
  const settings = join(folder, 'settings.conf');
  await writeFile(settings, `${settingsOf(port).join('\n')}\n`);
  let child: ChildProcess | null = null;
  const ask = async (command: string, ...args: string[]): Promise<unknown> => {
    const client = new Redis(port, '127.0.0.1', {
      lazyConnect: true,
      retryStrategy: () => null,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return await client.call(command, ...args);
    } finally {
      client.disconnect();
    }
  };
  const start = async () => {
    child = spawnChild('redis-server', [settings, ...args], { cwd: folder, stdio: 'ignore' });
    await until('redis-server listens', () => isListening(port));
  };
  const stop = async () => {
    if (!child) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    child = null;
  };
  await start();
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    start,
    stop,
    pause: () => void child?.kill('SIGSTOP'),
    goOn: () => void child?.kill('SIGCONT'),
    ask,
    async remove() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
