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

/** Pages go on after the last file that was listed, so that changes meanwhile skip none. */
async function* listTrashed(
  client: Client,
  place: RemotePlace,
  space: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<Trashed> {
  const holder = toHolder(client, place, space);
  for await (const file of findTrashed(holder, place, signal))
    yield { holder, file, label: `${place.prefix}${joinPath(file.folder, file.name)}` };
}

const notTrashed = (place: RemotePlace) =>
  new CommandError(
    'notFound',
    `There is nothing in the trash of ${describePlace(place)}: pakhus trash list ${place.prefix} shows what is there`,
  );

export async function restore({
  options,
  arguments: given,
  context,
}: Call<TrashOptions, { places: readonly string[] }>) {
  const { client } = await connect(context, retriesMany);
  const run = createRun(context, options);
  const { signal } = run;
  for (const place of given.places.map(parseRemote)) {
    let count = 0;
    for await (const { holder, label, file } of listTrashed(client, place, options.space, signal)) {
      count += 1;
      await run.start({
        label,
        action: 'restore',
        size: 0,
        memoryBytes: 0,
        work: async () => ({ id: (await holder.user.files.restore(file.id, { signal })).id }),
      });
      if (!place.isFolder) break;
    }
    if (count === 0) run.fail(describePlace(place), notTrashed(place));
    // The next place may name the same files.
    await run.settle();
  }
  return run.finish();
}

export async function emptyTrash({
  options,
  arguments: given,
  context,
}: Call<TrashOptions & { yes: boolean }, { places: readonly string[] }>) {
  const { client } = await connect(context, retriesMany);
  const places = given.places.map(parseRemote);
  if (!options.yes && isInteractive(context)) {
    const what = await describeAll(client, places, options.space, context.signal);
    if (!(await confirm(context, `Delete ${what} for good?`))) {
      context.err.say('Nothing was deleted');
      return exitCodes.failed;
    }
  }
  const run = createRun(context, options);
  for (const place of places)
    for await (const { holder, label, file } of listTrashed(client, place, options.space, run.signal))
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

async function describeAll(
  client: Client,
  places: readonly RemotePlace[],
  space: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  const total = { files: 0, bytes: 0 };
  for (const place of places)
    for await (const { file } of listTrashed(client, place, space, signal)) {
      total.files += 1;
      total.bytes += file.size;
    }
  return `${formatCount(total.files, 'file')} (${formatBytes(total.bytes)})`;
}
