// Runs periodic tasks. A task is claimed by moving its due date, so that one instance does it each time; if
// that instance dies, another does it when the next date has come.
import type { Deps } from '../contract/deps.ts';
import type { PeriodicTask } from '../contract/job.ts';
import { withTimeout } from '../kernel/async/time-limit.ts';
import { sql } from '../platform/db/sql.ts';

const tickMsMax = 30_000;
/** What is cut short is done again: every task is made for that. */
const stopPatienceMs = 5_000;

export interface Schedule {
  /** Starts no more tasks, and lets running ones end, unless they wait for somebody who is silent. */
  stop(): Promise<void>;
}

export function startSchedule(deps: Deps, tasks: readonly PeriodicTask[]): Schedule {
  const stopping = new AbortController();
  const running = tasks.map((task) => repeat(deps, task, stopping.signal));
  return {
    async stop() {
      stopping.abort();
      await withTimeout(stopPatienceMs, Promise.all(running));
    },
  };
}

async function repeat(deps: Deps, task: PeriodicTask, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    try {
      if (await claim(deps, task)) await task.run(deps, stopping);
    } catch (error) {
      if (!stopping.aborted)
        deps.log.warn({ err: error, task: task.name }, 'a periodic task failed; it will be tried again');
    }
    await pause(Math.min(task.everySeconds(deps) * 1000, tickMsMax), stopping);
  }
}

/** What is due later than it would be from now on was put off by another interval, or by a clock that was ahead. */
async function claim(deps: Deps, task: PeriodicTask): Promise<boolean> {
  const seconds = task.everySeconds(deps);
  const claimed = await deps.db.query(sql`
    insert into schedules (name, due_at) values (${task.name}, now() + make_interval(secs => ${seconds}))
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
