// Background work: periodic tasks, queued jobs and work that goes on all the time. All instances share it.
import type { QueueOptions } from '../platform/queue/queue.ts';
import type { Deps } from './deps.ts';
import type { Settings } from './settings.ts';

/** Runs on one instance at a time. */
export interface PeriodicTask {
  readonly name: string;
  everySeconds(deps: Deps): number;
  run(deps: Deps, signal: AbortSignal): Promise<void>;
}

export const periodic = (task: PeriodicTask): PeriodicTask => task;

/** A job that throws is retried, as its queue options say. */
export interface QueuedJob<Data = never> {
  readonly name: string;
  queue(settings: Settings): Omit<QueueOptions, 'name'>;
  concurrency(settings: Settings): number;
  run(deps: Deps, data: Data, signal: AbortSignal): Promise<void>;
}

export const queued = <Data>(job: QueuedJob<Data>): QueuedJob<Data> => job;

/** Runs on every instance that runs jobs, from its start to its stop. */
export interface ContinuousWork {
  readonly name: string;
  start(deps: Deps): Running;
}

export interface Running {
  /** Ends within seconds. */
  stop(): Promise<void>;
}

export const continuous = (work: ContinuousWork): ContinuousWork => work;
