// Runs the commands that manage webhooks.
import type { Webhook, WebhookDelivery } from '@pakhus/client/node';
import { parseTypes } from '../events/feed.ts';
import { formatTime, printable } from '../files/format.ts';
import type { Call, Context } from '../frame/command.ts';
import { open, pageSize, printSecret } from './results.ts';

interface OfWebhook {
  readonly id: string;
}

interface WebhookOptions {
  readonly types: string | undefined;
  readonly active: string | undefined;
}

async function openWebhooks(context: Context) {
  const { client, signal } = await open(context);
  return { webhooks: await client.project.webhooks(), signal };
}

const describeWebhook = (webhook: Webhook): string =>
  [
    webhook.id,
    printable(webhook.url),
    webhook.types?.join(' ') ?? 'all events',
    ...(webhook.active ? [] : [describeOff(webhook)]),
    ...(webhook.active && webhook.failing_since
      ? [`failing since ${formatTime(webhook.failing_since)}`]
      : []),
  ].join('  ');

const describeOff = ({ disabled_reason }: Webhook): string =>
  disabled_reason === null ? 'inactive' : `switched off: ${disabled_reason}`;

const printWebhook = ({ out }: Context, webhook: Webhook) =>
  out.print(webhook, () => describeWebhook(webhook));

const statusWidth = 9;

const describeDelivery = (delivery: WebhookDelivery): string =>
  [
    delivery.id,
    formatTime(delivery.created_at),
    delivery.status.padEnd(statusWidth),
    String(delivery.response_status ?? '---'),
    `${delivery.duration_ms ?? 0} ms`.padStart(8),
    delivery.type,
    ...(delivery.attempts > 1 ? [`${delivery.attempts} tries`] : []),
    ...(delivery.error === null ? [] : [printable(delivery.error)]),
    ...(delivery.next_try_at === null ? [] : [`again at ${formatTime(delivery.next_try_at)}`]),
  ].join('  ');

const printDelivery = ({ out }: Context, delivery: WebhookDelivery) =>
  out.print(delivery, () => describeDelivery(delivery));

/** `*` is what a webhook has that names no types. */
const toWebhook = ({ types, active }: WebhookOptions) => ({
  ...(types !== undefined && { types: types === '*' ? null : [...parseTypes(types)] }),
  ...(active !== undefined && { active: active === 'on' }),
});

export async function listWebhooks({ context }: Call) {
  const { webhooks, signal } = await openWebhooks(context);
  for await (const webhook of webhooks.list({ limit: pageSize }, { signal }))
    await printWebhook(context, webhook);
}

export async function createWebhook({
  options,
  arguments: given,
  context,
}: Call<WebhookOptions, { url: string }>) {
  const { webhooks, signal } = await openWebhooks(context);
  const created = await webhooks.create({ url: given.url, ...toWebhook(options) }, { signal });
  await printSecret(context, created, created.secret, `Secret of the webhook ${created.webhook.id}`);
}

export async function updateWebhook({
  options,
  arguments: given,
  context,
}: Call<WebhookOptions & { url: string | undefined }, OfWebhook>) {
  const { webhooks, signal } = await openWebhooks(context);
  const body = { ...(options.url !== undefined && { url: options.url }), ...toWebhook(options) };
  await printWebhook(context, await webhooks.update(given.id, body, { signal }));
}

export async function deleteWebhook({ arguments: given, context }: Call<unknown, OfWebhook>) {
  const { webhooks, signal } = await openWebhooks(context);
  await webhooks.delete(given.id, { signal });
  await context.out.print({ deleted: given.id }, `Deleted the webhook ${given.id}`);
}

export async function rotateSecret({ arguments: given, context }: Call<unknown, OfWebhook>) {
  const { webhooks, signal } = await openWebhooks(context);
  const rotated = await webhooks.rotateSecret(given.id, { signal });
  await printSecret(context, rotated, rotated.secret, `New secret of the webhook ${given.id}`);
}

export async function testWebhook({ arguments: given, context }: Call<unknown, OfWebhook>) {
  const { webhooks, signal } = await openWebhooks(context);
  await printDelivery(context, await webhooks.test(given.id, { signal }));
}

export async function listDeliveries({
  options,
  arguments: given,
  context,
}: Call<{ status: string | undefined }, OfWebhook>) {
  const { webhooks, signal } = await openWebhooks(context);
  const status = options.status as WebhookDelivery['status'] | undefined;
  const query = { limit: pageSize, ...(status && { status }) };
  for await (const delivery of webhooks.deliveries(given.id, query, { signal }))
    await printDelivery(context, delivery);
}

export async function replayDelivery({
  arguments: given,
  context,
}: Call<unknown, OfWebhook & { delivery: string }>) {
  const { webhooks, signal } = await openWebhooks(context);
  await printDelivery(context, await webhooks.replay(given.id, given.delivery, { signal }));
}
