// The commands. Separate from cli.ts, so that --version and usage errors load nothing of the service.
import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { joinConfiguredDatabase, openConfiguredDatabase } from './app.database.ts';
import { openBothStores } from './app.objects.ts';
import { type Undo, undoAll } from './app.undo.ts';
import type { Settings } from './contract/settings.ts';
import {
  chooseAccount,
  disableByOperator,
  OperatorError,
  resetByOperator,
} from './features/accounts/accounts.operator.ts';
import { type CopyReport, copyObjects } from './features/files/files.copy.ts';
import { type ExportResult, exportDatabase } from './platform/db/export.ts';
import { isMigrated } from './platform/db/migrate.ts';
import type { Connection, Database } from './platform/db/postgres.ts';
import { createHashPool } from './platform/hashing/hash-pool.ts';
import { createLogger } from './platform/log.ts';
import { createPasswords } from './platform/passwords.ts';
import { queueTables } from './platform/queue/queue-export.ts';

export interface Terminal {
  say(line: string): void;
  complain(line: string): void;
  /** Resolves when the text is written. */
  write(text: string): Promise<void>;
}

interface Call {
  readonly settings: Settings;
  /** The value of the command's option, or null. */
  readonly option: string | null;
  readonly terminal: Terminal;
}

export const commands = {
  'admin reset-password': resetPassword,
  'admin disable-2fa': disableTwoFactor,
  'admin export-database': writeExport,
  'admin copy-objects': copyToS3,
} as const;

export type CommandName = keyof typeof commands;

function resetPassword({ settings, option: email, terminal: { say } }: Call): Promise<void> {
  return onDatabase(settings, async (db) => {
    const account = await chooseAccount(db, email);
    const password = await resetByOperator(db, await createPasswords(), account);
    say(`The new password is shown this once: ${account.email} / ${password}`);
    say('All sessions of the account have ended.');
    if (account.two_factor_enabled) say('Two-factor login stays on: admin disable-2fa switches it off.');
  });
}

function disableTwoFactor({ settings, option: email, terminal: { say } }: Call): Promise<void> {
  return onDatabase(settings, async (db) => {
    const account = await chooseAccount(db, email);
    const wasOn = await disableByOperator(db, account);
    say(`Two-factor login ${wasOn ? 'is off now' : 'was off already'}: ${account.email}`);
  });
}

/** To standard output, or to a file that gets its name when it is complete. */
function writeExport({ settings, option: path, terminal }: Call): Promise<void> {
  return alongsideService(settings, async ({ connection }) => {
    const exportTo = (write: Terminal['write']) => exportDatabase(connection, [queueTables], write);
    const { tables, rows } = await (path === null ? exportTo(terminal.write) : exportToFile(path, exportTo));
    // On stderr, to keep it out of the SQL.
    terminal.complain(`Exported ${rows} rows of ${tables} tables.`);
  });
}

async function exportToFile(
  path: string,
  exportTo: (write: Terminal['write']) => Promise<ExportResult>,
): Promise<ExportResult> {
  if (existsSync(path)) throw new OperatorError(`${path} exists already: name another file`);
  const draft = `${path}.part`;
  // It contains hashes of passwords and keys.
  const file = await open(draft, 'w', 0o600);
  try {
    const result = await exportTo((text) => file.writeFile(text));
    await file.sync();
    await rename(draft, path);
    return result;
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

function copyToS3({ settings, terminal: { say, complain } }: Call): Promise<void> {
  return alongsideService(settings, async ({ db, undo }) => {
    const hashing = createHashPool({ log: createLogger('silent') });
    undo.push(() => hashing.close());
    const { disk, s3 } = await openBothStores(settings, hashing, undo);
    const report = await copyObjects({
      db,
      from: disk,
      to: s3,
      hashing,
      onFailure: (fileId, reason) => complain(`The file ${fileId} was not copied: ${reason}`),
      onProgress: (soFar) => say(`So far: ${describeCounts(soFar)}`),
    });
    say(`Done: ${describeCounts(report)}`);
    if (report.failed > 0)
      throw new OperatorError(
        `${report.failed} objects are missing in the bucket: see the messages above, and run the command again`,
      );
  });
}

const describeCounts = ({ copied, present, deleted, failed: lacking }: CopyReport): string =>
  `${copied} objects copied and read back, ${present} were there already, ${deleted} deleted meanwhile, ${lacking} failed`;

async function onDatabase(settings: Settings, work: (db: Database) => Promise<void>): Promise<void> {
  const undo: Undo[] = [];
  try {
    const db = await openConfiguredDatabase(settings, createLogger('silent'), undo);
    await refuseOtherRelease(db);
    await work(db);
  } finally {
    await undoAll(undo);
  }
}

interface OpenDatabase {
  readonly db: Database;
  readonly connection: Connection;
  readonly undo: Undo[];
}

/** For commands that only read the database: the service may be running. */
async function alongsideService(
  settings: Settings,
  work: (open: OpenDatabase) => Promise<void>,
): Promise<void> {
  const undo: Undo[] = [];
  try {
    const joined = await joinConfiguredDatabase(settings, createLogger('silent'), undo);
    await refuseOtherRelease(joined.db);
    await work({ ...joined, undo });
  } finally {
    await undoAll(undo);
  }
}

async function refuseOtherRelease(db: Database): Promise<void> {
  if (!(await isMigrated(db)))
    throw new OperatorError(
      'The database belongs to another release: check DATABASE_URL, or start this release of the service first',
    );
}
