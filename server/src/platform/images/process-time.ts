// How much processor time a process has had, and whether it waits for more. Only Linux tells, by way of /proc.
import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts in hundredths of a second here, whatever the kernel's own clock. */
const ticksPerSecond = 100;

/** Of all threads so far; undefined where the process is gone, or the system does not tell. */
export function cpuSecondsOf(pid: number): number | undefined {
  const fields = statFields(`/proc/${pid}/stat`);
  return fields && (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Runnable, stopped, or waiting for a disk. */
const heldUpStates = new Set(['R', 'T', 't', 'D']);

/** Whether some thread would go on if the machine let it. False where all of them sleep: nothing will come of that. */
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

/** The fields from the third one on: the second is the name in brackets, and may hold anything. */
function statFields(path: string): string[] | undefined {
  try {
    const text = readFileSync(path, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
