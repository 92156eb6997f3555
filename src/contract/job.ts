// What a periodic task is. Instances share the work: whoever claims a due task does it.
import type { Deps } from './deps.ts';

export interface PeriodicTask {
  readonly name: string;
  everySeconds(deps: Deps): number;
  run(deps: Deps, signal: AbortSignal): Promise<void>;
}

export const periodic = (task: PeriodicTask): PeriodicTask => task;
