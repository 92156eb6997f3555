// zip.
import { access } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { connect, retriesMany } from '../connection.ts';
import { describePlace, type Holder, parseRemote, type RemotePlace, toHolder } from '../files/place.ts';
import { findRemote, type RemoteEntry } from '../files/remote.ts';
import { openState } from '../files/state.ts';
import { createRun } from '../files/transfers.ts';
import { receiveZip, type ZipSelection } from '../files/zip.ts';
import type { Call } from '../frame/command.ts';
import { CommandError } from '../frame/failure.ts';

interface ZipOptions {
  readonly output: string | undefined;
  readonly force: boolean;
  readonly space: string | undefined;
}

export async function zip({
  options,
  arguments: given,
  context,
}: Call<ZipOptions, { places: readonly string[] }>) {
  const places = given.places.map(parseRemote);
  const [first] = places;
  if (first === undefined || places.some(({ prefix }) => prefix !== first.prefix))
    throw new CommandError('misused', 'A zip has files of one user: run the command once for each');
  const { client } = await connect(context, retriesMany);
  const { signal, env, cwd } = context;
  const holder = toHolder(client, first, options.space);
  const selection = await select(holder, places, signal);
  const path = resolve(cwd, options.output ?? `${basename(selection.folder ?? '') || 'files'}.zip`);
  if (!options.force && (await exists(path)))
    throw new CommandError('failed', `${path} is there already: --force overwrites it`);
  if (!(await exists(dirname(path))))
    throw new CommandError('notFound', `The folder ${dirname(path)} does not exist: create it first`);
  const run = createRun(context, {});
  await run.start({
    label: path,
    action: 'download',
    size: 0,
    memoryBytes: 0,
    work: (onBytes) =>
      receiveZip(holder, selection, path, { store: openState(env).downloads, signal, onBytes }),
  });
  return run.finish();
}

/** One folder, or files. */
async function select(
  holder: Holder,
  places: readonly RemotePlace[],
  signal: AbortSignal,
): Promise<ZipSelection> {
  const entries: RemoteEntry[] = [];
  for (const place of places)
    for await (const entry of findRemote(holder, place, signal)) entries.push(entry);
  const [only] = entries;
  if (only !== undefined && entries.length === 1 && 'folder' in only) return { folder: only.folder.path };
  const ids = entries.flatMap((entry) => ('file' in entry ? [entry.file.id] : []));
  if (ids.length < entries.length)
    throw new CommandError(
      'misused',
      `Name one folder, or only files: ${places.map(describePlace).join(' ')} has folders beside others`,
    );
  if (ids.length > idsMax)
    throw new CommandError(
      'misused',
      `At most ${idsMax} files can be named: zip the folder that they are in`,
    );
  return { ids };
}

/** As many as a URL has room for. */
const idsMax = 400;

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
