// Webhooks in tests: creating them, and asking what became of their deliveries.
import { expect } from 'vitest';
import type { Api } from './api.ts';
import { until } from './processes.ts';

export interface TestWebhook {
  readonly id: string;
  readonly path: string;
  readonly secret: string;
}

export async function createWebhook(
  api: Api,
  key: string,
  url: string,
  fields: object = {},
): Promise<TestWebhook> {
  const reply = await api.post('/project/webhooks', key, { url, ...fields });
  expect(reply.status, reply.text).toBe(201);
  const { webhook, secret } = reply.body;
  return { id: webhook.id, path: `/project/webhooks/${webhook.id}`, secret };
}

export interface Delivery {
  readonly id: string;
  readonly event_id: string;
  readonly type: string;
  readonly status: string;
  readonly attempts: number;
  readonly response_status: number | null;
  readonly response_body: string | null;
  readonly duration_ms: number | null;
  readonly error: string | null;
  readonly created_at: string;
  readonly next_try_at: string | null;
}

/** Newest first. */
export async function deliveriesOf(
  api: Api,
  key: string,
  webhook: TestWebhook,
  query = '',
): Promise<Delivery[]> {
  const reply = await api.get(`${webhook.path}/deliveries?limit=100${query}`, key);
  expect(reply.status, reply.text).toBe(200);
  return reply.body.deliveries;
}

/** Waits until the deliveries are as wanted. */
export function deliveriesUntil(
  what: string,
  api: Api,
  key: string,
  webhook: TestWebhook,
  isWanted: (deliveries: Delivery[]) => boolean,
): Promise<Delivery[]> {
  return until(what, async () => {
    const deliveries = await deliveriesOf(api, key, webhook);
    return isWanted(deliveries) && deliveries;
  });
}

/** Rewrites the rows of no webhook: retries soon, and looks for them often. */
export const quick = {
  pollMs: 20,
  lingerMs: 100,
  retryDelaysMs: [50, 50, 50],
} as const;
