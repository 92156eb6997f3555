// What operators watch of the feed.
import type { Deps } from '../../contract/deps.ts';
import type { Database } from '../../platform/db/postgres.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { countRecorded, findDelay } from './events.sql.ts';

export function registerEventGauges(metrics: Metrics, db: Database, readers: Deps['eventReaders']): void {
  metrics.gauge(
    'pakhus_events_recorded',
    'Events recorded since the statistics of the database were reset.',
    async () => {
      const [row] = await db.read<{ events: number }>(countRecorded);
      return [{ value: row?.events ?? 0 }];
    },
  );
  metrics.gauge(
    'pakhus_event_feed_delay_seconds',
    'Age of the oldest running transaction that changes data: later events wait for its end.',
    async () => {
      const [row] = await db.read<{ seconds: number }>(findDelay);
      return [{ value: row?.seconds ?? 0 }];
    },
  );
  metrics.gauge('pakhus_event_readers', 'Requests to this process that wait for events.', () => [
    { value: readers.size },
  ]);
}
