// The process: reads the configuration, starts the service, says that it is ready, and stops on a signal. Any
// argument makes it a command line instead.
import { startPakhus } from './app.ts';
import { runCommand } from './cli.ts';
import { ConfigError, readConfig } from './config.ts';
import { createLogger } from './platform/log.ts';

const stopWithinMs = 30_000;

const say = (line: string) => process.stdout.write(`${line}\n`);
const complain = (line: string) => process.stderr.write(`${line}\n`);

async function main(): Promise<void> {
  const words = process.argv.slice(2);
  if (words.length > 0) {
    process.exitCode = await runCommand(words, process.env, { say, complain });
    return;
  }
  await serve();
}

async function serve(): Promise<void> {
  const { settings, warnings } = readConfig(process.env);
  const log = createLogger(settings.LOG_LEVEL);
  for (const warning of warnings) log.warn({}, warning);

  const pakhus = await startPakhus({ settings, log });
  if (pakhus.newAdminPassword !== null) {
    say(`The admin was created. It is shown this once: ${settings.ADMIN_EMAIL} / ${pakhus.newAdminPassword}`);
  }
  say(pakhus.baseUrl === null ? 'Pakhus is ready (worker)' : `Pakhus is ready at ${pakhus.baseUrl}`);

  const stop = (signal: string) => {
    log.info({ signal }, 'stopping');
    setTimeout(() => {
      log.error({}, 'gave up waiting for what is in flight');
      process.exit(1);
    }, stopWithinMs).unref();
    pakhus.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'stopping failed');
        process.exit(1);
      },
    );
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}

main().catch((error: unknown) => {
  complain(
    error instanceof ConfigError
      ? error.message
      : `Pakhus could not start: ${(error as Error).stack ?? error}`,
  );
  process.exit(1);
});
