// All periodic tasks, all queued jobs, and what goes on all the time.
import type { ContinuousWork, PeriodicTask, QueuedJob } from '../contract/job.ts';
import { accountPurge, accountReseal, resetRequests } from '../features/accounts/accounts.jobs.ts';
import { auditPurge } from '../features/audit/audit.jobs.ts';
import { eventPurge } from '../features/events/events.jobs.ts';
import { expirer, hasher, indexer, mover } from '../features/files/files.jobs.ts';
import { answerPurge } from '../features/idempotency/idempotency.jobs.ts';
import { compression } from '../features/images/images.jobs.ts';
import { mailSending } from '../features/mail/mail.jobs.ts';
import { reaper } from '../features/objects/objects.jobs.ts';
import { shareSweep } from '../features/shares/shares.jobs.ts';
import { statsPurge } from '../features/stats/stats.jobs.ts';
import { expiryPurge } from '../features/tokens/tokens.jobs.ts';
import { uploadUpkeep } from '../features/uploads/uploads.jobs.ts';
import { usagePurge } from '../features/usage/usage.jobs.ts';
import { variantMaking, variantUpkeep } from '../features/variants/variants.jobs.ts';
import { deliveryPurge, webhookDelivery, webhookReseal } from '../features/webhooks/webhooks.jobs.ts';

export const periodicTasks: readonly PeriodicTask[] = [
  accountPurge,
  accountReseal,
  answerPurge,
  auditPurge,
  eventPurge,
  expiryPurge,
  reaper,
  mover,
  hasher,
  indexer,
  expirer,
  shareSweep,
  statsPurge,
  uploadUpkeep,
  usagePurge,
  variantUpkeep,
  deliveryPurge,
  webhookReseal,
];

export const queuedJobs: readonly QueuedJob[] = [compression, variantMaking, resetRequests, mailSending];

export const continuousWork: readonly ContinuousWork[] = [webhookDelivery];
