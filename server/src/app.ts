// Starts the service and stops it again. The composition root: adapters are made in app*.ts and nowhere else.
import { retryingOutages } from './app.database.ts';
import { buildDeps, type DepsOptions, runsJobs, toBackground } from './app.deps.ts';
import { naming, type Undo, undoAll } from './app.undo.ts';
import type { Deps } from './contract/deps.ts';
import type { Running } from './contract/job.ts';
import { registerEventGauges } from './features/events/events.metrics.ts';
import { registerGauges } from './features/stats/stats.metrics.ts';
import { registerVariantGauges } from './features/variants/variants.metrics.ts';
import { consolePath, readConsole } from './http/console.ts';
import { startMetricsServer } from './http/metrics-server.ts';
import { referencePath } from './http/pages.ts';
import { apiPrefix } from './http/route-table.ts';
import { createHttpServer } from './http/server.ts';
import { continuousWork, periodicTasks, queuedJobs } from './jobs/job-table.ts';
import { startSchedule } from './jobs/schedule.ts';
import { startContinuous, startWorkers } from './jobs/worker.ts';
import { watchProcess } from './platform/process-metrics.ts';

export interface Pakhus {
  /** Ends in /api/v1; null for a process that only runs jobs. */
  readonly baseUrl: string | null;
  /** The console, as seen from outside; null if it is not built. */
  readonly consoleUrl: string | null;
  /** The API reference, as seen from outside. */
  readonly referenceUrl: string | null;
  /** The listen address, whatever PUBLIC_URL says. */
  readonly address: string | null;
  /** Where Prometheus scrapes; null when METRICS_PORT is not set. */
  readonly metricsUrl: string | null;
  readonly deps: Deps;
  /** Finishes requests in flight, writes what is buffered, and closes everything. */
  stop(): Promise<void>;
}

export type StartOptions = DepsOptions;

export async function startPakhus(options: StartOptions): Promise<Pakhus> {
  const start = () => startOnce(options);
  const { settings, log, signal } = options;
  return settings.DATABASE_URL === null ? start() : retryingOutages(start, log, signal);
}

async function startOnce(options: StartOptions): Promise<Pakhus> {
  const undo: Undo[] = [];
  let stopping: Promise<void> | null = null;
  const stop = (): Promise<void> => {
    stopping ??= undoAll(undo);
    return stopping;
  };
  try {
    return { ...(await startAll(options, undo)), stop };
  } catch (error) {
    await stop().catch((failure: unknown) =>
      options.log.error({ err: failure }, 'could not clean up after a failed start'),
    );
    throw error;
  }
}

/** Dependencies first, then jobs, then the servers; stopping goes the other way. */
async function startAll(options: StartOptions, undo: Undo[]): Promise<Omit<Pakhus, 'stop'>> {
  const { settings } = options;
  const deps = await buildDeps(options, undo);
  const jobs = runsJobs(settings) ? await startJobs(toBackground(deps)) : null;
  const isWorker = settings.ROLE === 'worker';
  const pages = isWorker ? null : readConsole(options.log, options.consoleFolder);
  const server = isWorker ? null : createHttpServer(deps, pages);
  // Both at once: either may wait for a silent client or task, and the steps after them need time as well.
  undo.push(async () => {
    // Requests that wait for events or variants would keep the server from closing.
    await Promise.all([deps.eventHub.close(), deps.variantDesk.close(), server?.close(), jobs?.stop()]);
  });
  const address = server && (await naming('HOST and PORT', server.listen(settings.HOST, settings.PORT)));
  const metricsUrl =
    settings.METRICS_PORT === null ? null : await exposeMetrics(deps, settings.METRICS_PORT, undo);
  const publicUrl = address && (settings.PUBLIC_URL ?? address);
  const baseUrl = publicUrl && `${publicUrl}${apiPrefix}`;
  const referenceUrl = publicUrl && `${publicUrl}${referencePath}`;
  const consoleUrl = publicUrl && pages && `${publicUrl}${consolePath}`;
  return { deps, address, baseUrl, consoleUrl, referenceUrl, metricsUrl };
}

async function startJobs(deps: Deps): Promise<Running> {
  await startWorkers(deps, queuedJobs);
  const running = [startSchedule(deps, periodicTasks), startContinuous(deps, continuousWork)];
  return { stop: async () => void (await Promise.all(running.map((one) => one.stop()))) };
}

async function exposeMetrics(
  { metrics, db, settings, log, liveUploads, eventReaders, variantDesk }: Deps,
  port: number,
  undo: Undo[],
): Promise<string> {
  const unwatch = watchProcess(metrics);
  undo.push(async () => unwatch());
  registerGauges(metrics, db, liveUploads);
  registerEventGauges(metrics, db, eventReaders);
  registerVariantGauges(metrics, db, variantDesk);
  const server = await naming('HOST and METRICS_PORT', startMetricsServer(metrics, settings.HOST, port));
  undo.push(() => server.close());
  log.info({ address: server.url }, 'serving metrics');
  return server.url;
}
