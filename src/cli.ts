// The operator's command line, for when nobody can log in. It works on the database itself: on the embedded one
// while the service is stopped, on a server's at any time.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openConfiguredDatabase, type Undo, undoAll } from './app.ts';
import { helpText, readConfig } from './config.ts';
import type { Settings } from './contract/settings.ts';
import {
  chooseAccount,
  disableByOperator,
  OperatorError,
  resetByOperator,
} from './features/accounts/accounts.operator.ts';
import { reasonOf } from './kernel/error.ts';
import { isMigrated } from './platform/db/migrate.ts';
import type { Database } from './platform/db/postgres.ts';
import { createLogger } from './platform/log.ts';
import { createPasswords } from './platform/passwords.ts';

export interface Terminal {
  say(line: string): void;
  complain(line: string): void;
}

const succeeded = 0;
const failed = 1;
const misused = 2;

type Command = (db: Database, email: string | null, terminal: Terminal) => Promise<void>;

const commands: ReadonlyMap<string, Command> = new Map<string, Command>([
  [
    'admin reset-password',
    async (db, email, { say }) => {
      const account = await chooseAccount(db, email);
      const password = await resetByOperator(db, await createPasswords(), account);
      say(`The new password is shown this once: ${account.email} / ${password}`);
      say('All sessions of the account have ended.');
      if (account.two_factor_enabled) say('Two-factor login stays on: admin disable-2fa switches it off.');
    },
  ],
  [
    'admin disable-2fa',
    async (db, email, { say }) => {
      const account = await chooseAccount(db, email);
      const wasOn = await disableByOperator(db, account);
      say(`Two-factor login ${wasOn ? 'is off now' : 'was off already'}: ${account.email}`);
    },
  ],
]);

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
  const parsed = parse(words);
  if (typeof parsed === 'string') {
    terminal.complain(`${parsed}. See pakhus --help`);
    return misused;
  }
  try {
    const { settings } = readConfig(environment);
    await onDatabase(settings, (db) => parsed.command(db, parsed.email, terminal));
    return succeeded;
  } catch (error) {
    terminal.complain(reasonOf(error));
    return failed;
  }
}

function parse(words: readonly string[]): { command: Command; email: string | null } | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...words],
      allowPositionals: true,
      options: { email: { type: 'string' } },
    });
    const command = commands.get(positionals.join(' '));
    return command
      ? { command, email: values.email ?? null }
      : `There is no command "${positionals.join(' ')}"`;
  } catch (error) {
    return (error as Error).message.split('. ', 1)[0] ?? 'The command cannot be read';
  }
}

async function onDatabase(settings: Settings, work: (db: Database) => Promise<void>): Promise<void> {
  refuseMissingDatabase(settings);
  const undo: Undo[] = [];
  try {
    const db = await openConfiguredDatabase(settings, createLogger('silent'), undo);
    if (!(await isMigrated(db)))
      throw new OperatorError(
        'The database is not one of this release: check DATABASE_URL, or start this release of the service first',
      );
    await work(db);
  } finally {
    await undoAll(undo);
  }
}

/** In the wrong folder, an empty database would be made and found to hold no admin. */
function refuseMissingDatabase(settings: Settings): void {
  const folder = resolve(join(settings.DATA_DIR, 'postgres'));
  if (settings.DATABASE_URL === null && !existsSync(folder)) {
    throw new OperatorError(
      `There is no database in ${folder}: set DATA_DIR, or DATABASE_URL, as for the service`,
    );
  }
}
