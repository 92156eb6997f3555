// The states of a delivery.
import type { WebhookDelivery } from '@pakhus/client';
import { t } from '../../texts/texts.ts';
import { formatNumber } from '../../ui/format.ts';
import { Badge, Foreign, Time } from '../../ui/parts.tsx';

type StatusName = WebhookDelivery['status'];

const tones = {
  pending: 'plain',
  succeeded: 'good',
  retrying: 'warn',
  failed: 'danger',
} as const satisfies Readonly<Record<StatusName, string>>;

export const statuses = (): readonly StatusName[] => Object.keys(tones) as StatusName[];

/** Null for anything else that the address may say. */
export const toStatus = (text: string | null): StatusName | null =>
  statuses().find((status) => status === text) ?? null;

export const StatusBadge = ({ status }: { status: StatusName }) => (
  <Badge tone={tones[status]}>{t.webhooks.statuses[status]}</Badge>
);

/** With the time of the next try, where there is one. */
export const Status = ({ delivery: { status, next_try_at } }: { delivery: WebhookDelivery }) => (
  <span class="with-note">
    <StatusBadge status={status} />
    {status === 'retrying' && next_try_at && (
      <small class="nowrap">
        {t.webhooks.nextTry}: <Time at={next_try_at} />
      </small>
    )}
  </span>
);

/** What the receiver answered, or why there is no answer. */
export function Answer({ delivery }: { delivery: WebhookDelivery }) {
  const texts = t.webhooks;
  const { response_status, duration_ms, error } = delivery;
  return (
    <span class="with-note">
      <span>
        {response_status ?? <span class="soft">{texts.noAnswer}</span>}
        {duration_ms !== null && (
          <span class="soft nowrap"> · {texts.milliseconds(formatNumber(duration_ms))}</span>
        )}
      </span>
      {error && (
        <small>
          <Foreign>{error}</Foreign>
        </small>
      )}
    </span>
  );
}
