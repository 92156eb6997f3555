// The process: reads the configuration, starts the service, says that it is ready, and stops on a signal. Any
// argument makes it a command line instead. The service itself is loaded only once it is known to be wanted.
import type { Pakhus } from './app.ts';
import { runCommand } from './cli.ts';
import { ConfigError, readConfig } from './config.ts';
import { reasonOf } from './kernel/error.ts';
import { disablePretenuring } from './platform/heap.ts';
import { createLogger, type Logger } from './platform/log.ts';

const stopWithinMs = 30_000;

const say = (line: string) => process.stdout.write(`${line}\n`);
// As with the log: what cannot be said is lost, and nothing else.
process.stdout.on('error', () => undefined);
/** Of a command's output, unlike of the log, nothing may be missing. */
const write = (text: string) =>
  new Promise<void>((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
const complain = (line: string) => process.stderr.write(`${line}\n`);

async function main(): Promise<void> {
  const words = process.argv.slice(2);
  if (words.length > 0) {
    process.exitCode = await runCommand(words, process.env, { say, complain, write });
    return;
  }
  await serve();
}

async function serve(): Promise<void> {
  disablePretenuring();
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
  // Before it is ready: whoever changes their mind meanwhile gets an orderly stop, too. A signal may come twice, as
  // one to the whole group does that npm hands on as well: the second must not end what the first has begun.
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
  say(readyLine(pakhus));
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
    log.error({}, 'gave up waiting for what is in flight');
    process.exit(1);
  }, stopWithinMs).unref();
  starting
    .then(
      (pakhus) => pakhus.stop(),
      // It never came up, and has cleaned up after itself.
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

/** Where something came from is for whoever looks for it. */
const isDebugged = (): boolean => /^(debug|trace)$/.test(process.env.LOG_LEVEL ?? '');

main().catch((error: unknown) => {
  complain(
    error instanceof ConfigError
      ? error.message
      : `Pakhus could not start: ${isDebugged() ? (error as Error).stack : reasonOf(error)}`,
  );
  process.exit(1);
});
