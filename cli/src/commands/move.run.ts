// mv.
import { connect, retriesMany } from '../connection.ts';
import { isPattern } from '../files/glob.ts';
import { type Holder, joinPath, parseRemote, type RemotePlace, splitPath, toHolder } from '../files/place.ts';
import { findRemote, type RemoteEntry, type RemoteFile } from '../files/remote.ts';
import { createRun, type TransferRun } from '../files/transfers.ts';
import type { Call } from '../frame/command.ts';
import { CommandError } from '../frame/failure.ts';
import { splitTarget } from './transfer.run.ts';

export async function mv({
  options,
  arguments: given,
  context,
}: Call<{ space: string | undefined }, { places: readonly string[] }>) {
  const { sources, target: text } = splitTarget(given.places, 'mv USER:PATH... USER:FOLDER/');
  const target = parseRemote(text);
  if (target.fileId !== undefined)
    throw new CommandError('misused', `${text} is a file: a target is a folder or a new name`);
  const places = sources.map(parseRemote);
  if (places.some(({ prefix }) => prefix !== target.prefix))
    throw new CommandError('misused', 'Files stay with their user: cp copies to another one');
  const { client } = await connect(context, retriesMany);
  const holder = toHolder(client, target, options.space);
  // One after the other: what is found by the second place may depend on the first.
  const run = createRun(context, { jobs: 1 });
  for (const place of places) {
    const isInto = target.isFolder || places.length > 1 || isPattern(place.path);
    const found: RemoteEntry[] = [];
    for await (const entry of findRemote(holder, place, run.signal)) found.push(entry);
    for (const entry of found) await moveEntry(run, holder, entry, target, isInto);
    await run.settle();
  }
  return run.finish();
}

function moveEntry(
  run: TransferRun,
  holder: Holder,
  entry: RemoteEntry,
  { prefix, path }: RemotePlace,
  isInto: boolean,
): Promise<void> {
  const { signal } = run;
  const name = 'folder' in entry ? entry.folder.name : entry.file.name;
  const to = isInto ? joinPath(path, name) : path;
  return run.start({
    label: `${prefix}${to}`,
    action: 'move',
    size: 0,
    memoryBytes: 0,
    work: async () => {
      if ('file' in entry) return moveFile(holder, entry.file, to, signal);
      const { path: from } = entry.folder;
      const space = holder.spaceId === undefined ? {} : { space_id: holder.spaceId };
      return { from, to, ...(await holder.user.folders.move({ from, to, ...space }, { signal })) };
    },
  });
}

async function moveFile({ user }: Holder, file: RemoteFile, to: string, signal: AbortSignal) {
  const { folder, name } = splitPath(to);
  if (name === file.name) {
    if (folder !== file.folder) await user.files.update(file.id, { folder }, { signal });
    return { id: file.id, folder, name };
  }
  const { expires_at } = await user.files.get(file.id, { signal });
  const copy = await user.files.copy(file.id, { name, folder }, { signal });
  try {
    // A copy has none of its own.
    if (expires_at) await user.files.update(copy.id, { expires_at }, { signal });
    await user.files.delete(file.id, { signal, permanent: true });
  } catch (error) {
    // A file on hold, or a key that must not delete: there must not be two of them then.
    await user.files.delete(copy.id, { permanent: true }).catch(() => undefined);
    throw error;
  }
  return { id: copy.id, folder, name };
}
