// Resident memory of a process.
import { existsSync, readFileSync } from 'node:fs';

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
