// CPU time of a process, and whether it is waiting for more. Only on Linux, from /proc.
import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts in hundredths of a second here, whatever the kernel's own clock. */
const ticksPerSecond = 100;

/** Of all threads; undefined if the process is gone or /proc is not available. */
export function cpuSecondsOf(pid: number): number | undefined {
  const fields = statFields(`/proc/${pid}/stat`);
  return fields && (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Runnable, stopped, or waiting for a disk. */
const heldUpStates = new Set(['R', 'T', 't', 'D']);

/** Whether a thread could continue if it got CPU or disk time. False if all threads sleep. */
export function isHeldUp(pid: number): boolean {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.some((thread) =>
      heldUpStates.has(statFields(`/proc/${pid}/task/${thread}/stat`)?.[0] ?? ''),
    );
  } catch {
    return false;
  }
}

/** The fields from the third on: the second is the name in brackets, which may contain anything. */
function statFields(path: string): string[] | undefined {
  try {
    const text = readFileSync(path, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
