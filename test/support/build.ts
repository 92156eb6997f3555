// Builds dist/ for tests that start real child processes. Any number of test processes may ask at once: one
// builds, the others wait, and an up-to-date build writes nothing.
import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));
const lockPath = join(root, 'node_modules/.cache/pakhus-build.lock');

let built: Promise<string> | undefined;

/** The path of dist/, up to date with src/. */
export function buildOnce(): Promise<string> {
  built ??= withLock(build);
  return built;
}

async function build(): Promise<string> {
  const compiler = createRequire(import.meta.url).resolve('typescript/package.json');
  const tsc = join(compiler, '../bin/tsc');
  await promisify(execFile)(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { cwd: root });
  return join(root, 'dist');
}

async function withLock<T>(work: () => Promise<T>): Promise<T> {
  await mkdir(join(lockPath, '..'), { recursive: true });
  while (!(await tryLock())) await pause(50);
  try {
    return await work();
  } finally {
    await rm(lockPath, { force: true });
  }
}

async function tryLock(): Promise<boolean> {
  try {
    await writeFile(lockPath, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    await breakStaleLock();
    return false;
  }
}

/** A test process that was killed in the middle must not block every later run. */
async function breakStaleLock(): Promise<void> {
  const holder = Number(await readFile(lockPath, 'latin1').catch(() => '0'));
  if (holder === 0) return;
  try {
    process.kill(holder, 0);
  } catch {
    await rm(lockPath, { force: true });
  }
}
