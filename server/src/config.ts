// Reads the environment. Reports all mistakes at once, before anything starts.
import { type Settings, variables } from './contract/settings.ts';
import { editDistance } from './kernel/text/edit-distance.ts';
import { presignSecondsMax, uploadBytesMax } from './platform/objects/s3/s3-limits.ts';

export class ConfigError extends Error {
  constructor(readonly mistakes: readonly string[]) {
    super(
      `The configuration has ${mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`}:\n${mistakes.map((mistake) => `  - ${mistake}`).join('\n')}`,
    );
    this.name = 'ConfigError';
  }
}

export interface Config {
  readonly settings: Settings;
  /** Not wrong, but worth knowing for an operator. */
  readonly warnings: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

export function readConfig(environment: Environment): Config {
  const mistakes: string[] = [];
  const settings: Record<string, unknown> = {};
  for (const [name, variable] of Object.entries(variables)) {
    try {
      // Many tools pass an empty variable for "not set".
      settings[name] = variable.read(environment[name] === '' ? undefined : environment[name]);
    } catch (error) {
      mistakes.push(`${name} ${(error as Error).message}`);
    }
  }
  mistakes.push(...contradictions(settings as Partial<Settings>));
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  const warnings = [...findWarnings(settings as Settings), ...misspelledVariables(environment)];
  return { settings: settings as Settings, warnings };
}

const jwtSecretAdvised = 32;

/** Conflicts between variables. Those that are invalid by themselves are missing here. */
const contradictions = (settings: Partial<Settings>): string[] => [
  ...(settings.S3_BUCKET == null ? strayS3Variables(settings) : s3Mistakes(settings)),
  ...portMistakes(settings),
  ...mailMistakes(settings),
];

/** Links in mails must not follow the Host header: by forging it, an attacker could receive other people's reset tokens. */
function mailMistakes({ SMTP_URL, PUBLIC_URL, RESET_URL }: Partial<Settings>): string[] {
  const isOpen = SMTP_URL != null && PUBLIC_URL === null && RESET_URL === null;
  return isOpen
    ? ['PUBLIC_URL or RESET_URL is missing, but SMTP_URL is set: reset links need one of them']
    : [];
}

/** A worker has no other port, and port 0 never conflicts. */
function portMistakes({ PORT, METRICS_PORT, ROLE }: Partial<Settings>): string[] {
  const clash = METRICS_PORT != null && METRICS_PORT !== 0 && METRICS_PORT === PORT && ROLE !== 'worker';
  return clash ? ['METRICS_PORT must be another port than PORT'] : [];
}

function strayS3Variables(settings: Partial<Settings>): string[] {
  const stray = (
    [
      'S3_ENDPOINT',
      'S3_PUBLIC_ENDPOINT',
      'S3_ACCESS_KEY_ID',
      'S3_SECRET_ACCESS_KEY',
      'S3_PUBLIC_BUCKET',
    ] as const
  ).filter((name) => settings[name] != null);
  return stray.length > 0
    ? [`S3_BUCKET is missing, but ${stray.join(', ')} ${stray.length > 1 ? 'are' : 'is'} set`]
    : [];
}

function s3Mistakes(settings: Partial<Settings>): string[] {
  const found = (['S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'] as const)
    .filter((name) => settings[name] === null)
    .map((name) => `${name} is missing, but S3_BUCKET is set`);
  if ((settings.SIGNED_URL_EXPIRY_SECONDS ?? 0) > presignSecondsMax)
    found.push(`SIGNED_URL_EXPIRY_SECONDS must be at most ${presignSecondsMax} with S3`);
  if ((settings.MAX_UPLOAD_BYTES ?? 0) > uploadBytesMax)
    found.push(`MAX_UPLOAD_BYTES must be at most ${uploadBytesMax} with S3`);
  if (settings.S3_PUBLIC_BUCKET === settings.S3_BUCKET)
    found.push('S3_PUBLIC_BUCKET must be another bucket than S3_BUCKET');
  return found;
}

function findWarnings(settings: Settings): string[] {
  const found: string[] = [];
  const { JWT_SECRET, DATABASE_URL, R2_PUBLIC_URL, S3_BUCKET, S3_PUBLIC_BUCKET, WEBHOOK_ALLOW_PRIVATE } =
    settings;
  if (JWT_SECRET !== null && JWT_SECRET.length < jwtSecretAdvised)
    found.push(`JWT_SECRET is shorter than ${jwtSecretAdvised} characters: choose a longer one`);
  if (JWT_SECRET === null && DATABASE_URL !== null)
    found.push('JWT_SECRET is generated: instances that share a database must share one JWT_SECRET as well');
  if (R2_PUBLIC_URL !== null && S3_BUCKET !== null && S3_PUBLIC_BUCKET === null) {
    found.push(
      'R2_PUBLIC_URL exposes private files: there is only one bucket, so anyone who knows a storageKey can read it there; set S3_PUBLIC_BUCKET',
    );
  }
  if (WEBHOOK_ALLOW_PRIVATE)
    found.push('WEBHOOK_ALLOW_PRIVATE lets every tenant send requests into the network of this machine');
  return found;
}

/** Prefixes that hardly any other program uses. */
const ownPrefixes = ['PAKHUS_', 'S3_', 'R2_', 'SMTP_', 'IMAGE_', 'REAPER_', 'JWT_', 'WEBHOOK_'];
/** Variables of the command `pakhus`. */
const ofTheCommand = new Set(['PAKHUS_URL', 'PAKHUS_KEY', 'PAKHUS_PROFILE']);
/** Kubernetes sets these for a service named pakhus: PAKHUS_SERVICE_HOST and others. */
const serviceLink = /_SERVICE_(HOST|PORT)(_\w+)?$|_PORT(_\d+_(TCP|UDP)(_\w+)?)?$/;

/** A misspelled variable would silently leave its default in force. Values are not logged: they may be secrets. */
function misspelledVariables(environment: Environment): string[] {
  return Object.keys(environment)
    .filter((name) => !Object.hasOwn(variables, name) && !ofTheCommand.has(name) && environment[name])
    .sort()
    .flatMap((name) => {
      const meant = nearestVariable(name.toUpperCase());
      if (meant) return [`${name} is not a variable of Pakhus and is ignored: did you mean ${meant}?`];
      if (!ownPrefixes.some((prefix) => name.startsWith(prefix)) || serviceLink.test(name)) return [];
      return [`${name} is not a variable of Pakhus and is ignored: --help lists those that are`];
    });
}

/** Two typos could turn a short name into any other. */
const typosMax = (name: string): number => (name.length < 10 ? 1 : 2);

function nearestVariable(name: string): string | undefined {
  const near = Object.keys(variables)
    .filter((known) => Math.abs(known.length - name.length) <= 2)
    .map((known) => ({ known, typos: editDistance(name, known) }))
    .filter(({ known, typos }) => typos <= typosMax(known))
    .sort((a, b) => a.typos - b.typos);
  return near[0]?.known;
}

export const helpText = (): string =>
  [
    'pakhus                                      starts the service',
    'pakhus admin reset-password [--email E]     sets a new password for an account and prints it',
    'pakhus admin disable-2fa [--email E]        switches two-factor login off for an account',
    'pakhus admin export-database [--file F]     writes the database as SQL that psql loads into an empty one',
    'pakhus admin copy-objects                   copies all objects from DATA_DIR to the S3 store, and verifies them',
    'pakhus doctor                               checks every configured part, and says what to do',
    'pakhus --version                            prints the version',
    '',
    'Without --email, the account is the admin. With the embedded database, stop the service before the first two',
    'commands; the others may run while it is up.',
    '',
    variablesText(),
  ].join('\n');

/** Every variable with its default and its meaning. */
export function variablesText(): string {
  const rows = Object.entries(variables).map(([name, { shown, meaning }]) => [name, shown, meaning] as const);
  const nameWidth = Math.max(...rows.map(([name]) => name.length));
  const shownWidth = Math.max(...rows.map(([, shown]) => shown.length));
  const table = rows.map(
    ([name, shown, meaning]) => `  ${name.padEnd(nameWidth)}  ${shown.padEnd(shownWidth)}  ${meaning}`,
  );
  return [
    'Pakhus is configured by environment variables; all are optional.',
    '',
    `  ${'VARIABLE'.padEnd(nameWidth)}  ${'DEFAULT'.padEnd(shownWidth)}  MEANING`,
    ...table,
    '',
  ].join('\n');
}
