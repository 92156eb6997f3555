// restore, trash list and trash empty.
import type { Client, ListedFile } from '@pakhus/client/node';
import { connect, retriesMany } from '../connection.ts';
import { formatBytes, formatCount, formatTime, printable } from '../files/format.ts';
import {
  describePlace,
  type Holder,
  joinPath,
  parseRemote,
  type RemotePlace,
  toHolder,
} from '../files/place.ts';
import { deleteFile } from '../files/put.ts';
import { createRun } from '../files/transfers.ts';
import type { Call } from '../frame/command.ts';
import { CommandError, exitCodes } from '../frame/failure.ts';
import { confirm, isInteractive } from '../prompt.ts';
import { pageSize } from './results.ts';

interface TrashOptions {
  readonly jobs: number | undefined;
  readonly space: string | undefined;
}

interface Trashed {
  readonly holder: Holder;
  readonly label: string;
  readonly file: ListedFile;
}

export async function listTrash({
  options,
  arguments: given,
  context,
}: Call<{ space: string | undefined }, { place: string | undefined }>) {
  const { client } = await connect(context);
  const place = parseRemote(given.place ?? ':');
  for await (const file of findTrashed(toHolder(client, place, options.space), place, context.signal))
    await context.out.print(file, () =>
      [
        file.id,
        formatBytes(file.size).padStart(9),
        `deleted ${formatTime(file.trashed_at ?? '')}`,
        `kept until ${formatTime(file.purge_at ?? '')}`,
        printable(joinPath(file.folder, file.name)),
      ].join('  '),
    );
}

/** Deleted last first, as the service lists them. */
async function* findTrashed(
  { user, spaceId }: Holder,
  place: RemotePlace,
  signal: AbortSignal,
): AsyncGenerator<ListedFile> {
  const query = { trashed: true, limit: pageSize, ...(spaceId !== undefined && { space_id: spaceId }) };
  for await (const file of user.files.list(query, { signal })) if (isMeant(place, file)) yield file;
}

function isMeant({ path, isFolder, fileId }: RemotePlace, { id, folder, name }: ListedFile): boolean {
  if (fileId !== undefined) return id === fileId.toLowerCase();
  if (isFolder) return path === '' || folder === path || folder.startsWith(`${path}/`);
  return joinPath(folder, name) === path;
}

/** Read to the end before anything changes: pages of a trash that is being emptied would skip some. */
async function collect(
  client: Client,
  texts: readonly string[],
  { space }: TrashOptions,
  signal: AbortSignal,
  isOnlyNewest: boolean,
): Promise<Trashed[]> {
  const all = new Map<string, Trashed>();
  for (const place of texts.map(parseRemote)) {
    const holder = toHolder(client, place, space);
    let count = 0;
    for await (const file of findTrashed(holder, place, signal)) {
      count += 1;
      all.set(file.id, { holder, file, label: `${place.prefix}${joinPath(file.folder, file.name)}` });
      if (isOnlyNewest && !place.isFolder) break;
    }
    if (count === 0 && place.path + (place.fileId ?? '') !== '')
      throw new CommandError(
        'notFound',
        `There is nothing in the trash of ${describePlace(place)}: pakhus trash list ${place.prefix} shows what is there`,
      );
  }
  return [...all.values()];
}

export async function restore({
  options,
  arguments: given,
  context,
}: Call<TrashOptions, { places: readonly string[] }>) {
  const { client } = await connect(context, retriesMany);
  const run = createRun(context, options);
  const { signal } = run;
  for (const { holder, label, file } of await collect(client, given.places, options, signal, true))
    await run.start({
      label,
      action: 'restore',
      size: 0,
      memoryBytes: 0,
      work: async () => ({ id: (await holder.user.files.restore(file.id, { signal })).id }),
    });
  return run.finish();
}

export async function emptyTrash({
  options,
  arguments: given,
  context,
}: Call<TrashOptions & { yes: boolean }, { places: readonly string[] }>) {
  const { client } = await connect(context, retriesMany);
  const found = await collect(client, given.places, options, context.signal, false);
  const bytes = found.reduce((sum, { file }) => sum + file.size, 0);
  const what = `${formatCount(found.length, 'file')} (${formatBytes(bytes)})`;
  if (!options.yes && isInteractive(context) && !(await confirm(context, `Delete ${what} for good?`))) {
    context.err.say('Nothing was deleted');
    return exitCodes.failed;
  }
  const run = createRun(context, options);
  for (const { holder, label, file } of found)
    await run.start({
      label,
      action: 'delete',
      size: 0,
      memoryBytes: 0,
      work: async () => {
        await deleteFile(holder, file.id, run.signal, true);
        return { id: file.id };
      },
    });
  return run.finish();
}
