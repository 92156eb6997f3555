// HTTP shapes of webhooks and their deliveries.

import { Choice, Named, Nullable, Page, resourceFields, Timestamp, Uuid } from '../../contract/wire.ts';
import { type Static, Type } from '../../kernel/schema.ts';
import type { DeliveryRow, WebhookRow } from './webhooks.sql.ts';

const Url = Type.String({
  minLength: 1,
  maxLength: 2048,
  description:
    'Where events are posted to: http or https, at a public address. Redirects are not followed, and certificates are verified.',
  examples: ['https://hooks.example.com/pakhus'],
});

const Types = Type.Array(Type.String({ minLength: 1, maxLength: 100, examples: ['file.*'] }), {
  minItems: 1,
  maxItems: 100,
  description: 'Only events of these types. `file.*` stands for all types of a group. Null or absent: all.',
  examples: [['file.*', 'quota.threshold']],
});

const Active = Type.Boolean({
  description:
    'If false, nothing is delivered. Switched on again, it continues with the event at which it stopped, as far as events are kept.',
  examples: [true],
});

export const Secret = Type.String({
  pattern: '^whsec_[A-Za-z0-9+/]{43}=$',
  description: 'Verifies signatures. Shown only this once.',
  examples: [`whsec_${'c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0MDE='}`],
});

export const WebhookView = Named('Webhook', {
  ...resourceFields,
  url: Url,
  types: Nullable(Types),
  active: Active,
  disabled_reason: Type.Unsafe<'gone' | 'failing' | null>({
    type: ['string', 'null'],
    enum: ['gone', 'failing', null],
    description:
      'Why the service has switched it off: the receiver answered 410, or every try failed for 3 days.',
    examples: [null],
  }),
  failing_since: Nullable(Timestamp),
  previous_secret_until: Nullable(
    Type.String({
      format: 'date-time',
      description: 'Until then, replaced secrets sign as well.',
      examples: ['2026-01-31T12:00:00.000Z'],
    }),
  ),
});

export const WebhookInput = Named('NewWebhook', {
  url: Url,
  types: Type.Optional(Nullable(Types)),
  active: Type.Optional(Active),
});

export const WebhookChange = Named('WebhookChange', {
  url: Type.Optional(Url),
  types: Type.Optional(Nullable(Types)),
  active: Type.Optional(Active),
});

export type WebhookInputValues = Static<typeof WebhookInput>;
export type WebhookChangeValues = Static<typeof WebhookChange>;

export const deliveryStatuses = ['pending', 'succeeded', 'retrying', 'failed'] as const;

export const DeliveryView = Named('WebhookDelivery', {
  id: Uuid,
  event_id: Type.String({
    format: 'uuid',
    description: 'Of the event, and the `webhook-id` of every try.',
    examples: ['6f9619ff-8b86-4d01-b42d-00cf4fc964ff'],
  }),
  type: Type.String({ examples: ['file.created'] }),
  status: Choice(deliveryStatuses, { 'x-name': 'DeliveryStatus' }),
  attempts: Type.Integer({ minimum: 0, description: 'Tries so far.', examples: [1] }),
  response_status: Nullable(
    Type.Integer({ description: 'Of the last try; null if no answer came.', examples: [200] }),
  ),
  response_body: Nullable(
    Type.String({ description: 'The first 1,024 bytes of the last answer.', examples: ['ok'] }),
  ),
  duration_ms: Nullable(Type.Integer({ minimum: 0, description: 'Of the last try.', examples: [35] })),
  error: Nullable(
    Type.String({ description: 'Why the last try failed.', examples: ['The connection was refused'] }),
  ),
  created_at: Timestamp,
  next_try_at: Nullable(Timestamp),
});

export const DeliveryQuery = Page({
  status: Type.Optional(Choice(deliveryStatuses, { description: 'Only deliveries in this state.' })),
});

export const viewWebhook = (row: WebhookRow): Static<typeof WebhookView> => ({
  id: row.id,
  url: row.url,
  types: row.types,
  active: row.active,
  disabled_reason: row.disabled_reason,
  failing_since: row.failing_since,
  previous_secret_until: row.previous_secret_until,
  created_at: row.created_at,
  updated_at: row.updated_at,
});

export const viewDelivery = (row: DeliveryRow): Static<typeof DeliveryView> => ({
  id: row.id,
  event_id: row.event_id,
  type: row.type,
  status: row.status,
  attempts: row.attempts,
  response_status: row.response_status,
  response_body: row.response_body,
  duration_ms: row.duration_ms,
  error: row.error,
  created_at: row.created_at,
  next_try_at: row.next_try_at,
});
