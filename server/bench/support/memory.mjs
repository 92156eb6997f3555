// Resident memory of a process, and of a PostgreSQL.
import { existsSync, readFileSync } from 'node:fs';
import { processesOf } from './cpu.mjs';

/** NaN without /proc or after the process has ended. */
export function memoryMiB(pid) {
  const file = `/proc/${pid}/status`;
  return existsSync(file)
    ? Number(/VmRSS:\s+(\d+)/.exec(readFileSync(file, 'utf8'))?.[1]) / 1024
    : Number.NaN;
}

/** `now` returns the current value, `stop` the highest one seen. */
export function watchMemory(pid) {
  let most = memoryMiB(pid);
  const timer = setInterval(() => {
    most = Math.max(most, memoryMiB(pid));
  }, 50);
  return {
    now: () => memoryMiB(pid),
    stop: () => {
      clearInterval(timer);
      return most;
    },
  };
}

/** All processes of a PostgreSQL. Their proportional set sizes count the shared buffers once. */
export function sharedMemoryMiB(postmaster) {
  const kibibytes = processesOf(postmaster).map((pid) => {
    const file = `/proc/${pid}/smaps_rollup`;
    return existsSync(file) ? Number(/^Pss:\s+(\d+)/m.exec(readFileSync(file, 'utf8'))?.[1]) : 0;
  });
  return kibibytes.reduce((total, more) => total + more, 0) / 1024;
}
