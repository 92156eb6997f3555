// Inspects processes through /proc, for tests of how processes are started and when they are gone.
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { waitMsMax } from './bounds.ts';

/** Polls until the answer is neither undefined nor false. A timeout names the condition that never came true. */
export async function until<T>(what: string, ask: () => Promise<T | undefined | false>): Promise<T> {
  const deadline = Date.now() + waitMsMax;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (Date.now() > deadline) throw new Error(`never came true: ${what}`);
    await pause(10);
  }
}

/** The live children of `parent` whose command line has `word`. */
export async function childrenOf(parent: number, word: string): Promise<number[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0);
  const found = await Promise.all(pids.map(async (pid) => ((await isChild(pid, parent, word)) ? pid : 0)));
  return found.filter((pid) => pid > 0);
}

/** All live processes below one, however deep. */
export async function descendantsOf(parent: number): Promise<number[]> {
  const children = await childrenOf(parent, '');
  const deeper = await Promise.all(children.map(descendantsOf));
  return [...children, ...deeper.flat()];
}

async function isChild(pid: number, parent: number, word: string): Promise<boolean> {
  const stat = await readStat(`/proc/${pid}/stat`);
  if (!stat || stat.parent !== parent || stat.state === 'Z') return false;
  return (await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')).includes(word);
}

export async function isGone(pid: number): Promise<boolean> {
  const stat = await readStat(`/proc/${pid}/stat`);
  return !stat || stat.state === 'Z';
}

/** User CPU time of all threads so far. */
export async function cpuSeconds(pid: number): Promise<number> {
  return ((await readStat(`/proc/${pid}/stat`))?.userTicks ?? 0) / 100;
}

/** The nice values of all threads; on Linux each has its own. */
export async function niceOfThreads(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`);
  const stats = await Promise.all(threads.map((thread) => readStat(`/proc/${pid}/task/${thread}/stat`)));
  return stats.flatMap((stat) => (stat ? [stat.nice] : []));
}

interface Stat {
  readonly state: string;
  readonly parent: number;
  readonly userTicks: number;
  readonly nice: number;
}

async function readStat(path: string): Promise<Stat | undefined> {
  const text = await readFile(path, 'latin1').catch(() => undefined);
  // The second field is the name in brackets and may contain anything.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  if (!fields) return undefined;
  const [state = '', parent = '0'] = fields;
  return { state, parent: Number(parent), userTicks: Number(fields[11]), nice: Number(fields[16]) };
}
