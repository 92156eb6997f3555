// The program of the thread that reads small files. It waits for the disk at every step, which nobody else notices.
import fs from 'node:fs';
import { parentPort } from 'node:worker_threads';

export interface SmallRead {
  readonly path: string;
  /** Shared memory, of exactly the length that the file must have. */
  readonly into: Uint8Array;
}

/** Null if all of the file was read, `absent` if there is none of that length; otherwise the fault of the disk. */
export type ReadOutcome = null | 'absent' | { readonly fault: string };

parentPort?.on('message', (reads: readonly SmallRead[]) => parentPort?.postMessage(reads.map(readFile)));

function readFile({ path, into }: SmallRead): ReadOutcome {
  try {
    return readOpen(fs.openSync(path, fs.constants.O_RDONLY), into);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'absent' : { fault: message };
  }
}

function readOpen(fd: number, into: Uint8Array): ReadOutcome {
  try {
    const stats = fs.fstatSync(fd);
    if (!stats.isFile() || stats.size !== into.length) return 'absent';
    for (let at = 0; at < into.length; ) {
      const bytes = fs.readSync(fd, into, at, into.length - at, at);
      if (bytes === 0) return { fault: 'the file is shorter than it was' };
      at += bytes;
    }
    return null;
  } finally {
    fs.closeSync(fd);
  }
}
