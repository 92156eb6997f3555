// One delivery, with the beginning of the answer. A stranger wrote that.
import type { WebhookDelivery } from '@pakhus/client';
import type { ComponentChildren } from 'preact';
import { t } from '../../texts/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { formatMoment, formatNumber } from '../../ui/format.ts';
import { Foreign } from '../../ui/parts.tsx';
import { Listing } from '../../ui/snippet.tsx';
import { describeType } from '../events/event-types.ts';
import { StatusBadge } from './delivery-status.tsx';

interface DeliveryDialogProps {
  readonly delivery: WebhookDelivery;
  readonly onReplay: (delivery: WebhookDelivery) => Promise<void>;
  readonly onClose: () => void;
}

export function DeliveryDialog({ delivery, onReplay, onClose }: DeliveryDialogProps) {
  const texts = t.webhooks;
  const { type, response_body } = delivery;
  return (
    <Dialog title={type === 'test' ? texts.testType : (describeType(type) ?? type)} onClose={onClose}>
      <dl class="facts">
        {listFacts(delivery).map(([label, value]) => [
          <dt key={`${label} label`}>{label}</dt>,
          <dd key={label}>{value}</dd>,
        ])}
      </dl>
      <section class="stack tight">
        <h3>{texts.body}</h3>
        {response_body ? <Listing text={response_body} /> : <p class="soft">{texts.noBody}</p>}
      </section>
      <div class="dialog-feet">
        <Button icon="refresh" onPress={() => onReplay(delivery)}>
          {texts.replay}
        </Button>
      </div>
    </Dialog>
  );
}

/** Without those that have no value yet. */
function listFacts(delivery: WebhookDelivery): (readonly [label: string, value: ComponentChildren])[] {
  const texts = t.webhooks;
  const { response_status, duration_ms, error, next_try_at } = delivery;
  const facts: readonly (readonly [string, ComponentChildren])[] = [
    [texts.status, <StatusBadge key="status" status={delivery.status} />],
    [texts.attempts, formatNumber(delivery.attempts)],
    [texts.answer, response_status],
    [texts.duration, duration_ms !== null && texts.milliseconds(formatNumber(duration_ms))],
    [texts.error, error && <Foreign>{error}</Foreign>],
    [texts.time, formatMoment(delivery.created_at)],
    [texts.nextTry, next_try_at && formatMoment(next_try_at)],
    [
      texts.eventId,
      <code key="event" class="mono">
        {delivery.event_id}
      </code>,
    ],
    [
      texts.deliveryId,
      <code key="delivery" class="mono">
        {delivery.id}
      </code>,
    ],
  ];
  return facts.filter(([, value]) => value);
}
