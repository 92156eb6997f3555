// Checks everything that is configured, beside a running service or without one, and leaves nothing behind.
import { ConfigError, readConfig } from './config.ts';
import { examineDatabase } from './doctor.database.ts';
import { examine, type Finding, type Hear, hideSecrets, type Report } from './doctor.findings.ts';
import { examineMachine } from './doctor.machine.ts';
import { examineMail, examineRedis } from './doctor.parts.ts';
import { examineService } from './doctor.service.ts';
import { examineStore } from './doctor.store.ts';
import { readVersion } from './version.ts';

export interface DiagnosisOptions {
  /** Sends a test mail to this address. */
  readonly mailTo: string | null;
  /** The page whose direct uploads the bucket should allow. */
  readonly origin: string | null;
  /** Ends the diagnosis after the part that is being checked, so that nothing is left behind. */
  readonly signal: AbortSignal;
}

const exampleOrigin = 'https://app.example.com';

/** Reports each finding as soon as it is known. */
export async function diagnose(
  environment: Readonly<Record<string, string | undefined>>,
  { mailTo, origin, signal }: DiagnosisOptions,
  hearAll: (finding: Finding) => void,
): Promise<void> {
  const settings = readSettings(environment, hearAll);
  if (settings === null) return;
  const hear = hideSecrets(settings, hearAll);
  let clients: readonly string[] = [];
  const examineNext = (part: string, work: (report: Report) => Promise<void>) => {
    signal.throwIfAborted();
    return examine(part, hear, work);
  };
  await examineNext('database', async (report) => {
    clients = await examineDatabase(settings, report);
  });
  const page = origin ?? settings.API_CORS_ALLOW_ORIGINS.find((one) => one !== '*') ?? exampleOrigin;
  await examineNext('store', (report) => examineStore(settings, report, page));
  await examineNext('redis', (report) => examineRedis(settings, report));
  await examineNext('mail', (report) => examineMail(settings, report, mailTo));
  await examineNext('machine', (report) => examineMachine(settings, report));
  const version = await readVersion();
  await examineNext('service', (report) => examineService(settings, report, version, clients));
}

/** Null if the mistakes leave nothing to check. */
function readSettings(environment: Readonly<Record<string, string | undefined>>, hear: Hear) {
  const part = 'configuration';
  try {
    const { settings, warnings } = readConfig(environment);
    for (const message of warnings) hear({ part, status: 'warning', message });
    if (warnings.length === 0) hear({ part, status: 'ok', message: 'the variables are valid' });
    return settings;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const message of error.mistakes)
      hear({ part, status: 'failed', message, advice: 'pakhus serve --help lists all variables' });
    return null;
  }
}
