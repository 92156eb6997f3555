// Allows one Pakhus per data folder. It is a kernel lock on an open file, which ends with its process, so there are no
// stale locks.

import { constants } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { runToEnd } from './embedded-process.ts';

// O_EXLOCK, which only BSD and Darwin have; Node has no constant for it.
const darwinExclusiveLock = 0x20;

export interface FolderLock {
  release(): Promise<void>;
}

/** Another process has the lock. */
export class FolderInUse extends Error {}

/** Rejects with the folder and the holder's pid when another process has the lock. */
export async function lockFolder(path: string): Promise<FolderLock> {
  const file = process.platform === 'darwin' ? await openLocked(path) : await openAndLock(path);
  if (file === undefined) throw new FolderInUse(await describeHolder(path));
  await file.truncate(0);
  await file.write(`${process.pid} ${hostname()}\n`, 0);
  return {
    release: async () => {
      // The file stays: if it were removed, a process that has just opened it would lock a file that nobody else sees.
      await file.truncate(0);
      await file.close();
    },
  };
}

async function openLocked(path: string): Promise<FileHandle | undefined> {
  const { O_RDWR, O_CREAT, O_NONBLOCK } = constants;
  try {
    return await open(path, O_RDWR | O_CREAT | O_NONBLOCK | darwinExclusiveLock, 0o600);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return undefined;
    throw error;
  }
}

/** flock(1) locks the open file it inherits and ends; the lock stays with our descriptor. */
async function openAndLock(path: string): Promise<FileHandle | undefined> {
  const { O_RDWR, O_CREAT } = constants;
  const file = await open(path, O_RDWR | O_CREAT, 0o600);
  const { code, output } = await runToEnd(['flock', '-n', '-x', '3'], { inheritFd: file.fd });
  if (code === 0) return file;
  await file.close();
  if (code === 1 && output.trim() === '') return undefined;
  throw new Error(`${path} cannot be locked with flock (of util-linux): ${output.trim() || `code ${code}`}`);
}

async function describeHolder(path: string): Promise<string> {
  const [pid, host] = await readHolder(path);
  const where = host === undefined || host === hostname() ? '' : ` on ${host}`;
  const who = pid === undefined ? 'another process' : `the process with pid ${pid}${where}`;
  return `The database folder ${dirname(path)} is in use by ${who}. Stop it, or give this Pakhus a DATA_DIR of its own.`;
}

/** The holder writes its pid just after taking the lock, so wait briefly for it. */
async function readHolder(path: string): Promise<string[]> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const text = (await readFile(path, 'utf8')).trim();
    if (text !== '') return text.split(' ');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return [];
}
