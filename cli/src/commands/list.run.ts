// ls, tree, search and url.
import type { User } from '@pakhus/client/node';
import { connect } from '../connection.ts';
import { formatBytes, formatTime, printable } from '../files/format.ts';
import { joinPath, parseRemote, toHolder } from '../files/place.ts';
import {
  createRemoteTree,
  findRemote,
  findSingleFile,
  type RemoteFile,
  type RemoteFolder,
  type RemoteTree,
  toRemoteFile,
} from '../files/remote.ts';
import { parseSize } from '../files/size.ts';
import { readLevel } from '../files/walk.ts';
import type { Call, Context } from '../frame/command.ts';
import { CommandError } from '../frame/failure.ts';

interface ListOptions {
  readonly long: boolean;
  readonly recursive: boolean;
  readonly space: string | undefined;
}

export async function ls({
  options,
  arguments: given,
  context,
}: Call<ListOptions, { place: string | undefined }>) {
  const { client, credential } = await connect(context);
  if (given.place === undefined && credential.userId === null) {
    for await (const user of client.users.list({ limit: 100 }, { signal: context.signal }))
      await context.out.print(user, () => describeUser(user, options.long));
    return;
  }
  const place = parseRemote(given.place ?? ':');
  const holder = toHolder(client, place, options.space);
  const tree = createRemoteTree(holder, context.signal);
  for await (const entry of findRemote(holder, place, context.signal)) {
    if ('file' in entry) await printFile(context, entry.file, '', options.long);
    else await listLevel(context, tree, entry.folder, '', options);
  }
}

const describeUser = ({ external_id, id, active, storageUsed, plan }: User, isLong: boolean): string =>
  [
    ...(isLong ? [id] : []),
    formatBytes(storageUsed).padStart(9),
    printable(external_id),
    ...(active ? [] : ['(inactive)']),
    ...(isLong && plan ? [`(${printable(plan.name)})`] : []),
  ].join('  ');

async function listLevel(
  context: Context,
  tree: RemoteTree,
  folder: RemoteFolder,
  at: string,
  options: ListOptions,
): Promise<void> {
  const { folders, files } = await readLevel({ tree, folder });
  try {
    for await (const below of folders.drain()) {
      const path = joinPath(at, below.name);
      await printFolder(context, below, path, options.long);
      if (options.recursive) await listLevel(context, tree, below, path, options);
    }
    for await (const file of files.drain()) await printFile(context, file, at, options.long);
  } finally {
    await Promise.all([folders.discard(), files.discard()]);
  }
}

const noId = '-'.padEnd(36);

const printFolder = (context: Context, { path }: RemoteFolder, shown: string, isLong: boolean) =>
  context.out.print({ folder: path }, () =>
    isLong
      ? `${noId}  ${''.padStart(9)}  ${''.padEnd(16)}  ${''.padEnd(7)}  ${printable(shown)}/`
      : `${printable(shown)}/`,
  );

const printFile = (context: Context, file: RemoteFile, at: string, isLong: boolean) =>
  context.out.print({ file: viewFile(file) }, () => {
    const shown = printable(joinPath(at, file.name));
    if (!isLong) return shown;
    const size = formatBytes(file.size).padStart(9);
    return `${file.id}  ${size}  ${formatTime(file.createdAt)}  ${file.visibility.padEnd(7)}  ${shown}`;
  });

const viewFile = ({ id, folder, name, size, sha256, type, mtimeMs, createdAt, visibility }: RemoteFile) => ({
  id,
  folder,
  name,
  size,
  sha256,
  type,
  visibility,
  mtime: mtimeMs === null ? null : new Date(mtimeMs).toISOString(),
  created_at: createdAt,
});

export async function tree({
  options,
  arguments: given,
  context,
}: Call<{ space: string | undefined }, { place: string }>) {
  const { client } = await connect(context);
  const place = parseRemote(given.place);
  const holder = toHolder(client, place, options.space);
  const remote = createRemoteTree(holder, context.signal);
  for await (const entry of findRemote(holder, place, context.signal)) {
    if ('file' in entry) await printFile(context, entry.file, '', false);
    else {
      const { path } = entry.folder;
      await context.out.print({ folder: path }, () => printable(`${place.prefix}${path}`));
      await drawLevel(context, remote, entry.folder, '');
    }
  }
}

async function drawLevel(
  context: Context,
  remote: RemoteTree,
  folder: RemoteFolder,
  indent: string,
): Promise<void> {
  const { folders, files } = await readLevel({ tree: remote, folder });
  try {
    for await (const { item, isLast } of markLast(chain(folders.drain(), files.drain()))) {
      const branch = `${indent}${isLast ? '└── ' : '├── '}${printable(item.name)}`;
      if ('id' in item) await context.out.print({ file: viewFile(item) }, branch);
      else {
        await context.out.print({ folder: item.path }, `${branch}/`);
        await drawLevel(context, remote, item, `${indent}${isLast ? '    ' : '│   '}`);
      }
    }
  } finally {
    await Promise.all([folders.discard(), files.discard()]);
  }
}

async function* chain<One, Other>(
  one: AsyncIterable<One>,
  other: AsyncIterable<Other>,
): AsyncGenerator<One | Other> {
  yield* one;
  yield* other;
}

async function* markLast<Item>(items: AsyncIterable<Item>): AsyncGenerator<{ item: Item; isLast: boolean }> {
  let kept: { readonly item: Item } | undefined;
  for await (const item of items) {
    if (kept !== undefined) yield { ...kept, isLast: false };
    kept = { item };
  }
  if (kept !== undefined) yield { ...kept, isLast: true };
}

interface SearchOptions {
  readonly sort: string | undefined;
  readonly order: string | undefined;
  readonly since: string | undefined;
  readonly until: string | undefined;
  readonly 'min-size': string | undefined;
  readonly 'max-size': string | undefined;
  readonly long: boolean;
  readonly space: string | undefined;
}

export async function search({
  options,
  arguments: given,
  context,
}: Call<SearchOptions, { text: string; user: string | undefined }>) {
  const { client, credential } = await connect(context);
  if (given.user === undefined && credential.userId === null)
    throw new CommandError('misused', 'Say whose files: pakhus search TEXT USER:');
  const place = parseRemote(given.user ?? ':');
  if (place.path !== '' || place.fileId !== undefined)
    throw new CommandError('misused', `All files of a user are searched: write ${place.prefix}`);
  const { user } = toHolder(client, place, options.space);
  const query = { q: given.text, limit: searchPageSize, ...toFilters(options) };
  for await (const file of user.files.list(query, { signal: context.signal }))
    await printFile(context, toRemoteFile(file), file.folder, options.long);
}

const searchPageSize = 100;

const toFilters = (options: SearchOptions) => ({
  ...(options.sort && { sort: options.sort as 'name' | 'size' | 'created_at' }),
  ...(options.order && { order: options.order as 'asc' | 'desc' }),
  ...(options.since && { created_from: options.since }),
  ...(options.until && { created_to: options.until }),
  ...(options['min-size'] && { size_min: parseSize(options['min-size'], '--min-size') }),
  ...(options['max-size'] && { size_max: parseSize(options['max-size'], '--max-size') }),
  ...(options.space && { space_id: options.space }),
});

export async function url({
  options,
  arguments: given,
  context,
}: Call<{ space: string | undefined }, { place: string }>) {
  const { client } = await connect(context);
  const place = parseRemote(given.place);
  const holder = toHolder(client, place, options.space);
  const { signal } = context;
  const { id } = await findSingleFile(holder, place, signal);
  const file = await holder.user.files.get(id, { signal });
  await context.out.print({ id, url: file.url, expires_at: file.url_expires_at }, file.url);
  if (file.url_expires_at !== null) context.err.say(`Valid until ${file.url_expires_at}`);
}
