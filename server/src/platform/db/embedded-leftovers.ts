// Ends PostgreSQL processes that an earlier run left on a data folder. They are identified by the cluster name in their
// command line, never by a pid in a file, because pids are reused.

import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { runToEnd } from './embedded-process.ts';

/** By device and inode, so that a copy of the folder, or the same path in a container, has another name. */
export async function clusterName(dataDir: string): Promise<string> {
  const { dev, ino } = await stat(dataDir, { bigint: true });
  return `pakhus-${dev}-${ino}-`;
}

/**
 * Call it with the folder's lock held, when nothing may run there. A postmaster is asked to stop first; without one the
 * remaining processes are killed at once. Returns how many there were.
 */
export async function endLeftovers(dataDir: string, timeoutMs = 20_000): Promise<number> {
  const name = await clusterName(dataDir);
  const found = await findPids(name);
  const deadline = Date.now() + timeoutMs;
  for (let left = found, round = 0; left.length > 0; left = await findPids(name), round++) {
    if (Date.now() > deadline + 5_000) {
      throw new Error(
        `Processes of an earlier run still use ${dataDir} and cannot be ended: ${left.join(', ')}.`,
      );
    }
    const postmaster = await readPostmasterPid(dataDir);
    if (Date.now() > deadline || !left.includes(postmaster)) for (const pid of left) signal(pid, 'SIGKILL');
    else if (round % 50 === 0) signal(postmaster, 'SIGINT');
    await delay(20);
  }
  await rm(join(dataDir, 'postmaster.pid'), { force: true });
  return found.length;
}

/** The pid on the first line of postmaster.pid, or -1. */
export async function readPostmasterPid(dataDir: string): Promise<number> {
  const text = await readFile(join(dataDir, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  return Number.isNaN(pid) ? -1 : pid;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended, or is not ours; the caller checks again.
  }
}

async function findPids(name: string): Promise<number[]> {
  return (await findProcesses(name)).map(([pid]) => pid);
}

/** Processes with `name` in their command line. Zombies have none. */
export async function findProcesses(name: string): Promise<[pid: number, command: string][]> {
  const all = process.platform === 'linux' ? await listFromProc() : await listFromPs();
  return all.filter(([, command]) => command.includes(name));
}

async function listFromProc(): Promise<[number, string][]> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
  return Promise.all(
    pids.map(async (pid): Promise<[number, string]> => {
      return [Number(pid), await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')];
    }),
  );
}

async function listFromPs(): Promise<[number, string][]> {
  const { output } = await runToEnd(['ps', '-axww', '-o', 'pid=,command='], {});
  return output.split('\n').map((line) => [Number.parseInt(line, 10), line]);
}
