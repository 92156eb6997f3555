// A folder outside the data folder, for what cannot lie inside: a socket whose path would be too long,
// programs that nobody must be able to reach. Never holds data. Noted down, so that a killed run's is removed.

import { chmod, lstat, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { removeTree } from './embedded-process.ts';

export interface Outside {
  /** Makes the folder the first time it is asked for. */
  path(): Promise<string>;
  remove(): Promise<void>;
}

// A deep temporary folder would be no better for a socket than the data folder was.
const bytesMax = 60;

export async function openOutside(noteFile: string): Promise<Outside> {
  let made: Promise<string> | undefined;
  const remove = async () => {
    made = undefined;
    await removeNoted(noteFile);
  };
  await remove();
  return {
    path: () => {
      made ??= make(noteFile);
      return made;
    },
    remove,
  };
}

/** The folder that a running server has, or an empty text. */
export const readNoted = (noteFile: string): Promise<string> => readFile(noteFile, 'utf8').catch(() => '');

async function make(noteFile: string): Promise<string> {
  const base = Buffer.byteLength(tmpdir()) > bytesMax ? '/tmp' : tmpdir();
  const path = await mkdtemp(join(base, 'pakhus-'));
  await writeFile(noteFile, path, { mode: 0o600 });
  // Others may pass to what is theirs inside, and list nothing.
  await chmod(path, 0o711);
  return path;
}

/** Only a folder that looks like ours and belongs to us: the name may have been given anew since. */
async function removeNoted(noteFile: string): Promise<void> {
  const path = await readNoted(noteFile);
  const found = path === '' ? undefined : await lstat(path).catch(() => undefined);
  const isOurs =
    found?.isDirectory() && found.uid === process.getuid?.() && /^pakhus-\w{6}$/.test(basename(path));
  if (isOurs) await removeTree(path);
  await rm(noteFile, { force: true });
}
