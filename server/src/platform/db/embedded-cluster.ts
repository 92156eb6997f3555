// Creates the database cluster on the first start, in a temporary folder that is renamed once it is complete and synced.
// So an interrupted start leaves nothing that the next one could mistake for data.

import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Binaries } from './embedded-binaries.ts';
import { chownTo, type Outcome, type RunAs, removeTree, runTool } from './embedded-process.ts';

export const databaseName = 'pakhus';
export const roleName = 'pakhus';

export interface Cluster {
  readonly dataDir: string;
  readonly socketDir: string;
  readonly passwordFile: string;
}

const unfinished = 'new-';

function clusterAt(dir: string): Cluster {
  return { dataDir: join(dir, 'data'), socketDir: join(dir, 'run'), passwordFile: join(dir, 'password') };
}

const placeIn = (folder: string): string => join(folder, 'cluster');

/** The cluster of the process that holds the folder's lock. */
export const runningCluster = (folder: string): Cluster => clusterAt(placeIn(folder));

/** The cluster in `folder`, created if there is none. The caller holds the folder's lock. */
export async function openCluster(runAs: RunAs, binaries: Binaries, folder: string): Promise<Cluster> {
  const place = placeIn(folder);
  await removeUnfinished(folder);
  if (!(await isFolder(place))) await makeCluster(runAs, binaries, folder, place);
  return clusterAt(place);
}

async function removeUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.startsWith(unfinished)) await removeTree(join(folder, name));
  }
}

async function makeCluster(runAs: RunAs, binaries: Binaries, folder: string, place: string): Promise<void> {
  const dir = join(folder, unfinished + randomBytes(6).toString('hex'));
  const { dataDir, passwordFile } = clusterAt(dir);
  // PostgreSQL may have to pass through here as nobody; `folder` itself is closed to everybody else.
  await mkdir(dir, { mode: 0o711 });
  await mkdir(dataDir, { mode: 0o700 });
  await chownTo(runAs, dataDir);
  const password = randomBytes(32).toString('base64url');
  await writeDurably(passwordFile, password);
  try {
    await fill(runAs, binaries, dataDir, password);
    await syncFolder(dir);
    await rename(dir, place);
    await syncFolder(folder);
    await syncFolder(dirname(folder));
  } catch (error) {
    await removeTree(dir);
    throw error;
  }
}

async function fill(runAs: RunAs, binaries: Binaries, dataDir: string, password: string): Promise<void> {
  const target = ['-D', runAs.dataArgument(dataDir)];
  const run = async (command: string[], input = '') => {
    const outcome = await runTool(runAs, command, { cwd: dataDir, input });
    if (hasFailed(outcome))
      throw new Error(`PostgreSQL could not make a database in ${dataDir}:\n${outcome.output.trim()}`);
  };
  // The builtin locale sorts by code point and maps case for all of Unicode, the same on every system.
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const superuser = ['--username=postgres', '--auth=trust'];
  await run([binaries.initdb, ...superuser, ...locale, '--no-sync', '--no-instructions', ...target]);
  // Pakhus is not the superuser, and the superuser cannot log in: the same statements are refused here as on a server
  // behind DATABASE_URL, and none can access the machine's files.
  await run(
    [binaries.postgres, '--single', '-F', '-c', 'log_checkpoints=off', ...target, 'postgres'],
    `CREATE ROLE ${roleName} LOGIN CREATEDB PASSWORD '${password}'\nCREATE DATABASE ${databaseName} OWNER ${roleName}\n`,
  );
  await writeFile(join(dataDir, 'pg_hba.conf'), 'local all all scram-sha-256\n');
  await run([binaries.initdb, '--sync-only', ...target]);
}

/** In single-user mode the exit code does not reveal a failed statement. */
function hasFailed({ code, output }: Outcome): boolean {
  return code !== 0 || /\b(?:ERROR|FATAL|PANIC):/.test(output);
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  await file.writeFile(text);
  await file.sync();
  await file.close();
}

async function syncFolder(path: string): Promise<void> {
  const dir = await open(path, 'r');
  await dir.sync();
  await dir.close();
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
