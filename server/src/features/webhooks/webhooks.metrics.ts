// What operators see of deliveries. No label names a tenant.
import type { Deps } from '../../contract/deps.ts';
import { latencyBounds } from '../../platform/metrics.ts';
import type { DeliveryStatus } from './webhooks.sql.ts';
import { countWaiting } from './webhooks.work.sql.ts';

/** Counts a try: how it left its delivery, and how long it took. */
export type DeliveryMeter = (status: DeliveryStatus, durationMs: number) => void;

export function meterDeliveries({ metrics, db }: Pick<Deps, 'metrics' | 'db'>): DeliveryMeter {
  const tries = new Map<DeliveryStatus, number>();
  metrics.total(
    'pakhus_webhook_tries_total',
    'Tries to deliver, by the state in which they left the delivery.',
    () => [...tries].map(([outcome, value]) => ({ labels: { outcome }, value })),
  );
  const durations = metrics
    .histogram('pakhus_webhook_try_seconds', 'How long tries to deliver took.', latencyBounds)
    .labelled({});
  metrics.gauge(
    'pakhus_webhook_retries_waiting',
    'Deliveries that will be tried again, of all instances; 100000 stands for more.',
    async () => [{ value: (await db.read<{ waiting: number }>(countWaiting))[0]?.waiting ?? 0 }],
  );
  return (status, durationMs) => {
    tries.set(status, (tries.get(status) ?? 0) + 1);
    durations.observe(durationMs / 1000);
  };
}
