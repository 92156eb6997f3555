// PgBouncer from Debian's package in front of a test database, on loopback.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { spawnChild } from './children.ts';
import { rowsOf } from './database.ts';
import { freePort } from './ports.ts';
import { until } from './processes.ts';
import { proxyDatabase } from './tcp-proxy.ts';

const program = ['/usr/sbin/pgbouncer', 'pgbouncer'].find((path) => !spawnSync(path, ['--version']).error);

export const hasPgBouncer = program !== undefined;

/** It refuses to run as root. */
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

export interface PgBouncer {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startPgBouncer(databaseUrl: string, ...settings: string[]): Promise<PgBouncer> {
  // The embedded server only has a socket, in a folder other users cannot enter.
  const { proxy, url } = await proxyDatabase(databaseUrl);
  const { user, password, database } = new pg.Client({ connectionString: url });
  const folder = await mkdtemp(join(tmpdir(), 'pakhus-pgbouncer-'));
  await chmod(folder, 0o755);
  const port = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(
    file,
    [
      '[databases]',
      `* = host=127.0.0.1 port=${proxy.port} user=${user} password=${password ?? ''}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = any',
      'default_pool_size = 60',
      ...settings,
    ].join('\n'),
  );
  const child = spawnChild(program ?? '', [file], { cwd: '/', stdio: 'ignore', ...nobody });
  const pooled = `postgres://${user}@127.0.0.1:${port}/${database}`;
  await until('PgBouncer answers', () =>
    rowsOf(pooled, 'select 1').then(
      () => true,
      () => false,
    ),
  );
  return {
    url: pooled,
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      await proxy.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
