// Copies remote files to another place: within the service, or by way of this machine, checked against their sha256.
import { keep } from './keeping.ts';
import { type Holder, joinPath, type RemotePlace, splitPath } from './place.ts';
import { describeStored } from './put.ts';
import {
  createRemoteTree,
  type RemoteEntry,
  type RemoteFile,
  type RemoteFolder,
  type RemoteTree,
} from './remote.ts';
import { type FileFacts, toUploadOptions } from './send.ts';
import type { TransferRun } from './transfers.ts';
import { readLevel } from './walk.ts';

export interface CopyPlan {
  readonly from: Holder;
  readonly to: Holder;
  readonly target: RemotePlace;
  readonly facts: FileFacts;
  /** The service can then copy by itself. */
  readonly isSameUser: boolean;
  /** Under its own name into the target, which is the new name otherwise. */
  readonly isInto: boolean;
}

const memoryBytes = 16 << 20;

export async function startCopy(run: TransferRun, entry: RemoteEntry, plan: CopyPlan): Promise<void> {
  const { path } = plan.target;
  if ('folder' in entry) {
    const base = plan.isInto ? joinPath(path, entry.folder.name) : path;
    return copyFolder(run, createRemoteTree(plan.from, run.signal), entry.folder, base, plan);
  }
  const { folder, name } = plan.isInto ? { folder: path, name: entry.file.name } : splitPath(path);
  return copyFile(run, entry.file, folder, name, plan);
}

/** Read to the end before anything is stored, or a copy into itself would never end. */
async function copyFolder(
  run: TransferRun,
  tree: RemoteTree,
  folder: RemoteFolder,
  base: string,
  plan: CopyPlan,
): Promise<void> {
  const { folders, files } = await readLevel({ tree, folder });
  try {
    let last: string | undefined;
    for await (const file of files.drain()) {
      // Older ones of the same name follow.
      if (file.name !== last) await copyFile(run, file, base, file.name, plan);
      last = file.name;
    }
    for await (const below of folders.drain())
      await copyFolder(run, tree, below, joinPath(base, below.name), plan);
  } finally {
    await Promise.all([folders.discard(), files.discard()]);
  }
}

const copyFile = (
  run: TransferRun,
  file: RemoteFile,
  folder: string,
  name: string,
  plan: CopyPlan,
): Promise<void> =>
  run.start({
    label: `${plan.target.prefix}${joinPath(folder, name)}`,
    action: 'copy',
    size: file.size,
    memoryBytes: Math.min(file.size, memoryBytes),
    work: async (onBytes) =>
      describeStored(
        canCopyInside(file, plan)
          ? await copyInside(file, folder, name, plan, run.signal)
          : await passThrough(file, { holder: plan.to, folder, name }, plan, run.signal, onBytes),
      ),
  });

/** The service copies all metadata, and a copy replaces nothing. */
const canCopyInside = ({ replaces }: RemoteFile, { isSameUser, facts }: CopyPlan): boolean =>
  isSameUser && replaces === null && Object.keys(facts).every((name) => settable.has(name));

/** Said of a copy, or to it afterwards. */
const settable: ReadonlySet<string> = new Set(['visibility', 'expires_at', 'retain_until']);

async function copyInside(
  { id }: RemoteFile,
  folder: string,
  name: string,
  { to, facts }: CopyPlan,
  signal: AbortSignal,
) {
  const spaceId = to.spaceId === 'none' ? null : to.spaceId;
  const { visibility } = facts;
  const body = {
    name,
    folder,
    ...(spaceId !== undefined && { space_id: spaceId }),
    ...(visibility && { visibility }),
  };
  const { files } = to.user;
  const copy = await files.copy(id, body, { signal });
  try {
    await keep(to, copy, facts, signal);
    return copy;
  } catch (error) {
    // Rather none than one that stays for ever, or that anybody can delete.
    await files.delete(copy.id, { permanent: true }).catch(() => undefined);
    throw error;
  }
}

async function passThrough(
  file: RemoteFile,
  target: { readonly holder: Holder; readonly folder: string; readonly name: string },
  { from, facts }: CopyPlan,
  signal: AbortSignal,
  onBytes: (loaded: number) => void,
) {
  const { tags, classifier, visibility, metadata } = await from.user.files.get(file.id, { signal });
  const all: FileFacts = {
    tags,
    visibility,
    type: file.type,
    ...(classifier !== null && { classifier }),
    ...facts,
    metadata: { ...withoutReplaces(metadata), ...facts.metadata },
  };
  const { body } = await from.user.files.download(file.id, { signal });
  return target.holder.user.files.upload(body ?? new Uint8Array(), {
    ...toUploadOptions({ ...target, facts: all }, {}),
    size: file.size,
    ...(file.sha256 !== null && { sha256: file.sha256 }),
    resumeStore: null,
    signal,
    onProgress: ({ loaded }) => onBytes(loaded),
  });
}

/** A copy replaces nothing. */
const withoutReplaces = ({ replaces: _, ...rest }: Readonly<Record<string, unknown>>) => rest;
