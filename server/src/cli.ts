// The command line of the image: recovers accounts, moves to servers, and checks the configured parts. Commands use the
// database directly. Those that change the embedded one need the service stopped.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { CommandName, Terminal } from './cli.commands.ts';
import { helpText, readConfig } from './config.ts';
import type { Settings } from './contract/settings.ts';
import { reasonOf } from './kernel/error.ts';
import { readVersion } from './version.ts';

const succeeded = 0;
const failed = 1;
const misused = 2;

/** The option of each command, if it has one. */
const optionByCommand = {
  'admin reset-password': 'email',
  'admin disable-2fa': 'email',
  'admin export-database': 'file',
  'admin copy-objects': null,
} as const satisfies Record<CommandName, string | null>;

interface Parsed {
  readonly name: CommandName;
  readonly option: string | null;
}

/** Resolves to the exit code. */
export async function runCommand(
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  terminal: Terminal,
): Promise<number> {
  if (words.includes('--help') || words.includes('-h')) {
    terminal.say(helpText());
    return succeeded;
  }
  if (words.length === 1 && (words[0] === '--version' || words[0] === '-v')) {
    terminal.say(await readVersion());
    return succeeded;
  }
  if (words.length === 1 && words[0] === 'doctor') return runDoctor(environment, terminal);
  const parsed = parse(words);
  if (typeof parsed === 'string') {
    terminal.complain(`${parsed}. See pakhus --help`);
    return misused;
  }
  try {
    await runAdminCommand(parsed.name, parsed.option, environment, terminal);
    return succeeded;
  } catch (error) {
    terminal.complain(reasonOf(error));
    return failed;
  }
}

/** For the image, which has no other command. */
async function runDoctor(
  environment: Readonly<Record<string, string | undefined>>,
  { say }: Terminal,
): Promise<number> {
  const [{ diagnose }, { describeFinding }] = await Promise.all([
    import('./doctor.ts'),
    import('./doctor.findings.ts'),
  ]);
  let hasFailed = false;
  const { signal } = new AbortController();
  await diagnose(environment, { mailTo: null, origin: null, signal }, (finding) => {
    hasFailed ||= finding.status === 'failed';
    say(describeFinding(finding));
  });
  return hasFailed ? failed : succeeded;
}

export async function runAdminCommand(
  name: CommandName,
  option: string | null,
  environment: Readonly<Record<string, string | undefined>>,
  terminal: Terminal,
): Promise<void> {
  const { settings } = readConfig(environment);
  refuseMissingDatabase(settings);
  const { commands } = await import('./cli.commands.ts');
  await commands[name]({ settings, option, terminal });
}

function parse(words: readonly string[]): Parsed | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...words],
      allowPositionals: true,
      options: { email: { type: 'string' }, file: { type: 'string' } },
    });
    const name = positionals.join(' ');
    if (!isCommand(name)) return `There is no command "${name}"`;
    const known = optionByCommand[name];
    const [stray] = Object.keys(values).filter((option) => option !== known);
    if (stray) return `"${name}" has no option --${stray}`;
    return { name, option: known === null ? null : (values[known] ?? null) };
  } catch (error) {
    return (error as Error).message.split('. ', 1)[0] ?? 'The command cannot be read';
  }
}

const isCommand = (name: string): name is CommandName => Object.hasOwn(optionByCommand, name);

/** Otherwise a wrong DATA_DIR would create an empty database there, without an admin. */
function refuseMissingDatabase(settings: Settings): void {
  const folder = resolve(join(settings.DATA_DIR, 'postgres'));
  if (settings.DATABASE_URL === null && !existsSync(folder)) {
    throw new Error(`There is no database in ${folder}: set DATA_DIR, or DATABASE_URL, as for the service`);
  }
}
