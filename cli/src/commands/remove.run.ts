// rm. A folder goes in one request, which deletes everything in it or nothing.
import { connect, retriesMany } from '../connection.ts';
import { formatBytes, formatCount, printable } from '../files/format.ts';
import {
  describePlace,
  type Holder,
  joinPath,
  parseRemote,
  type RemotePlace,
  toHolder,
} from '../files/place.ts';
import { deleteFile } from '../files/put.ts';
import {
  createRemoteTree,
  findRemote,
  type RemoteEntry,
  type RemoteFile,
  type RemoteFolder,
  type RemoteTree,
} from '../files/remote.ts';
import { createRun, type TransferRun } from '../files/transfers.ts';
import type { Call, Context } from '../frame/command.ts';
import { CommandError, exitCodes } from '../frame/failure.ts';
import { confirm, isInteractive } from '../prompt.ts';

interface RemoveOptions {
  readonly recursive: boolean;
  readonly permanent: boolean;
  readonly yes: boolean;
  readonly 'dry-run': boolean;
  readonly jobs: number | undefined;
  readonly space: string | undefined;
}

/** Something to delete. */
interface Doomed {
  readonly holder: Holder;
  readonly place: RemotePlace;
}

export async function rm({
  options,
  arguments: given,
  context,
}: Call<RemoveOptions, { places: readonly string[] }>) {
  const { client } = await connect(context, retriesMany);
  const doomed = given.places.map((text): Doomed => {
    const place = parseRemote(text);
    return { place, holder: toHolder(client, place, options.space) };
  });
  if (options['dry-run']) return printPlans(context, doomed, options);
  if (!options.yes && isInteractive(context) && !(await isConfirmed(context, doomed, options))) {
    context.err.say('Nothing was deleted');
    return exitCodes.failed;
  }
  const run = createRun(context, options);
  for (const one of doomed)
    for await (const entry of listEntries(one, options, run.signal))
      if ('file' in entry) await startFile(run, one, entry.file, options);
      else await removeFolder(run, one, entry.folder, options);
  return run.finish();
}

async function isConfirmed(
  context: Context,
  doomed: readonly Doomed[],
  options: RemoveOptions,
): Promise<boolean> {
  const total = { files: 0, bytes: 0 };
  for (const one of doomed)
    for await (const { size } of listFiles(one, options, context.signal)) {
      total.files += 1;
      total.bytes += size;
    }
  return confirm(context, `Delete ${formatCount(total.files, 'file')} (${formatBytes(total.bytes)})?`);
}

async function printPlans(
  context: Context,
  doomed: readonly Doomed[],
  options: RemoveOptions,
): Promise<number> {
  for (const one of doomed)
    for await (const file of listFiles(one, options, context.signal)) {
      const path = labelOf(one, file);
      const plan = { action: 'delete', path, id: file.id, dryRun: true };
      await context.out.print(plan, () => `delete ${printable(path)}`);
    }
  return exitCodes.done;
}

const labelOf = ({ place }: Doomed, { folder, name }: RemoteFile): string =>
  `${place.prefix}${joinPath(folder, name)}`;

const startFile = (
  run: TransferRun,
  one: Doomed,
  file: RemoteFile,
  { permanent }: RemoveOptions,
): Promise<void> =>
  run.start({
    label: labelOf(one, file),
    action: 'delete',
    size: 0,
    memoryBytes: 0,
    work: async () => {
      await deleteFile(one.holder, file.id, run.signal, permanent);
      return { id: file.id };
    },
  });

/** One after the other: the service makes deletions of the same user wait for each other anyway. */
async function removeFolder(
  run: TransferRun,
  { holder, place }: Doomed,
  { path }: RemoteFolder,
  { permanent }: RemoveOptions,
): Promise<void> {
  const { user, spaceId } = holder;
  await run.settle();
  await run.start({
    label: `${place.prefix}${path}/`,
    action: 'delete',
    size: 0,
    memoryBytes: 0,
    work: () =>
      user.folders.delete(
        {
          prefix: path,
          ...(permanent && { permanent }),
          ...(spaceId !== undefined && { space_id: spaceId }),
        },
        { signal: run.signal },
      ),
  });
  await run.settle();
}

/**
 * Files, and folders to delete at once. The root has no name to delete it by, so it is what is in it. Pages go on after the last entry
 * that was listed, so deleting meanwhile skips none.
 */
async function* listEntries(
  { holder, place }: Doomed,
  { recursive }: RemoveOptions,
  signal: AbortSignal,
): AsyncGenerator<RemoteEntry> {
  for await (const entry of findRemote(holder, place, signal)) {
    if ('folder' in entry && !recursive)
      throw new CommandError(
        'misused',
        `${describePlace(place)} is a folder: -r deletes it with everything in it`,
      );
    if ('folder' in entry && entry.folder.path === '')
      yield* createRemoteTree(holder, signal).list(entry.folder);
    else yield entry;
  }
}

async function* listFiles(
  one: Doomed,
  options: RemoveOptions,
  signal: AbortSignal,
): AsyncGenerator<RemoteFile> {
  const tree = createRemoteTree(one.holder, signal);
  for await (const entry of listEntries(one, options, signal))
    if ('file' in entry) yield entry.file;
    else yield* listBelow(tree, entry.folder);
}

async function* listBelow(tree: RemoteTree, folder: RemoteFolder): AsyncGenerator<RemoteFile> {
  for await (const entry of tree.list(folder)) {
    if ('file' in entry) yield entry.file;
    else yield* listBelow(tree, entry.folder);
  }
}
