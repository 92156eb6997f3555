// The CPU time of a process, and the machine it runs on. On a shared machine CPU time is steadier than throughput,
// so targets use it where they can.
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';

/** /proc counts in hundredths of a second on every Linux that Node runs on. */
const msPerTick = 10;

/** User and system time of a process with all its threads; NaN without /proc. */
export function cpuMsOf(pid) {
  if (process.platform !== 'linux') return Number.NaN;
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name before the last bracket may contain anything, even blanks.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * msPerTick;
}

/** CPU time of the main thread alone, which runs the event loop; NaN without /proc. */
export function mainThreadMsOf(pid) {
  if (process.platform !== 'linux') return Number.NaN;
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

export const machine = () => ({
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  cores: cpus().length,
  memoryGiB: Math.round((totalmem() / 1024 ** 3) * 10) / 10,
  node: process.version,
  kernel: `${type()} ${release()}`,
});
