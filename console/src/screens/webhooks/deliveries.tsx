// What became of each event that a webhook was to deliver.
import type { WebhookDelivery } from '@pakhus/client';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type Pages, startAt, usePages } from '../../browser/load.ts';
import { client } from '../../frame/api.ts';
import { address, setQuery } from '../../frame/router.tsx';
import { t } from '../../texts/texts.ts';
import { attempt } from '../../ui/attempt.ts';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/field.tsx';
import { formatMoment, formatNumber } from '../../ui/format.ts';
import { ShowPages } from '../../ui/load.tsx';
import { ApiName, Empty } from '../../ui/parts.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { showToast } from '../../ui/toasts.tsx';
import { describeType } from '../events/event-types.ts';
import { DeliveryDialog } from './delivery-dialog.tsx';
import { Answer, Status, statuses, toStatus } from './delivery-status.tsx';

const pageRows = 25;
const lookEveryMs = 1_000;
/** A try ends after 10 seconds; it may have to wait for others. */
const looksMax = 30;

interface DeliveriesProps {
  readonly webhookId: string;
  readonly onSent: () => unknown;
}

export function Deliveries({ webhookId, onSent }: DeliveriesProps) {
  const texts = t.webhooks;
  const status = toStatus(address.value.query.get('status'));
  const shown = useSignal<WebhookDelivery | null>(null);
  const pages = usePages(
    async (cursor, signal) => {
      const query = { limit: pageRows, ...(status && { status }), ...startAt(cursor) };
      const page = await (await client.project.webhooks()).deliveries(webhookId, query, { signal }).page();
      return { items: page.deliveries, next_cursor: page.next_cursor };
    },
    [webhookId, status],
  );
  const watch = useWatch(pages, onSent);
  const send = (toast: string, ask: () => Promise<WebhookDelivery>) =>
    attempt(async () => {
      const { id } = await ask();
      showToast(toast);
      shown.value = null;
      // The new one is on top of the whole list.
      setQuery({ status: null }, { replace: true });
      watch(id);
    });
  const test = () => send(texts.testSent, async () => (await client.project.webhooks()).test(webhookId));
  const replay = ({ id }: WebhookDelivery) =>
    send(texts.replayed, async () => (await client.project.webhooks()).replay(webhookId, id));
  const show = (delivery: WebhookDelivery | null) => {
    shown.value = delivery;
  };
  return (
    <section class="stack">
      <div class="page-head">
        <h2>{texts.deliveries}</h2>
        <div class="row">
          <Button icon="refresh" onPress={pages.reload}>
            {texts.reload}
          </Button>
          <Button onPress={test}>{texts.test}</Button>
        </div>
      </div>
      <p class="soft">{texts.deliveriesHint}</p>
      <StatusFilter status={status} />
      <ShowPages of={pages} empty={<Nothing isFiltered={status !== null} />}>
        {(items) => (
          <Table caption={texts.deliveries} columns={columns(show)} rows={items} keyOf={({ id }) => id} />
        )}
      </ShowPages>
      {shown.value && <DeliveryDialog delivery={shown.value} onReplay={replay} onClose={() => show(null)} />}
    </section>
  );
}

const StatusFilter = ({ status }: { status: string | null }) => (
  <search class="toolbar">
    <Select
      label={t.webhooks.status}
      name="status"
      value={status ?? ''}
      options={[
        ['', t.webhooks.anyStatus],
        ...statuses().map((one) => [one, t.webhooks.statuses[one]] as const),
      ]}
      onChange={(value) => setQuery({ status: value })}
    />
  </search>
);

/** Looks again until what was sent from here has an outcome. */
function useWatch(pages: Pages<WebhookDelivery>, onOutcome: () => unknown): (deliveryId: string) => void {
  const watched = useSignal<{ readonly id: string; readonly looks: number } | null>(null);
  useEffect(() => {
    if (!watched.value) return;
    const { id, looks } = watched.value;
    const found = pages.items?.find((delivery) => delivery.id === id);
    const isKnown = found !== undefined && found.status !== 'pending';
    if (isKnown || looks === looksMax) {
      watched.value = null;
      onOutcome();
      return;
    }
    const look = async () => {
      await pages.reload();
      if (watched.value?.id === id) watched.value = { id, looks: looks + 1 };
    };
    const timer = setTimeout(look, looks === 0 ? 0 : lookEveryMs);
    return () => clearTimeout(timer);
  }, [watched.value]);
  return (id) => {
    watched.value = { id, looks: 0 };
  };
}

const Nothing = ({ isFiltered }: { isFiltered: boolean }) =>
  isFiltered ? (
    <Empty
      icon="search"
      title={t.webhooks.noSuchDeliveries}
      action={<Button onPress={() => setQuery({ status: null })}>{t.webhooks.anyDelivery}</Button>}
    />
  ) : (
    <Empty icon="webhooks" title={t.webhooks.noDeliveries}>
      {t.webhooks.noDeliveriesHint}
    </Empty>
  );

const columns = (onOpen: (delivery: WebhookDelivery) => void): readonly Column<WebhookDelivery>[] => {
  const texts = t.webhooks;
  return [
    {
      title: texts.type,
      kind: 'head',
      cell: ({ type }) => (
        <ApiName name={type} words={type === 'test' ? texts.testType : describeType(type)} />
      ),
    },
    { title: texts.status, cell: (delivery) => <Status delivery={delivery} /> },
    { title: texts.attempts, kind: 'number', cell: ({ attempts }) => formatNumber(attempts) },
    { title: texts.answer, cell: (delivery) => <Answer delivery={delivery} /> },
    {
      title: texts.time,
      cell: ({ created_at }) => (
        <time dateTime={created_at} title={created_at}>
          {formatMoment(created_at)}
        </time>
      ),
    },
    {
      title: texts.details,
      kind: 'actions',
      cell: (delivery) => (
        <Button size="small" onPress={() => onOpen(delivery)}>
          {texts.details}
        </Button>
      ),
    },
  ];
};
