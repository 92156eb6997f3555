// Decides which user PostgreSQL runs as, and runs its programs so that none outlives this process. PostgreSQL refuses to
// run as root, so as root it runs as nobody; no account is ever created.

import { type ChildProcess, spawn } from 'node:child_process';
import { chown, lchown, lstat, readdir } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';

// Darwin's nobody is -2. The uid must be in passwd, PostgreSQL looks its name up.
const nobody = process.platform === 'darwin' ? -2 : 65_534;

export interface RunAs {
  readonly name: 'same user' | 'user namespace' | 'nobody';
  /** Prepended to each command. */
  readonly prefix: readonly string[];
  /** The child's ids; empty if it keeps ours. */
  readonly ids: { readonly uid?: number; readonly gid?: number };
  /** The owner of PostgreSQL's files; undefined if they are ours. */
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
  /**
   * What `-D` is given. As root it is the child's working directory, entered before root's rights are
   * dropped: so the data may lie below a folder, such as root's home, that the child itself cannot enter.
   */
  dataArgument(dir: string): string;
}

/**
 * For root a user namespace comes first: inside it PostgreSQL is nobody, outside its files stay root's, and
 * no other process of nobody can read or signal it. Containers often forbid that; then it is plain nobody.
 */
export async function chooseRunAs(options: { userNamespace: boolean }): Promise<RunAs> {
  if (process.getuid?.() !== 0) {
    return { name: 'same user', prefix: [], ids: {}, owner: undefined, dataArgument: (dir) => dir };
  }
  const dataArgument = (dir: string) => (process.platform === 'linux' ? '/proc/self/cwd' : dir);
  const prefix = ['unshare', '--user', `--map-user=${nobody}`, `--map-group=${nobody}`, '--'];
  if (options.userNamespace && process.platform === 'linux') {
    const probe = await runToEnd([...prefix, 'id', '-u'], {});
    if (probe.code === 0 && probe.output.trim() === String(nobody)) {
      return { name: 'user namespace', prefix, ids: {}, owner: { uid: 0, gid: 0 }, dataArgument };
    }
  }
  const ids = { uid: nobody, gid: nobody };
  return { name: 'nobody', prefix: [], ids, owner: ids, dataArgument };
}

/** The folder itself is changed last, so that a walk cut short by a crash is done again. */
export async function chownTo(runAs: RunAs, path: string): Promise<void> {
  const owner = runAs.owner;
  if (owner === undefined) return;
  const before = await lstat(path);
  if (before.uid === owner.uid && before.gid === owner.gid) return;
  if (before.isDirectory()) await chownChildrenTo(owner, path);
  await chown(path, owner.uid, owner.gid);
}

async function chownChildrenTo(owner: { uid: number; gid: number }, dir: string): Promise<void> {
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) await chownChildrenTo(owner, path);
    await lchown(path, owner.uid, owner.gid);
  }
}

// Our own environment is not inherited: a stray PGDATA or PGPORT would change what runs.
const environment = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' };

// Descriptor 3 is a pipe that only this process holds open: when it closes, we are gone or have released the server.
// The fast shutdown is requested every second, because a starting postmaster misses it.
const serverScript = `trap '' HUP INT TERM
"$@" 3<&- &
server=$!
( while read -r _ <&3; do :; done
  n=0; while [ $n -lt 20 ]; do kill -INT $server; sleep 1; n=$((n+1)); done
  kill -QUIT $server; sleep 5; kill -KILL $server ) 2>/dev/null &
watch=$!
exec 3<&-
wait $server; code=$?
kill -KILL $watch 2>/dev/null
exit $code`;

// An interrupted tool leaves nothing worth keeping, so its whole process group is killed at once.
const toolScript = `( while read -r _ <&3; do :; done; kill -KILL 0 ) </dev/null >/dev/null 2>&1 &
watch=$!
"$@" 3<&-; code=$?
kill -KILL $watch 2>/dev/null
exit $code`;

export interface Guarded {
  readonly pid: number;
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Asks the guard to stop the server: fast shutdown, SIGQUIT after 20 s, SIGKILL after 25 s. */
  release(): void;
  /** Whether the running server keeps this process alive. */
  keepAlive(yes: boolean): void;
}

/** Runs the server below a guard in a new session, so that a terminal's SIGINT does not reach it. */
export async function spawnServer(
  runAs: RunAs,
  command: readonly string[],
  options: { cwd: string; logFd: number },
): Promise<Guarded> {
  const child = spawn('/bin/sh', ['-c', serverScript, 'pakhus-guard', ...runAs.prefix, ...command], {
    ...runAs.ids,
    cwd: options.cwd,
    env: environment,
    detached: true,
    stdio: ['ignore', options.logFd, options.logFd, 'pipe'],
  });
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  const pid = await spawned(child);
  const lifeline = child.stdio[3];
  if (!(lifeline instanceof Socket)) throw new Error('The guard of PostgreSQL has no pipe to watch.');
  // The guard may exit first; then a broken pipe is expected.
  lifeline.on('error', () => undefined);
  return {
    pid,
    exited,
    release: () => void lifeline.destroy(),
    keepAlive: (yes) => {
      for (const handle of [child, lifeline]) yes ? handle.ref() : handle.unref();
    },
  };
}

function spawned(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () => resolve(child.pid ?? 0));
  });
}

export interface Outcome {
  readonly code: number;
  readonly output: string;
}

/** Runs one of PostgreSQL's tools as `runAs` says; it dies with us. */
export function runTool(
  runAs: RunAs,
  command: readonly string[],
  options: { cwd: string; input?: string },
): Promise<Outcome> {
  const guarded = ['/bin/sh', '-c', toolScript, 'pakhus-guard', ...runAs.prefix, ...command];
  return runToEnd(guarded, { ...options, ids: runAs.ids });
}

/** A command that cannot be started ends with code 127, as in a shell. */
export function runToEnd(
  [file = '', ...args]: readonly string[],
  options: { cwd?: string; input?: string; ids?: RunAs['ids']; inheritFd?: number },
): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      ...options.ids,
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      env: environment,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', options.inheritFd ?? 'pipe'],
    });
    let output = '';
    const collect = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-1_048_576);
    };
    child.once('error', (error) => resolve({ code: 127, output: error.message }));
    child.once('close', (code) => resolve({ code: code ?? 1, output }));
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(options.input ?? '');
  });
}

/** With rm(1), which takes a tenth of the time of Node's own implementation. */
export async function removeTree(path: string): Promise<void> {
  const { code, output } = await runToEnd(['rm', '-rf', '--', path], {});
  if (code !== 0) throw new Error(`${path} cannot be removed: ${output.trim()}`);
}
