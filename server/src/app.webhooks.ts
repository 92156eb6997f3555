// How webhooks are delivered, unless a test wants it otherwise.
import type { WebhookBounds } from './contract/webhook.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

export const defaultWebhookBounds: WebhookBounds = {
  retryDelaysMs: [5 * second, 30 * second, 2 * minute, 10 * minute, hour, 6 * hour, 12 * hour, 24 * hour],
  failuresMax: 5,
  restMs: 5 * second,
  restMsMax: 5 * minute,
  failingMsMax: 72 * hour,
  lingerMs: second,
  runMsMax: minute,
  pollMs: 5 * second,
  runsMax: 1_000,
  leaseSeconds: 15,
};
