// Generated secrets in files that only the service's user can read.
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { newId } from '../kernel/id.ts';

/** Reads the secret or creates it. If several processes start at once, one creates it and all read that one. */
export async function secretFromFile(path: string, make: () => string): Promise<string> {
  const existing = await readFile(path, 'utf8').catch(absent);
  if (existing !== null) return existing.trim();
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${newId()}`;
  try {
    await writeFile(draft, `${make()}\n`, { mode: 0o600, flush: true });
    // Unlike a rename, a link fails if another process was faster.
    await link(draft, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
  return (await readFile(path, 'utf8')).trim();
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code !== 'ENOENT') throw error;
  return null;
}
