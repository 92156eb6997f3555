// Metrics of the process: event loop, memory, CPU time.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Metrics } from './metrics.ts';

/** Ten times a second: each sample wakes the process, which is most of what an idle one costs. */
const resolutionMs = 100;

/** Returns the function that stops it. */
export function watchProcess(metrics: Metrics): () => void {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  // The histogram measures whole intervals; the part beyond the resolution is the delay.
  const seconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - resolutionMs / 1000);
  metrics.gauge('pakhus_event_loop_delay_seconds', 'Delay of the event loop since the last read.', () => {
    const samples = [
      { labels: { quantile: '0.5' }, value: seconds(delay.percentile(50)) },
      { labels: { quantile: '0.99' }, value: seconds(delay.percentile(99)) },
      { labels: { quantile: '1' }, value: seconds(delay.max) },
    ];
    delay.reset();
    return samples;
  });
  metrics.gauge('process_resident_memory_bytes', 'Memory of the process.', () => [
    { value: process.memoryUsage.rss() },
  ]);
  metrics.gauge('nodejs_heap_used_bytes', 'JavaScript heap in use.', () => [
    { value: process.memoryUsage().heapUsed },
  ]);
  metrics.gauge('nodejs_external_memory_bytes', 'Memory of buffers outside the heap.', () => [
    { value: process.memoryUsage().external },
  ]);
  metrics.gauge('process_start_time_seconds', 'When the process started, in unix seconds.', () => [
    { value: Math.round(Date.now() / 1000 - process.uptime()) },
  ]);
  metrics.total('process_cpu_seconds_total', 'CPU time of the process.', () => {
    const { user, system } = process.cpuUsage();
    return [{ value: (user + system) / 1e6 }];
  });
  return () => void delay.disable();
}
