// The embedded PostgreSQL against what a machine does to it: kills, copies, strangers' pids, closed folders.
// Holds no test of SQL. A case that needs root says so in one line when it cannot run.

import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import {
  chmod,
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { waitMsMax } from '../../../test/support/bounds.ts';
import { spawnChild } from '../../../test/support/children.ts';
import { type EmbeddedOptions, type EmbeddedPostgres, startEmbeddedPostgres } from './embedded.ts';
import { findPackage } from './embedded-binaries.ts';
import { clusterName, findProcesses, readPostmasterPid } from './embedded-leftovers.ts';
import { sharedBuffersFor } from './embedded-server.ts';

const server = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');
const isRoot = process.getuid?.() === 0;
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

let base = '';
let shared = '';

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'pakhus-test-'));
  await chmod(base, 0o755);
  shared = join(base, 'shared');
  await writeProbe();
});

afterAll(async () => {
  execute('chmod', ['-R', 'u+w', base]);
  execute('rm', ['-rf', base]);
});

function execute(file: string, args: string[]): void {
  execFileSync(file, args, { stdio: 'inherit' });
}

function start(options: Partial<EmbeddedOptions> & { dataDir: string }): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ log: silent, ...options });
}

function dataOf(dataDir: string): string {
  return join(dataDir, 'postgres', 'cluster', 'data');
}

/** A probe is a Node process of its own that uses the built module, so that it can be killed. */
async function writeProbe(): Promise<void> {
  await symlink(join(server, '../node_modules'), join(base, 'node_modules'));
  await writeFile(
    join(base, 'probe.mjs'),
    `import { startEmbeddedPostgres } from ${JSON.stringify(join(server, 'dist/platform/db/embedded.js'))};
    const [options, inserts] = process.argv.slice(2);
    const say = (value) => process.stdout.write(JSON.stringify(value) + '\\n');
    const log = { info() {}, warn() {}, error() {} };
    const postgres = await startEmbeddedPostgres({ log, ...JSON.parse(options) });
    say(postgres.connection);
    let hasEnded = false;
    let onEnd = async () => {};
    const finish = async () => { hasEnded = true; await onEnd(); await postgres.stop(); process.exit(0); };
    process.stdin.resume().on('end', finish);
    process.on('SIGINT', finish);
    if (inserts !== undefined) {
      const { default: pg } = await import('pg');
      const client = new pg.Client(postgres.connection);
      await client.connect();
      onEnd = async () => {
        say((await client.query('SELECT count(*)::int AS n FROM acks')).rows[0].n > 0);
        await client.end();
      };
      await client.query('CREATE TABLE IF NOT EXISTS acks (id text PRIMARY KEY)');
      for (let i = 0; !hasEnded; i++) {
        const id = inserts + '-' + i;
        await client.query('INSERT INTO acks VALUES ($1)', [id]);
        say(id);
      }
    }`,
  );
}

interface Probe {
  readonly child: ChildProcess;
  readonly lines: string[];
  readonly exited: Promise<unknown>;
}

function spawnProbe(options: object, more: { inserts?: string; uid?: number } = {}): Probe {
  const args = [join(base, 'probe.mjs'), JSON.stringify(options), ...(more.inserts ? [more.inserts] : [])];
  const child = spawnChild(more.uid === undefined ? process.execPath : join(base, 'node'), args, {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
    ...(more.uid === undefined ? {} : { uid: more.uid, gid: more.uid }),
  });
  const lines: string[] = [];
  if (child.stdout) createInterface(child.stdout).on('line', (line) => lines.push(line));
  return { child, lines, exited: once(child, 'exit') };
}

function until(condition: () => void | Promise<void>): Promise<void> {
  return vi.waitFor(condition, { timeout: waitMsMax, interval: 10 });
}

async function saysAtLeast(probe: Probe, lines: number): Promise<void> {
  await until(() => {
    expect(probe.child.exitCode).toBeNull();
    expect(probe.lines.length).toBeGreaterThanOrEqual(lines);
  });
}

/** Retries the connecting only: between a kill and the return nobody answers. */
async function query(postgres: Pick<EmbeddedPostgres, 'connection'>, text: string): Promise<unknown[]> {
  const client = await vi.waitFor(
    async () => {
      const attempt = new Client(postgres.connection);
      attempt.on('error', () => undefined);
      await attempt.connect();
      return attempt;
    },
    { timeout: waitMsMax, interval: 20 },
  );
  try {
    return (await client.query<Record<string, unknown>>(text)).rows.map((row) => Object.values(row)[0]);
  } finally {
    await client.end();
  }
}

async function processesOn(dataDir: string): Promise<[pid: number, command: string][]> {
  return findProcesses(await clusterName(dataOf(dataDir)));
}

/** One real copy, and hard links to its files for each test: sixty megabytes are slow to write and to remove. */
async function copyWithoutLinks(target: string): Promise<void> {
  const original = join(base, 'package');
  if (!existsSync(original)) {
    await cp(findPackage(), original, { recursive: true, verbatimSymlinks: true });
    execute('find', [join(original, 'native', 'lib'), '-type', 'l', '-delete']);
  }
  execute('cp', ['-Rl', original, target]);
}

describe('start and stop', () => {
  test('rows survive a restart, and the server listens only on the socket', async () => {
    const first = await start({ dataDir: shared });
    await query(first, 'CREATE TABLE kept (n int)');
    await query(first, 'INSERT INTO kept VALUES (1), (2)');
    await Promise.all([first.stop(), first.stop()]);
    expect(await processesOn(shared)).toEqual([]);

    const second = await start({ dataDir: shared });
    expect(await query(second, 'SELECT n FROM kept ORDER BY n')).toEqual([1, 2]);
    expect(await query(second, 'SHOW listen_addresses')).toEqual(['']);
    expect(await query(second, 'SHOW fsync')).toEqual(['on']);
    expect(await query(second, 'SHOW data_checksums')).toEqual(['on']);
    expect(await query(second, "SELECT lower('ÆØÅ')")).toEqual(['æøå']);
    await second.stop();
  });

  test('the socket requires the password, which only the owner can read', async () => {
    const postgres = await start({ dataDir: shared });
    for (const wrong of [{ password: 'guessed' }, { user: 'postgres', password: '' }]) {
      const stranger = new Client({ ...postgres.connection, ...wrong });
      await expect(stranger.connect()).rejects.toThrow(/password/);
    }
    const folder = join(shared, 'postgres');
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, 'cluster', 'password'))).mode & 0o777).toBe(0o600);
    expect((await stat(postgres.connection.host)).mode & 0o777).toBe(0o700);
    await postgres.stop();
  });

  test('a path that is too long for a socket gets a folder elsewhere, which is removed at the stop', async () => {
    const dataDir = join(base, 'deep'.repeat(20), 'deeper'.repeat(10));
    const killed = spawnProbe({ dataDir });
    await saysAtLeast(killed, 1);
    const { host }: EmbeddedPostgres['connection'] = JSON.parse(killed.lines[0] ?? '');
    expect(host.startsWith(dataDir)).toBe(false);
    killed.child.kill('SIGKILL');
    await killed.exited;

    const postgres = await start({ dataDir });
    await expect(stat(dirname(host))).rejects.toThrow('ENOENT');
    expect(await query(postgres, 'SELECT 1')).toEqual([1]);
    await postgres.stop();
    await expect(stat(dirname(postgres.connection.host))).rejects.toThrow('ENOENT');
  });

  test('settings are applied, except any that would open a network address; the log stays small', async () => {
    const logFile = join(shared, 'postgres', 'postgresql.log');
    await writeFile(logFile, 'x'.repeat(5_000_000));
    const postgres = await start({ dataDir: shared, settings: { work_mem: '5MB', listen_addresses: '*' } });
    expect(await query(postgres, 'SHOW work_mem')).toEqual(['5MB']);
    expect(await query(postgres, 'SHOW listen_addresses')).toEqual(['']);
    await postgres.stop();
    expect((await stat(logFile)).size).toBeLessThan(10_000);
    expect((await stat(`${logFile}.1`)).size).toBe(5_000_000);
  });
});

test.each([
  [1, '128MB'],
  [2, '128MB'],
  [4, '256MB'],
  [7.9, '505MB'],
  [64, '512MB'],
])('with %d GiB of memory, PostgreSQL keeps %s of pages', (gibibytes, buffers) => {
  expect(sharedBuffersFor(gibibytes * 2 ** 30)).toBe(buffers);
});

describe('kills', () => {
  test('PostgreSQL comes back by itself when its postmaster or its guard is killed', async () => {
    const messages: string[] = [];
    const error = (_: object, message: string) => messages.push(message);
    const postgres = await start({ dataDir: shared, log: { ...silent, error } });
    await query(postgres, 'CREATE TABLE survivors (n int)');
    for (const n of [1, 2]) {
      await query(postgres, `INSERT INTO survivors VALUES (${n})`);
      const before = await readPostmasterPid(dataOf(shared));
      const guard = (await processesOn(shared)).find(([, command]) => command.includes('pakhus-guard'));
      process.kill(n === 1 ? before : (guard?.[0] ?? -1), 'SIGKILL');
      await until(async () => {
        const now = await readPostmasterPid(dataOf(shared));
        expect(now > 0 && now !== before).toBe(true);
      });
      expect((await query(postgres, 'SELECT n FROM survivors')).length).toBe(n);
    }
    expect(messages.length).toBe(2);
    await postgres.stop();
    expect(await processesOn(shared)).toEqual([]);
  });

  test('of Node, alone and with others, in five rounds of inserts: no acknowledged row is lost', async () => {
    const acknowledged: string[] = [];
    for (const round of ['node', 'postmaster', 'guard', 'node', 'guard']) {
      const probe = spawnProbe({ dataDir: shared }, { inserts: `${round}${acknowledged.length}` });
      await saysAtLeast(probe, 60);
      const running = await processesOn(shared);
      const postmaster = await readPostmasterPid(dataOf(shared));
      if (probe.child.pid !== undefined) process.kill(probe.child.pid, 'SIGKILL');
      if (round === 'postmaster') process.kill(postmaster, 'SIGKILL');
      if (round === 'guard') {
        // All of it but the server: what is left has nobody to end it before the next start.
        for (const [pid, command] of running)
          if (command.includes('pakhus-guard')) process.kill(pid, 'SIGKILL');
      }
      await probe.exited;
      acknowledged.push(...probe.lines.slice(1).map((line) => String(JSON.parse(line))));
      if (round !== 'guard') await until(async () => expect(await processesOn(shared)).toEqual([]));
    }
    const postgres = await start({ dataDir: shared });
    const found = new Set(await query(postgres, 'SELECT id FROM acks'));
    expect(acknowledged.length).toBeGreaterThanOrEqual(300 - 5);
    expect(acknowledged.filter((id) => !found.has(id))).toEqual([]);
    await postgres.stop();
    expect(await processesOn(shared)).toEqual([]);
  });

  test('a SIGINT to the whole process group leaves PostgreSQL to the graceful stop', async () => {
    const probe = spawnProbe({ dataDir: shared }, { inserts: 'group' });
    await saysAtLeast(probe, 20);
    if (probe.child.pid !== undefined) process.kill(-probe.child.pid, 'SIGINT');
    expect(await probe.exited).toEqual([0, null]);
    expect(probe.lines).toContain('true');
    expect(await processesOn(shared)).toEqual([]);
  });

  test('in the middle of the first initdb: the next start creates the database', async () => {
    const dataDir = join(base, 'halfway');
    const probe = spawnProbe({ dataDir });
    await until(async () => {
      const names = await readdir(join(dataDir, 'postgres'));
      const half = names.find((name) => name.startsWith('new-')) ?? 'none yet';
      await stat(join(dataDir, 'postgres', half, 'data', 'PG_VERSION'));
    });
    probe.child.kill('SIGKILL');
    await probe.exited;
    await expect(stat(dataOf(dataDir))).rejects.toThrow('ENOENT');
    const postgres = await start({ dataDir });
    expect(await query(postgres, 'SELECT 1')).toEqual([1]);
    expect((await readdir(join(dataDir, 'postgres'))).filter((name) => name.startsWith('new-'))).toEqual([]);
    await postgres.stop();
  });
});

describe('locks and leftovers', () => {
  test("a stranger's pid in the files of a dead postmaster does not block", async () => {
    const stranger = process.ppid;
    const lines = [stranger, dataOf(shared), 1, 5432, '../run', '', '  1 1', 'ready', ''].join('\n');
    await writeFile(join(dataOf(shared), 'postmaster.pid'), lines);
    await writeFile(join(shared, 'postgres/cluster/run/.s.PGSQL.5432.lock'), lines);
    const postgres = await start({ dataDir: shared });
    expect(await query(postgres, 'SELECT 1')).toEqual([1]);
    await postgres.stop();
    expect(process.kill(stranger, 0)).toBe(true);
  });

  test('of two simultaneous starts one wins, and the other is told the pid of the winner', async () => {
    const results = await Promise.allSettled([1, 2, 3].map(() => start({ dataDir: shared })));
    const started = results.filter((result) => result.status === 'fulfilled');
    const refused = results.filter((result) => result.status === 'rejected');
    expect([started.length, refused.length]).toEqual([1, 2]);
    for (const { reason } of refused) {
      expect(String(reason)).toContain(`${shared}/postgres is in use by the process with pid ${process.pid}`);
    }
    await started[0]?.value.stop();
  });

  test('a second process is refused exactly as long as the first lives', async () => {
    const probe = spawnProbe({ dataDir: shared });
    await saysAtLeast(probe, 1);
    await expect(start({ dataDir: shared })).rejects.toThrow(`pid ${probe.child.pid}.`);
    probe.child.kill('SIGKILL');
    await probe.exited;
    const postgres = await start({ dataDir: shared });
    await postgres.stop();
  });

  test('data of another version is refused with the message of PostgreSQL, and the lock is released', async () => {
    const versionFile = join(dataOf(shared), 'PG_VERSION');
    const version = await readFile(versionFile, 'utf8');
    await writeFile(versionFile, '9\n');
    const refused = expect(start({ dataDir: shared })).rejects;
    await refused.toThrow(/did not start in .*shared\/postgres\/cluster\/data[\s\S]*version 9/);
    await writeFile(versionFile, version);
    const postgres = await start({ dataDir: shared });
    expect(await query(postgres, 'SELECT 1')).toEqual([1]);
    await postgres.stop();
  });

  test('on a platform without a package, the error names DATABASE_URL', () => {
    expect(() => findPackage('plan9-mips')).toThrow(/plan9-mips.*DATABASE_URL/);
  });
});

describe('binaries', () => {
  test('missing links are created in place', async () => {
    const binariesDir = join(base, 'unlinked');
    await copyWithoutLinks(binariesDir);
    const postgres = await start({ dataDir: shared, binariesDir });
    expect(await query(postgres, 'SELECT 1')).toEqual([1]);
    await postgres.stop();
    expect(await readdir(join(shared, 'postgres'))).not.toContain('binaries');
  });

  test('a read-only package without links is copied once, even for an ordinary user', async () => {
    const binariesDir = join(base, 'read-only');
    await copyWithoutLinks(binariesDir);
    execute('find', [binariesDir, '-type', 'd', '-exec', 'chmod', '555', '{}', '+']);
    const open = join(base, 'open');
    await mkdir(open);
    await chmod(open, 0o777);
    const options = { dataDir: join(open, 'data'), binariesDir };
    // Root may write what is read-only, so as root the probe is another user's, and so is its Node: ours may
    // lie in root's home.
    if (isRoot) await copyFile(process.execPath, join(base, 'node'));
    for (let round = 0; round < 2; round++) {
      const probe = spawnProbe(options, isRoot ? { uid: 65_534 } : {});
      await saysAtLeast(probe, 1);
      const connection: EmbeddedPostgres['connection'] = JSON.parse(probe.lines[0] ?? '');
      expect(await query({ connection }, 'SELECT 1')).toEqual([1]);
      probe.child.stdin?.end();
      expect(await probe.exited).toEqual([0, null]);
    }
    expect(await readdir(join(open, 'data/postgres/binaries'))).toHaveLength(1);
  });

  test('as root, binaries and data may be below folders that others cannot enter', async () => {
    if (!isRoot) {
      process.stdout.write('not root: nothing to show about folders that only root can enter\n');
      return;
    }
    const closed = join(base, 'closed');
    await mkdir(closed, { mode: 0o700 });
    await copyWithoutLinks(join(closed, 'package'));
    const options = { dataDir: join(closed, 'data'), binariesDir: join(closed, 'package') };
    for (const [round, userNamespace] of [true, false, true].entries()) {
      const postgres = await start({ ...options, userNamespace });
      await query(postgres, 'CREATE TABLE IF NOT EXISTS rounds (n int)');
      await query(postgres, `INSERT INTO rounds VALUES (${round})`);
      expect((await query(postgres, 'SELECT n FROM rounds')).length).toBe(round + 1);
      await postgres.stop();
    }
    expect((await stat(closed)).mode & 0o777).toBe(0o700);
  });
});
