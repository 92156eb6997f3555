// Uploads files and folders. What is there already is not sent again, so that an interrupted run can be repeated.
import type { StoredFile } from '@pakhus/client/node';
import { CommandError } from '../frame/failure.ts';
import { compareFiles } from './compare.ts';
import { hasKeeping, keep } from './keeping.ts';
import { createGivenTree, findSources, givenRoot, type LocalFile, type LocalFolder } from './local.ts';
import { describePlace, type Holder, joinPath, type RemotePlace, splitPath } from './place.ts';
import {
  createRemoteTree,
  isForbidden,
  type RemoteFile,
  type RemoteTree,
  toFolder,
  toRemoteFile,
} from './remote.ts';
import { type FileFacts, sendFile, sendingBytes } from './send.ts';
import type { TransferState } from './state.ts';
import type { TransferRun } from './transfers.ts';
import { readAhead, type TreeEntry, walkPairs } from './walk.ts';

export interface PutOptions {
  readonly holder: Holder;
  readonly target: RemotePlace;
  readonly facts: FileFacts;
  readonly state: TransferState;
  readonly follow: boolean;
  /** Delete the file of the same name afterwards. */
  readonly replace: boolean;
  /** Send what is there already as well. */
  readonly force: boolean;
  readonly onSkip: (path: string, why: string) => void;
}

type LocalEntry = TreeEntry<LocalFolder, LocalFile>;

export async function putSources(
  run: TransferRun,
  sources: readonly string[],
  cwd: string,
  options: PutOptions,
): Promise<void> {
  const found = (await Promise.all(sources.map((source) => findSources(source, cwd)))).flat();
  const { base, entries } = placeEntries(found, options.target);
  const { holder, force, follow, onSkip } = options;
  const left = { tree: createGivenTree(entries, { follow, onSkip }), folder: givenRoot };
  const right = {
    tree: createKnownTree(holder, base, entries, run.signal),
    folder: force ? null : toFolder(base),
  };
  for await (const pair of readAhead(walkPairs(left, right, { enter: ({ hasLeft }) => hasLeft }))) {
    const folder = joinPath(base, pair.at);
    const label = `${options.target.prefix}${joinPath(folder, pair.name)}`;
    const [local, second] = pair.left;
    if (local === undefined) continue;
    if (second !== undefined)
      run.fail(label, new CommandError('misused', `${local.path} and ${second.path} have the same name`));
    else await putOne(run, local, pair.right[0] ?? null, folder, label, options);
  }
}

/** A target without a slash at its end is the new name of the only source. */
function placeEntries(
  entries: readonly LocalEntry[],
  target: RemotePlace,
): { base: string; entries: readonly LocalEntry[] } {
  if (target.fileId !== undefined)
    throw new CommandError('misused', 'A file cannot be overwritten by its id: name a folder and a name');
  const [only] = entries;
  if (target.isFolder || only === undefined) return { base: target.path, entries };
  if (entries.length > 1)
    throw new CommandError(
      'misused',
      `Several files need a folder as target: write ${describePlace(target)}/`,
    );
  if ('folder' in only) return { base: target.path, entries: [{ folder: { ...only.folder, name: '' } }] };
  const { folder, name } = splitPath(target.path);
  return { base: folder, entries: [{ file: { ...only.file, name } }] };
}

/** How many of the newest files are looked at to find what an interrupted run has sent, if only files are given. */
const newestMin = 1000;

/** What the service has, as far as this credential may see it. */
function createKnownTree(
  holder: Holder,
  base: string,
  entries: readonly LocalEntry[],
  signal: AbortSignal,
): RemoteTree {
  const tree = createRemoteTree(holder, signal);
  const isFilesOnly = entries.every((entry) => 'file' in entry);
  const newestMax = Math.max(newestMin, 4 * entries.length);
  return {
    ...tree,
    async *list(folder) {
      try {
        yield* isFilesOnly ? listNewest(holder, base, newestMax, signal) : tree.list(folder);
      } catch (error) {
        // Without files:read everything is sent.
        if (!isForbidden(error)) throw error;
      }
    },
  };
}

async function* listNewest({ user, spaceId }: Holder, folder: string, countMax: number, signal: AbortSignal) {
  let count = 0;
  const query = { folder, limit: 100, ...(spaceId !== undefined && { space_id: spaceId }) };
  for await (const file of user.files.list(query, { signal })) {
    yield { file: toRemoteFile(file) };
    count += 1;
    if (count >= countMax) return;
  }
}

async function putOne(
  run: TransferRun,
  local: LocalFile,
  remote: RemoteFile | null,
  folder: string,
  label: string,
  options: PutOptions,
): Promise<void> {
  const isThere = remote !== null && (await compareFiles(local, remote, false, run.signal)) !== 'different';
  if (isThere) return hasKeeping(options.facts) ? startKeeping(run, remote, label, options) : run.skip();
  await startUpload(run, local, { ...options, folder, label, replaced: options.replace ? remote : null });
}

/** Whoever asks for a hold must be able to rely on it, whoever stored the file. */
const startKeeping = (
  run: TransferRun,
  { id }: RemoteFile,
  label: string,
  { holder, facts }: PutOptions,
): Promise<void> =>
  run.start({
    label,
    action: 'touch',
    size: 0,
    memoryBytes: 0,
    work: async () => {
      const { signal } = run;
      const stored = await holder.user.files.get(id, { signal });
      await keep(holder, stored, facts, signal);
      return describeStored(stored);
    },
  });

export interface UploadPlan {
  readonly holder: Holder;
  readonly facts: FileFacts;
  readonly state: TransferState;
  readonly folder: string;
  readonly label: string;
  /** Its tags and other facts go over to the new version; then it is deleted. */
  readonly replaced: RemoteFile | null;
}

export const startUpload = (run: TransferRun, local: LocalFile, plan: UploadPlan): Promise<void> =>
  run.start({
    label: plan.label,
    action: 'upload',
    size: local.size,
    memoryBytes: sendingBytes(local),
    work: async (onBytes) => {
      const { holder, replaced, folder, state } = plan;
      const facts =
        replaced === null ? plan.facts : await inheritFacts(holder, replaced, plan.facts, run.signal);
      const { signal } = run;
      const target = { holder, folder, name: local.name, facts };
      const stored = await sendFile(local, target, { store: state.uploads, signal, onBytes });
      // One that an earlier run began has what was said then.
      await keep(holder, stored, facts, signal);
      if (replaced !== null) await deleteFile(holder, replaced.id, signal);
      return describeStored(stored);
    },
  });

/** The new version names the old one, so that a run after a crash can tell which file it was about to delete. */
async function inheritFacts(
  { user }: Holder,
  { id }: RemoteFile,
  given: FileFacts,
  signal: AbortSignal,
): Promise<FileFacts> {
  const { tags, classifier, visibility, metadata, expires_at } = await user.files.get(id, { signal });
  return {
    tags,
    visibility,
    ...(classifier !== null && { classifier }),
    ...(expires_at !== undefined && Date.parse(expires_at) > Date.now() && { expires_at }),
    ...given,
    metadata: { ...metadata, ...given.metadata, replaces: id },
  };
}

/** Somebody else may have been quicker. */
export async function deleteFile(
  { user }: Holder,
  id: string,
  signal: AbortSignal,
  permanent = false,
): Promise<void> {
  await user.files.delete(id, { signal, permanent }).catch((error) => {
    if (error.status !== 404) throw error;
  });
}

export const describeStored = ({ id, folder, name, size, sha256 }: StoredFile) => ({
  id,
  folder,
  name,
  size,
  sha256,
});
