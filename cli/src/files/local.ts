// The local side: files and folders on this machine.
import { lstatSync } from 'node:fs';
import { lstat, mkdtemp, opendir, rmdir, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { CommandError } from '../frame/failure.ts';
import { findMatches, isPattern, splitPattern } from './glob.ts';
import { partSuffix } from './names.ts';
import type { Tree, TreeEntry } from './walk.ts';

export interface LocalFile {
  readonly name: string;
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
}

export interface LocalFolder {
  readonly name: string;
  readonly path: string;
}

export interface LocalOptions {
  /** Symbolic links are skipped otherwise. */
  readonly follow: boolean;
  /** Called for what is neither a file nor a folder, or may not be read. */
  readonly onSkip: (path: string, why: string) => void;
}

export type LocalTree = Tree<LocalFolder, LocalFile>;
type LocalEntry = TreeEntry<LocalFolder, LocalFile>;

export const createLocalTree = (options: LocalOptions): LocalTree => ({
  async *list(folder) {
    for await (const { name } of await opendir(folder.path)) {
      if (name.endsWith(partSuffix)) continue;
      const entry = await readEntry(join(folder.path, name), name, options);
      if (entry !== null) yield entry;
    }
  },
});

/** The given files and folders, as if they stood in one folder; below them, as they are on disk. */
export function createGivenTree(given: readonly LocalEntry[], options: LocalOptions): LocalTree {
  const disk = createLocalTree(options);
  return {
    async *list(folder) {
      if (folder !== givenRoot) {
        yield* disk.list(folder);
        return;
      }
      for (const entry of given) {
        if ('folder' in entry && entry.folder.name === '') yield* disk.list(entry.folder);
        else yield entry;
      }
    },
  };
}

export const givenRoot: LocalFolder = { name: '', path: '' };

/** Null for what is neither a file nor a folder, and for what went away meanwhile. */
async function readEntry(
  path: string,
  name: string,
  { follow, onSkip }: LocalOptions,
): Promise<LocalEntry | null> {
  try {
    // Handing a call over to a thread costs ten times as much as the call.
    const own = lstatSync(path);
    const facts = own.isSymbolicLink() && follow ? await stat(path) : own;
    if (facts.isDirectory()) return { folder: { name, path } };
    if (facts.isFile()) return { file: { name, path, size: facts.size, mtimeMs: facts.mtimeMs } };
    onSkip(
      path,
      facts.isSymbolicLink() ? 'is a symbolic link: --follow takes what it points to' : 'is no file',
    );
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') onSkip(path, (error as Error).message);
  }
  return null;
}

/**
 * Files and folders of an argument: a path, or a pattern if there is no such path. As with rsync, a folder with a slash
 * at its end means what is in it, and has an empty name here.
 */
export async function findSources(argument: string, cwd: string): Promise<LocalEntry[]> {
  const path = resolve(cwd, argument);
  const found = await readSource(path, argument);
  if (found !== null) return [found];
  const matches = isPattern(argument) ? await expand(argument, cwd) : [];
  if (matches.length === 0) throw new CommandError('notFound', `There is no file or folder ${argument}`);
  return matches;
}

/** A path that a person types may be a symbolic link. */
async function readSource(path: string, argument: string): Promise<LocalEntry | null> {
  try {
    const facts = await stat(path);
    if (facts.isDirectory()) {
      const isContent = /(^|[\\/])\.{0,2}[\\/]?$/.test(argument);
      return { folder: { name: isContent ? '' : basename(path), path } };
    }
    if (!facts.isFile()) throw new CommandError('misused', `${argument} is no file: pipe it to - instead`);
    return { file: { name: basename(path), path, size: facts.size, mtimeMs: facts.mtimeMs } };
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}

async function expand(pattern: string, cwd: string): Promise<LocalEntry[]> {
  const { base, segments } = splitPattern(pattern);
  const tree = createLocalTree({ follow: false, onSkip: () => undefined });
  const root = { name: '', path: resolve(cwd, base || (pattern.startsWith('/') ? '/' : '.')) };
  const found: LocalEntry[] = [];
  try {
    for await (const match of findMatches(tree, root, segments.filter(Boolean))) found.push(match);
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
  return found;
}

/** Whether this disk takes `a` and `A` for the same name. */
export async function ignoresCase(folder: string): Promise<boolean> {
  const probe = await mkdtemp(join(folder, '.pakhus-case-'));
  try {
    const name = basename(probe);
    const turned = name.replace('.pakhus-case-', '.PAKHUS-CASE-');
    return await lstat(join(folder, turned)).then(
      () => true,
      () => false,
    );
  } finally {
    await rmdir(probe);
  }
}
