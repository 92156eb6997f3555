// Starts the workers of all queues, and the work that goes on all the time.
import type { Deps } from '../contract/deps.ts';
import type { ContinuousWork, QueuedJob, Running } from '../contract/job.ts';
import type { Settings } from '../contract/settings.ts';
import type { QueueOptions } from '../platform/queue/queue.ts';

export const toQueueOptions = (jobs: readonly QueuedJob[], settings: Settings): QueueOptions[] =>
  jobs.map((job) => ({ name: job.name, ...job.queue(settings) }));

export async function startWorkers(deps: Deps, jobs: readonly QueuedJob[]): Promise<void> {
  for (const job of jobs) {
    await deps.queue.work(job.name, job.concurrency(deps.settings), (data: never, signal) =>
      job.run(deps, data, signal),
    );
  }
}

export function startContinuous(deps: Deps, works: readonly ContinuousWork[]): Running {
  const running = works.map((work) => work.start(deps));
  return { stop: async () => void (await Promise.all(running.map((one) => one.stop()))) };
}
