// Gauges for operators: queue, reaper and connections. No label names a tenant.
import type { Database } from '../../platform/db/postgres.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { readReaperBacklog } from '../objects/objects.service.ts';
import { readJobCounts } from './stats.service.ts';

export function registerGauges(metrics: Metrics, db: Database): void {
  metrics.gauge('pakhus_queue_depth', 'Image jobs that are not finished, of all instances.', async () => {
    const { pending, processing } = await readJobCounts(db);
    return [
      { labels: { queue: 'images.compress', state: 'pending' }, value: pending },
      { labels: { queue: 'images.compress', state: 'processing' }, value: processing },
    ];
  });
  metrics.gauge(
    'pakhus_reaper_backlog_objects',
    'Objects that are due to be deleted, of all instances; 100000 stands for more.',
    async () => [{ value: await readReaperBacklog(db) }],
  );
  metrics.gauge('pakhus_database_connections', 'Connections of the pool of this process.', () => {
    const { total, idle } = db.pool();
    return [
      { labels: { state: 'busy' }, value: total - idle },
      { labels: { state: 'idle' }, value: idle },
    ];
  });
  metrics.gauge('pakhus_database_waiting', 'Statements that wait for a connection of the pool.', () => [
    { value: db.pool().waiting },
  ]);
}
