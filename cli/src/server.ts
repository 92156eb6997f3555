// The only door to the service: loaded when a command needs it, never before. The types are declared here, because the
// service is a package without declarations; test/frame.test.ts compares them with the real ones.
import type { Environment } from './frame/command.ts';
import { CommandError } from './frame/failure.ts';

export type AdminCommand =
  | 'admin reset-password'
  | 'admin disable-2fa'
  | 'admin export-database'
  | 'admin copy-objects';

export interface ServeModule {
  runService(): Promise<void>;
}

export interface Finding {
  readonly part: string;
  readonly status: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly message: string;
  readonly advice?: string;
}

export interface RunningService {
  /** Up to and including /api/v1. */
  readonly baseUrl: string;
  readonly referenceUrl: string;
  /** Null if it is not built. */
  readonly consoleUrl: string | null;
  stop(): Promise<void>;
}

export interface OperatorModule {
  startService(environment: Environment, signal: AbortSignal): Promise<RunningService>;
  diagnose(
    environment: Environment,
    options: { readonly mailTo: string | null; readonly origin: string | null; readonly signal: AbortSignal },
    hear: (finding: Finding) => void,
  ): Promise<void>;
  describeFinding(finding: Finding): string;
  variablesText(): string;
  runAdminCommand(
    name: AdminCommand,
    option: string | null,
    environment: Environment,
    terminal: {
      say(line: string): void;
      complain(line: string): void;
      write(text: string): Promise<void>;
    },
  ): Promise<void>;
}

export const loadServe = (prepare: () => Promise<void>): Promise<ServeModule> =>
  load('@pakhus/server/serve', prepare);

export const loadOperator = (prepare: () => Promise<void>): Promise<OperatorModule> =>
  load('@pakhus/server/operator', prepare);

async function load<Module>(specifier: string, prepare: () => Promise<void>): Promise<Module> {
  await prepare();
  try {
    return (await import(specifier)) as Module;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ERR_MODULE_NOT_FOUND' && message.includes("'@pakhus/server'"))
      throw new CommandError('failed', 'The service is not installed here: npm install @pakhus/server');
    throw error;
  }
}
