// What operators see of variants. No label names a tenant.
import type { VariantDesk } from '../../contract/variant.ts';
import type { Database } from '../../platform/db/postgres.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { sumCachedBytes } from './variants.images.sql.ts';

export function registerVariantGauges(metrics: Metrics, db: Database, { counts }: VariantDesk): void {
  metrics.total('pakhus_variants_made_total', 'Variant images that this process has made.', () => [
    { value: counts.made },
  ]);
  metrics.total('pakhus_variants_failed_total', 'Variant images that this process could not make.', () => [
    { value: counts.failed },
  ]);
  metrics.total('pakhus_variants_evicted_total', 'Variant images that this process has evicted.', () => [
    { value: counts.evicted },
  ]);
  metrics.gauge(
    'pakhus_variant_cache_bytes',
    'Bytes of variant images in the store, of all instances and projects.',
    async () => [{ value: (await db.read<{ bytes: number }>(sumCachedBytes))[0]?.bytes ?? 0 }],
  );
}
