// CPU time of a service and of its PostgreSQL, and the machine they run on. On a shared machine CPU time is steadier
// than throughput, so targets use it where they can.
import { readdirSync, readFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';

/** /proc counts in hundredths of a second on every Linux that Node runs on. */
const msPerTick = 10;

/** CPU time so far, in ms, of a server and of its database; NaN without /proc. */
export const cpuOf = ({ pid, database }) => ({
  service: processMs(pid),
  database: database ? clusterMs(database.pid) : 0,
});

export const cpuSince = (before, after) => ({
  service: after.service - before.service,
  database: after.database - before.database,
});

/** Resolves to the CPU time that `work` took on the server and its database. */
export async function cpuDuring(server, work) {
  const before = cpuOf(server);
  await work();
  return cpuSince(before, cpuOf(server));
}

/** CPU time of the main thread alone, which runs the event loop; NaN without /proc. */
export const mainThreadMsOf = (pid) => schedstatMs(`/proc/${pid}/task/${pid}`);

/**
 * A process with all its threads. Schedstat counts nanoseconds but forgets threads that have ended; the ticks of the
 * process include those.
 */
export function processMs(pid) {
  if (process.platform !== 'linux') return Number.NaN;
  const threads = readdirSync(`/proc/${pid}/task`).map((task) => schedstatMs(`/proc/${pid}/task/${task}`));
  const { user, system } = ticksOf(pid);
  return Math.max(sum(threads), (user + system) * msPerTick);
}

/** A postmaster with its children. The ones that have ended count in its ticks. */
function clusterMs(postmaster) {
  if (process.platform !== 'linux') return Number.NaN;
  const { endedChildren } = ticksOf(postmaster);
  return sum(processesOf(postmaster).map(processMsIfAlive)) + endedChildren * msPerTick;
}

/** The pids of a postmaster and of its children. */
export const processesOf = (postmaster) => [
  postmaster,
  ...readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').split(' ').filter(Boolean),
];

function processMsIfAlive(pid) {
  try {
    return processMs(pid);
  } catch {
    return 0;
  }
}

function schedstatMs(folder) {
  if (process.platform !== 'linux') return Number.NaN;
  return Number(readFileSync(`${folder}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

function ticksOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name before the last bracket may contain anything, even blanks.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user, system, endedUser, endedSystem] = fields.slice(11, 15).map(Number);
  return { user, system, endedChildren: endedUser + endedSystem };
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

/** x86 and Arm name them differently. */
const hasShaInstructions = () =>
  process.platform === 'linux' && /\b(sha_ni|sha2)\b/.test(readFileSync('/proc/cpuinfo', 'utf8'));

export const machine = () => ({
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  cores: cpus().length,
  shaInstructions: hasShaInstructions(),
  memoryGiB: Math.round((totalmem() / 1024 ** 3) * 10) / 10,
  node: process.version,
  kernel: `${type()} ${release()}`,
});
