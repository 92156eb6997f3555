// Downloads files and folders.
import { lstat, mkdir, utimes } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { CommandError } from '../frame/failure.ts';
import { type Comparison, compareFiles } from './compare.ts';
import { createLocalTree, ignoresCase, type LocalFile } from './local.ts';
import { foldName, whyNotLocal } from './names.ts';
import { type Holder, joinPath } from './place.ts';
import { receiveFile } from './receive.ts';
import type { RemoteFile, RemoteFolder, RemoteTree } from './remote.ts';
import type { TransferState } from './state.ts';
import type { TransferRun } from './transfers.ts';
import { type Pair, readAhead, walkPairs } from './walk.ts';

/** What happens to a local file that differs: it stays, unless `force`, or `newer` and the remote one is newer. */
export type Overwriting = 'keep' | 'newer' | 'force';

export interface GetOptions {
  readonly holder: Holder;
  /** For messages: USER: */
  readonly prefix: string;
  readonly state: TransferState;
  readonly overwriting: Overwriting;
  readonly follow: boolean;
  readonly onSkip: (path: string, why: string) => void;
}

const chunkBytes = 256 << 10;

/** Into `root`, under its own name or another. */
export async function getFile(
  run: TransferRun,
  file: RemoteFile,
  root: string,
  name: string,
  options: GetOptions,
): Promise<void> {
  const label = `${options.prefix}${joinPath(file.folder, file.name)}`;
  try {
    refuseName(name);
    const local = await findLocal(join(root, name), name);
    await receiveUnlessSame(run, local, file, { root, at: '', label, name }, options);
  } catch (error) {
    run.fail(label, error);
  }
}

/** Everything in a folder, into `root`. */
export async function getFolder(
  run: TransferRun,
  tree: RemoteTree,
  folder: RemoteFolder,
  root: string,
  options: GetOptions,
): Promise<void> {
  await mkdir(root, { recursive: true });
  const { onSkip, follow, prefix } = options;
  const left = { tree: createLocalTree({ follow, onSkip }), folder: { name: '', path: root } };
  const walk = walkPairs(left, { tree, folder }, await localRules(run, root, `${prefix}${folder.path}`));
  for await (const pair of readAhead(walk)) {
    if (pair.right.length === 0) continue;
    const label = `${prefix}${joinPath(folder.path, pair.at, pair.name)}`;
    const remote = refuseClashes(run, pair, label);
    if (remote === null) continue;
    try {
      refuseName(remote.name);
      const local = pair.left[0] ?? null;
      const destination = { root, at: pair.at, label, name: local?.name ?? remote.name };
      await receiveUnlessSame(run, local, remote, destination, options);
    } catch (error) {
      run.fail(label, error);
    }
  }
}

/** How to walk into a local folder: which names are the same there, and which folders cannot be. Null probes no disk. */
export async function localRules(run: TransferRun, root: string | null, label: string) {
  return {
    ...(root !== null && (await ignoresCase(root)) && { keyOf: foldName }),
    enter: ({ at, name, hasRight }: { at: string; name: string; hasRight: boolean }) => {
      const why = hasRight ? whyNotLocal(name) : null;
      if (why !== null) run.fail(joinPath(label, at, name), nameError(name, why));
      return hasRight && why === null;
    },
  };
}

/** On a disk that ignores case, only one of `a` and `A` can be there. */
export function refuseClashes(
  run: TransferRun,
  pair: Pair<LocalFile, RemoteFile>,
  label: string,
): RemoteFile | null {
  const [first, ...others] = pair.right;
  for (const other of others) {
    if (other.name === first?.name) continue;
    const message = `${other.name} would be the same file as ${first?.name} on this disk: rename one of them`;
    run.fail(label, new CommandError('failed', message));
  }
  return first ?? null;
}

export function refuseName(name: string): void {
  const why = whyNotLocal(name);
  if (why !== null) throw nameError(name, why);
}

const nameError = (name: string, why: string) =>
  new CommandError(
    'failed',
    `The name ${JSON.stringify(name)} ${why}: get the file alone, by USER:#ID, under a name of your own`,
  );

async function findLocal(path: string, name: string): Promise<LocalFile | null> {
  const facts = await lstat(path).catch(() => null);
  return facts?.isFile() ? { name, path, size: facts.size, mtimeMs: facts.mtimeMs } : null;
}

interface Destination {
  readonly root: string;
  readonly at: string;
  readonly label: string;
  readonly name: string;
}

async function receiveUnlessSame(
  run: TransferRun,
  local: LocalFile | null,
  remote: RemoteFile,
  destination: Destination,
  options: GetOptions,
): Promise<void> {
  const found: Comparison =
    local === null ? 'different' : await compareFiles(local, remote, false, run.signal);
  if (local !== null && found !== 'different') {
    if (found === 'touched') await setTime(local.path, remote);
    run.skip();
    return;
  }
  if (local !== null && options.overwriting !== 'force') {
    if (options.overwriting === 'keep')
      throw new CommandError(
        'failed',
        `${local.path} exists and differs: --force overwrites it, --newer if it is older`,
      );
    if (local.mtimeMs >= (remote.mtimeMs ?? Date.parse(remote.createdAt))) {
      run.skip();
      return;
    }
  }
  await startDownload(run, remote, destination, options);
}

export async function setTime(path: string, { mtimeMs }: RemoteFile): Promise<void> {
  if (mtimeMs !== null) await utimes(path, new Date(), new Date(mtimeMs));
}

export const startDownload = (
  run: TransferRun,
  remote: RemoteFile,
  { root, at, label, name }: Destination,
  { holder, state, follow }: Pick<GetOptions, 'holder' | 'state' | 'follow'>,
): Promise<void> =>
  run.start({
    label,
    action: 'download',
    size: remote.size,
    memoryBytes: Math.min(remote.size, chunkBytes),
    work: async (onBytes) => {
      const receiving = { store: state.downloads, signal: run.signal, onBytes, follow };
      const path = await receiveFile(holder, remote, resolve(root), joinPath(at, name), receiving);
      const { id, size, sha256 } = remote;
      return { id, size, sha256, localPath: path };
    },
  });
