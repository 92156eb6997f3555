// Our metrics compared with prom-client (npm install --no-save prom-client). See docs/adr/0011-metrics.md.
import prometheus from 'prom-client';
import { createMetrics, latencyBounds } from '../../dist/platform/metrics.js';
import { compare } from './support.mjs';

const ours = createMetrics();
const ourHistogram = ours.histogram('requests', 'Requests.', latencyBounds);
const theirHistogram = new prometheus.Histogram({
  name: 'requests',
  help: 'Requests.',
  labelNames: ['route', 'status'],
  buckets: latencyBounds,
});
for (let n = 0; n < 300; n += 1) {
  ourHistogram.labelled({ route: `route.${n}`, status: '200' }).observe(0.1);
  theirHistogram.labels({ route: `route.${n}`, status: '200' }).observe(0.1);
}

const observing = (series) => async (count) => {
  for (let n = 0; n < count; n += 1) series.observe(0.003);
};
const labels = { route: 'files.get', status: '200' };
await compare(
  'observation',
  { ours: observing(ourHistogram.labelled(labels)), 'prom-client': observing(theirHistogram.labels(labels)) },
  { count: 200_000 },
);
const scraping = (text) => async (count) => {
  for (let n = 0; n < count; n += 1) await text();
};
await compare(
  'scrape of 301 series',
  { ours: scraping(() => ours.text()), 'prom-client': scraping(() => prometheus.register.metrics()) },
  { count: 10 },
);
