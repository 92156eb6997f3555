// Gauges for operators: queue, reaper, uploads and connections. No label names a tenant.

import type { LiveUploads } from '../../contract/upload.ts';
import { microBatch } from '../../kernel/async/micro-batch.ts';
import type { Database } from '../../platform/db/postgres.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { readReaperBacklog } from '../objects/objects.service.ts';
import { readUploadCounts } from '../uploads/uploads.service.ts';
import { readJobCounts } from './stats.service.ts';

export function registerGauges(metrics: Metrics, db: Database, liveUploads: LiveUploads): void {
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
  registerUploads(metrics, db, liveUploads);
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

function registerUploads(metrics: Metrics, db: Database, { counts }: LiveUploads): void {
  // Both gauges of a scrape share one statement.
  const readCounts = microBatch(
    async (gauges: readonly null[]) => {
      const rows = await readUploadCounts(db);
      return gauges.map(() => rows);
    },
    { gather: 'iteration' },
  );
  metrics.gauge(
    'pakhus_uploads',
    'Uploads by state, of all instances: unfinished ones, and those that ended within a day.',
    async () =>
      (await readCounts(null)).map(({ status, uploads }) => ({
        labels: { state: status },
        value: uploads,
      })),
  );
  metrics.gauge(
    'pakhus_upload_reserved_bytes',
    'Bytes reserved for unfinished uploads, of all instances.',
    async () => [{ value: (await readCounts(null)).reduce((sum, { reserved }) => sum + reserved, 0) }],
  );
  metrics.total('pakhus_upload_resumptions_total', 'Requests that went on with an upload.', () => [
    { value: counts.resumptions },
  ]);
  metrics.total(
    'pakhus_upload_takeovers_total',
    'Requests that took an upload over from another one.',
    () => [{ value: counts.takeovers }],
  );
}
