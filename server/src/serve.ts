// The service as a process: starts it, and stops it on a signal.
import type { Pakhus } from './app.ts';
import { ConfigError, readConfig } from './config.ts';
import { reasonOf } from './kernel/error.ts';
import { disablePretenuring, letHeapGrow, releaseStartupMemory } from './platform/heap.ts';
import { createLogger, type Logger } from './platform/log.ts';

const stopWithinMs = 30_000;

const say = (line: string) => process.stdout.write(`${line}\n`);

/** Resolves when the service is ready; the process then ends by a signal. A failed start ends it with 1. */
export async function runService(): Promise<void> {
  // As with the log: output that cannot be written is dropped.
  process.stdout.on('error', () => undefined);
  try {
    await serve();
  } catch (error) {
    process.stderr.write(`${describeFailure(error)}\n`);
    process.exit(1);
  }
}

async function serve(): Promise<void> {
  disablePretenuring();
  letHeapGrow();
  const { settings, warnings } = readConfig(process.env);
  const log = createLogger(settings.LOG_LEVEL);
  for (const warning of warnings) log.warn({}, warning);

  const { startPakhus } = await import('./app.ts');
  const stopping = new AbortController();
  const starting = startPakhus({
    settings,
    log,
    signal: stopping.signal,
    onAdminCreated: (password) =>
      say(`The admin was created. It is shown this once: ${settings.ADMIN_EMAIL} / ${password}`),
  });
  // Registered before the service is ready, so that a signal during the start also stops it cleanly. Only the first one
  // counts: npm forwards a signal that the process group has received already.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(signal, () => {
      if (stopping.signal.aborted) return;
      stopping.abort();
      stopOnSignal(signal, starting, log);
    });
  const pakhus = await starting.catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });
  if (!pakhus) return;
  releaseStartupMemory();
  say(readyLine(pakhus));
  if (pakhus.consoleUrl !== null) say(`The console is at ${pakhus.consoleUrl}`);
  if (pakhus.referenceUrl !== null) say(`The API reference is at ${pakhus.referenceUrl}`);
}

function readyLine({ baseUrl, address }: Pakhus): string {
  if (baseUrl === null) return 'Pakhus is ready (worker)';
  const behind = baseUrl.startsWith(`${address}/`) ? '' : `, listening on ${address}`;
  return `Pakhus is ready at ${baseUrl}${behind}`;
}

function stopOnSignal(signal: string, starting: Promise<Pakhus>, log: Logger): void {
  log.info({ signal }, 'stopping');
  setTimeout(() => {
    log.error({}, 'stop timed out, exiting with requests in flight');
    process.exit(1);
  }, stopWithinMs).unref();
  starting
    .then(
      (pakhus) => pakhus.stop(),
      // The start failed, and has cleaned up.
      () => undefined,
    )
    .then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'stopping failed');
        process.exit(1);
      },
    );
}

/** Stack traces only for those who debug. */
const isDebugged = (): boolean => /^(debug|trace)$/.test(process.env.LOG_LEVEL ?? '');

function describeFailure(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  return `Pakhus could not start: ${isDebugged() ? (error as Error).stack : reasonOf(error)}`;
}
