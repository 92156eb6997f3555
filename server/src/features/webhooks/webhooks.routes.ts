// Webhooks over HTTP.

import { route } from '../../contract/route.ts';
import { Listing, Page, Uuid } from '../../contract/wire.ts';
import { Type } from '../../kernel/schema.ts';
import { listWebhookDeliveries, replay, sendTest } from './webhooks.deliveries.ts';
import {
  changeWebhook,
  createWebhook,
  listProjectWebhooks,
  readWebhook,
  removeWebhook,
  rotateSecret,
} from './webhooks.service.ts';
import {
  DeliveryQuery,
  DeliveryView,
  Secret,
  viewDelivery,
  viewWebhook,
  WebhookChange,
  WebhookInput,
  WebhookView,
} from './webhooks.wire.ts';

const params = Type.Object({ webhookId: Uuid });
const oneWebhook = Type.Object({ webhook: WebhookView });
const webhookWithSecret = Type.Object({ webhook: WebhookView, secret: Secret });
const oneDelivery = Type.Object({ delivery: DeliveryView });
const owner = { access: { actors: ['project'] }, rateLimit: 'integration' } as const;

export const webhookRoutes = [
  route(
    {
      id: 'webhooks.list',
      method: 'GET',
      path: '/project/webhooks',
      summary: 'List webhooks',
      ...owner,
      audit: null,
      query: Page(),
      returns: { status: 200, body: Listing('webhooks', WebhookView) },
      errors: [],
    },
    async ({ deps, actor, query }) => {
      const { rows, next_cursor } = await listProjectWebhooks(deps, actor.projectId, query);
      return { webhooks: rows.map(viewWebhook), next_cursor };
    },
  ),
  route(
    {
      id: 'webhooks.create',
      method: 'POST',
      path: '/project/webhooks',
      summary: 'Create a webhook',
      description:
        'From now on, every event is posted to the URL as JSON, one after another, signed as Standard Webhooks defines it: `webhook-id`, `webhook-timestamp` and `webhook-signature`. The `webhook-id` is the id of the event, the same on every try. A 2xx within 10 seconds is a success. Otherwise the event is sent again after 5 s, 30 s, 2 min, 10 min, 1 h, 6 h, 12 h and 24 h, while others go on: receivers must accept an event twice, and after a failure out of order. A 410, or 3 days of failure, switch the webhook off, and the owner gets a mail. At most 10 per project.',
      ...owner,
      idempotent: true,
      audit: 'webhook.create',
      body: WebhookInput,
      returns: { status: 201, body: webhookWithSecret },
      errors: ['CONFLICT'],
    },
    async ({ deps, actor, body, audit }) => {
      const { webhook, plain } = await createWebhook(deps, actor, body, audit);
      return { webhook: viewWebhook(webhook), secret: plain };
    },
  ),
  route(
    {
      id: 'webhooks.read',
      method: 'GET',
      path: '/project/webhooks/:webhookId',
      summary: 'Read a webhook',
      ...owner,
      audit: null,
      params,
      returns: { status: 200, body: oneWebhook },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, actor, params: { webhookId } }) => ({
      webhook: viewWebhook(await readWebhook(deps.db, actor.projectId, webhookId)),
    }),
  ),
  route(
    {
      id: 'webhooks.update',
      method: 'PUT',
      path: '/project/webhooks/:webhookId',
      summary: 'Change a webhook',
      description:
        'Changes only the given fields. `active: true` after a pause, or after the service has switched it off, continues with the event at which it stopped, as far as events are kept.',
      ...owner,
      audit: 'webhook.update',
      params,
      body: WebhookChange,
      returns: { status: 200, body: oneWebhook },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, actor, params: { webhookId }, body, audit }) => ({
      webhook: viewWebhook(await changeWebhook(deps, actor.projectId, webhookId, body, audit)),
    }),
  ),
  route(
    {
      id: 'webhooks.delete',
      method: 'DELETE',
      path: '/project/webhooks/:webhookId',
      summary: 'Delete a webhook',
      description: 'Nothing more is sent, except for a try that is under way.',
      ...owner,
      audit: 'webhook.delete',
      params,
      returns: { status: 204 },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, actor, params: { webhookId }, audit }) =>
      removeWebhook(deps, actor.projectId, webhookId, audit),
  ),
  route(
    {
      id: 'webhooks.rotateSecret',
      method: 'POST',
      path: '/project/webhooks/:webhookId/rotate-secret',
      summary: 'Replace the secret of a webhook',
      description:
        'For 24 hours the old secret signs as well, so `webhook-signature` has several signatures: enter the new secret meanwhile.',
      ...owner,
      idempotent: true,
      audit: 'webhook.rotate_secret',
      params,
      returns: { status: 200, body: webhookWithSecret },
      errors: ['NOT_FOUND', 'CONFLICT'],
    },
    async ({ deps, actor, params: { webhookId }, audit }) => {
      const { webhook, plain } = await rotateSecret(deps, actor, webhookId, audit);
      return { webhook: viewWebhook(webhook), secret: plain };
    },
  ),
  route(
    {
      id: 'webhooks.test',
      method: 'POST',
      path: '/project/webhooks/:webhookId/test',
      summary: 'Send a test to a webhook',
      description:
        'Sends a signed message of the type `test`, once, also if the webhook is not active. It is no event of the feed. Its delivery shows what became of it.',
      ...owner,
      idempotent: true,
      audit: 'webhook.test',
      params,
      returns: { status: 202, body: oneDelivery },
      errors: ['NOT_FOUND', 'CONFLICT'],
    },
    async ({ deps, actor, params: { webhookId }, audit }) => ({
      delivery: viewDelivery(await sendTest(deps, actor.projectId, webhookId, audit)),
    }),
  ),
  route(
    {
      id: 'webhooks.deliveries',
      method: 'GET',
      path: '/project/webhooks/:webhookId/deliveries',
      summary: 'List deliveries of a webhook',
      description: 'What became of each event, newest first. Deliveries are kept for 7 days.',
      ...owner,
      audit: null,
      params,
      query: DeliveryQuery,
      returns: { status: 200, body: Listing('deliveries', DeliveryView) },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, actor, params: { webhookId }, query }) => {
      const { rows, next_cursor } = await listWebhookDeliveries(deps, actor.projectId, webhookId, query);
      return { deliveries: rows.map(viewDelivery), next_cursor };
    },
  ),
  route(
    {
      id: 'webhooks.replay',
      method: 'POST',
      path: '/project/webhooks/:webhookId/deliveries/:deliveryId/replay',
      summary: 'Send an event again',
      description:
        'Sends the event of a delivery again, whatever became of it, with the same `webhook-id`, also if the webhook is not active. The reply is the new delivery. 410 if the event is not kept any more.',
      ...owner,
      idempotent: true,
      audit: 'webhook.replay',
      params: Type.Object({ webhookId: Uuid, deliveryId: Uuid }),
      returns: { status: 202, body: oneDelivery },
      errors: ['NOT_FOUND', 'CONFLICT', 'GONE'],
    },
    async ({ deps, actor, params: { webhookId, deliveryId }, audit }) => ({
      delivery: viewDelivery(await replay(deps, actor.projectId, webhookId, deliveryId, audit)),
    }),
  ),
];
