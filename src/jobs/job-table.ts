// Every periodic task and every queued job there is.
import type { PeriodicTask, QueuedJob } from '../contract/job.ts';
import { auditPurge } from '../features/audit/audit.jobs.ts';
import { mover, reaper } from '../features/files/files.jobs.ts';
import { compression } from '../features/images/images.jobs.ts';
import { statsPurge } from '../features/stats/stats.jobs.ts';
import { expiryPurge } from '../features/tokens/tokens.jobs.ts';

export const periodicTasks: readonly PeriodicTask[] = [auditPurge, expiryPurge, reaper, mover, statsPurge];

export const queuedJobs: readonly QueuedJob[] = [compression];
