// Runs periodic tasks. An instance claims a task by moving its due date, so that only one runs it; if that instance dies,
// another runs it on the next due date.
import { setMaxListeners } from 'node:events';
import type { Deps } from '../contract/deps.ts';
import type { PeriodicTask } from '../contract/job.ts';
import { microBatch } from '../kernel/async/micro-batch.ts';
import { withTimeout } from '../kernel/async/time-limit.ts';
import { type Sql, sql } from '../platform/db/sql.ts';

/** Also of tasks that run once a day: their due date may be moved forward. */
const pauseMsMax = 30_000;
const tickMs = 100;
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
  const claim = claimTogether(deps);
  const running = tasks.map((task) => repeat(deps, task, claim, stopping.signal));
  return {
    async stop() {
      stopping.abort();
      await withTimeout(stopTimeoutMs, Promise.all(running));
    },
  };
}

type Claim = (task: PeriodicTask) => Promise<boolean>;

async function repeat(deps: Deps, task: PeriodicTask, claim: Claim, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    try {
      if (await claim(task)) await task.run(deps, stopping);
    } catch (error) {
      if (!stopping.aborted) deps.log.warn({ err: error, task: task.name }, 'periodic task failed, retrying');
    }
    await pause(untilTick(Math.min(task.everySeconds(deps) * 1000, pauseMsMax)), stopping);
  }
}

/** Rounds the pause up to the next tick, because tasks whose pauses end together are claimed together. */
function untilTick(milliseconds: number): number {
  const now = performance.now();
  return Math.ceil((now + milliseconds) / tickMs) * tickMs - now;
}

/** An idle service costs one statement for all the tasks that ask at the same time. */
function claimTogether(deps: Deps): Claim {
  const claim = microBatch<PeriodicTask, boolean>(
    async (tasks) => {
      const rows = await deps.db.query<{ name: string }>(claimDue(deps, tasks));
      const claimed = new Set(rows.map(({ name }) => name));
      return tasks.map(({ name }) => claimed.has(name));
    },
    { gather: 'iteration' },
  );
  return (task) => claim(task, undefined);
}

/**
 * A due date beyond the next interval was set with a longer interval or by a clock that ran ahead: it counts as due. Tasks that
 * are not due are only read, because an insert that conflicts locks the row, and that lock has to be committed. All instances lock
 * them in the same order.
 */
const claimDue = (deps: Deps, tasks: readonly PeriodicTask[]): Sql => sql`
  insert into schedules (name, due_at)
  select asked.name, next.due_at
  from unnest(${tasks.map(({ name }) => name)}::text[], ${tasks.map((task) => task.everySeconds(deps))}::float8[])
      as asked(name, seconds),
    lateral (select now() + make_interval(secs => asked.seconds) as due_at) next
  where not exists (
    select from schedules s where s.name = asked.name and s.due_at > now() and s.due_at <= next.due_at)
  order by asked.name
  on conflict (name) do update set due_at = excluded.due_at
    where schedules.due_at <= now() or schedules.due_at > excluded.due_at
  returning name`;

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
