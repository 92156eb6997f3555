// Runs periodic tasks. An instance claims a task by moving its due date, so that only one runs it; if that instance dies,
// another runs it on the next due date.
import { setMaxListeners } from 'node:events';
import type { Deps } from '../contract/deps.ts';
import type { PeriodicTask } from '../contract/job.ts';
import { withTimeout } from '../kernel/async/time-limit.ts';
import { createTurns, type Turns } from '../kernel/async/turns.ts';
import { sql } from '../platform/db/sql.ts';

const tickMsMax = 30_000;
/** Tasks can be cut short at any time: they are idempotent and run again. */
const stopTimeoutMs = 5_000;

export interface Schedule {
  /** Starts no more tasks, and waits a few seconds for running ones. */
  stop(): Promise<void>;
}

export function startSchedule(deps: Deps, tasks: readonly PeriodicTask[]): Schedule {
  const stopping = new AbortController();
  // Each task listens, and Node takes more than ten for a leak.
  setMaxListeners(tasks.length, stopping.signal);
  // All tasks ask at the start, and many again at the same tick: together they would open a connection each.
  const inTurn = createTurns();
  const running = tasks.map((task) => repeat(deps, task, inTurn, stopping.signal));
  return {
    async stop() {
      stopping.abort();
      await withTimeout(stopTimeoutMs, Promise.all(running));
    },
  };
}

async function repeat(deps: Deps, task: PeriodicTask, inTurn: Turns, stopping: AbortSignal): Promise<void> {
  const claimUnlessStopping = async () => !stopping.aborted && (await claim(deps, task));
  while (!stopping.aborted) {
    try {
      if (await inTurn(claimUnlessStopping)) await task.run(deps, stopping);
    } catch (error) {
      if (!stopping.aborted) deps.log.warn({ err: error, task: task.name }, 'periodic task failed, retrying');
    }
    await pause(Math.min(task.everySeconds(deps) * 1000, tickMsMax), stopping);
  }
}

/**
 * A due date beyond the next interval was set with a longer interval or by a clock that ran ahead: it counts as due. A task
 * that is not due is only read, because an insert that conflicts locks the row, and that lock has to be committed.
 */
async function claim(deps: Deps, task: PeriodicTask): Promise<boolean> {
  const next = sql`now() + make_interval(secs => ${task.everySeconds(deps)})`;
  const claimed = await deps.db.query(sql`
    insert into schedules (name, due_at) select ${task.name}, ${next}
    where not exists (select from schedules where name = ${task.name} and due_at > now() and due_at <= ${next})
    on conflict (name) do update set due_at = excluded.due_at
      where schedules.due_at <= now() or schedules.due_at > excluded.due_at
    returning name`);
  return claimed.length > 0;
}

function pause(milliseconds: number, stopping: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      stopping.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    stopping.addEventListener('abort', end);
    if (stopping.aborted) end();
  });
}
