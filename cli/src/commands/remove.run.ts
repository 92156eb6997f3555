// rm.
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
  type RemoteFile,
  type RemoteFolder,
  type RemoteTree,
} from '../files/remote.ts';
import { createRun } from '../files/transfers.ts';
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

export async function rm({
  options,
  arguments: given,
  context,
}: Call<RemoveOptions, { places: readonly string[] }>) {
  const { client } = await connect(context, retriesMany);
  const { signal } = context;
  const places = given.places.map((text) => {
    const place = parseRemote(text);
    return { place, holder: toHolder(client, place, options.space) };
  });
  const isDry = options['dry-run'];
  if (!isDry && !options.yes && isInteractive(context)) {
    const total = { files: 0, bytes: 0 };
    for (const { place, holder } of places)
      for await (const { size } of listFiles(holder, place, options, signal)) {
        total.files += 1;
        total.bytes += size;
      }
    const what = `${formatCount(total.files, 'file')} (${formatBytes(total.bytes)})`;
    if (!(await confirm(context, `Delete ${what}?`))) {
      context.err.say('Nothing was deleted');
      return exitCodes.failed;
    }
  }
  const run = createRun(context, options);
  for (const { place, holder } of places)
    for await (const file of listFiles(holder, place, options, signal)) {
      const label = `${place.prefix}${joinPath(file.folder, file.name)}`;
      if (isDry) await printPlan(context, label, file);
      else
        await run.start({
          label,
          action: 'delete',
          size: 0,
          memoryBytes: 0,
          work: async () => {
            await deleteFile(holder, file.id, signal, options.permanent);
            return { id: file.id };
          },
        });
    }
  return isDry ? exitCodes.done : run.finish();
}

const printPlan = ({ out }: Context, path: string, { id }: RemoteFile): Promise<void> =>
  out.print({ action: 'delete', path, id, dryRun: true }, () => `delete ${printable(path)}`);

/** Pages go on after the last file that was listed, so deleting meanwhile skips none. */
async function* listFiles(
  holder: Holder,
  place: RemotePlace,
  { recursive }: RemoveOptions,
  signal: AbortSignal,
): AsyncGenerator<RemoteFile> {
  const tree = createRemoteTree(holder, signal);
  for await (const entry of findRemote(holder, place, signal)) {
    if ('file' in entry) yield entry.file;
    else if (recursive) yield* listBelow(tree, entry.folder);
    else
      throw new CommandError(
        'misused',
        `${describePlace(place)} is a folder: -r deletes it with everything in it`,
      );
  }
}

async function* listBelow(tree: RemoteTree, folder: RemoteFolder): AsyncGenerator<RemoteFile> {
  for await (const entry of tree.list(folder)) {
    if ('file' in entry) yield entry.file;
    else yield* listBelow(tree, entry.folder);
  }
}
