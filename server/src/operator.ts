// What the command `pakhus` uses of the service, apart from running it. Larger parts are loaded when they are needed.
import type { diagnose as run } from './doctor.ts';

export { runAdminCommand } from './cli.ts';
export { variablesText } from './config.ts';
export { describeFinding } from './doctor.findings.ts';

export const diagnose = async (...args: Parameters<typeof run>): Promise<void> =>
  (await import('./doctor.ts')).diagnose(...args);

export interface RunningService {
  /** Up to and including /api/v1. */
  readonly baseUrl: string;
  readonly referenceUrl: string;
  /** Null if it is not built. */
  readonly consoleUrl: string | null;
  stop(): Promise<void>;
}

/** The service in this process, with these variables and no others. */
export async function startService(
  environment: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<RunningService> {
  const [{ readConfig }, { createLogger }, { startPakhus }] = await Promise.all([
    import('./config.ts'),
    import('./platform/log.ts'),
    import('./app.ts'),
  ]);
  const { settings } = readConfig(environment);
  const pakhus = await startPakhus({ settings, log: createLogger(settings.LOG_LEVEL), signal });
  return {
    baseUrl: pakhus.baseUrl ?? '',
    referenceUrl: pakhus.referenceUrl ?? '',
    consoleUrl: pakhus.consoleUrl,
    stop: () => pakhus.stop(),
  };
}
