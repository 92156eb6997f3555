// A folder outside the data folder, for a socket whose path would be too long and for binaries that the user `nobody`
// has to reach. Never holds data. Its path is recorded, so that the next start removes the folder of a killed run.

import { chmod, lstat, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { removeTree } from './embedded-process.ts';

export interface Outside {
  /** Creates the folder on the first call. */
  path(): Promise<string>;
  remove(): Promise<void>;
}

// A deep temporary folder could be too long for a socket as well.
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

/** The folder of a running server, or an empty string. */
export const readNoted = (noteFile: string): Promise<string> => readFile(noteFile, 'utf8').catch(() => '');

async function make(noteFile: string): Promise<string> {
  const base = Buffer.byteLength(tmpdir()) > bytesMax ? '/tmp' : tmpdir();
  const path = await mkdtemp(join(base, 'pakhus-'));
  await writeFile(noteFile, path, { mode: 0o600 });
  // Other users may pass through, but list nothing.
  await chmod(path, 0o711);
  return path;
}

/** Only if it looks like ours and belongs to us, because the name may have been reused. */
async function removeNoted(noteFile: string): Promise<void> {
  const path = await readNoted(noteFile);
  const found = path === '' ? undefined : await lstat(path).catch(() => undefined);
  const isOurs =
    found?.isDirectory() && found.uid === process.getuid?.() && /^pakhus-\w{6}$/.test(basename(path));
  if (isOurs) await removeTree(path);
  await rm(noteFile, { force: true });
}
