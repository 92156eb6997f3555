// put, get, cat and cp.
import { createHash } from 'node:crypto';
import { mkdir, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { Client } from '@pakhus/client/node';
import { connect, retriesMany } from '../connection.ts';
import { startCopy } from '../files/copy.ts';
import { printable } from '../files/format.ts';
import { type GetOptions, getFile, getFolder, type Overwriting, refuseName } from '../files/get.ts';
import { isPattern } from '../files/glob.ts';
import { refuseHold } from '../files/keeping.ts';
import {
  describePlace,
  type Holder,
  isRemote,
  joinPath,
  parseRemote,
  type RemotePlace,
  splitPath,
  toHolder,
} from '../files/place.ts';
import { describeStored, putSources } from '../files/put.ts';
import { createRemoteTree, findRemote, type RemoteEntry, type RemoteFile } from '../files/remote.ts';
import { type FileFacts, sendStream } from '../files/send.ts';
import { openState } from '../files/state.ts';
import { createRun, type TransferRun } from '../files/transfers.ts';
import { parseWhen } from '../files/when.ts';
import type { Call, Context } from '../frame/command.ts';
import { CommandError } from '../frame/failure.ts';

interface FactOptions {
  readonly tag: readonly string[];
  readonly classifier: string | undefined;
  readonly visibility: string | undefined;
  readonly meta: readonly string[];
  readonly type: string | undefined;
  readonly expires: string | undefined;
  readonly retain?: string | undefined;
}

interface CommonOptions {
  readonly follow: boolean;
  readonly jobs: number | undefined;
  readonly space: string | undefined;
}

interface PutOptions extends FactOptions, CommonOptions {
  readonly replace: boolean;
  readonly force: boolean;
}

interface GetOptionsGiven extends CommonOptions {
  readonly force: boolean;
  readonly newer: boolean;
}

export function toFacts(options: FactOptions): FileFacts {
  const { tag, classifier, visibility, meta, type, expires, retain } = options;
  const metadata = Object.fromEntries(meta.map(parseMeta));
  return {
    ...(tag.length > 0 && { tags: [...tag] }),
    ...(classifier !== undefined && { classifier }),
    ...(visibility !== undefined && { visibility: visibility as 'private' | 'public' }),
    ...(meta.length > 0 && { metadata }),
    ...(type !== undefined && { type }),
    ...(expires !== undefined && { expires_at: parseWhen(expires, '--expires') }),
    ...(retain !== undefined && { retain_until: parseWhen(retain, '--retain') }),
  };
}

function parseMeta(text: string): [key: string, value: string] {
  const at = text.indexOf('=');
  if (at < 1) throw new CommandError('misused', `--meta ${text} must have the form KEY=VALUE`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** Files in no space, unless one is named: a new file is stored there too. */
export const spaceToWrite = (space: string | undefined): string => space ?? 'none';

export const warnOfSkipped =
  ({ err }: Context) =>
  (path: string, why: string): void =>
    err.warn(`${printable(path)} ${why}`);

export async function put({
  options,
  arguments: given,
  context,
}: Call<PutOptions, { paths: readonly string[] }>) {
  const { sources, target } = splitTarget(given.paths, 'put FILE... USER:FOLDER/');
  const { client } = await connect(context, retriesMany);
  return putTo(client, sources, parseRemote(target), options, context);
}

async function putTo(
  client: Client,
  sources: readonly string[],
  target: RemotePlace,
  options: PutOptions,
  context: Context,
): Promise<number> {
  const holder = toHolder(client, target, spaceToWrite(options.space));
  const facts = toFacts(options);
  await refuseHold(client, facts, context.signal);
  const run = createRun(context, options);
  if (sources.includes('-')) {
    if (sources.length > 1) throw new CommandError('misused', 'stdin cannot be mixed with files');
    await putStdin(run, holder, target, facts, context);
  } else
    await putSources(run, sources, context.cwd, {
      ...options,
      holder,
      target,
      facts,
      state: openState(context.env),
      onSkip: warnOfSkipped(context),
    });
  return run.finish();
}

async function putStdin(
  run: TransferRun,
  holder: Holder,
  target: RemotePlace,
  facts: FileFacts,
  { stdin }: Context,
): Promise<void> {
  if (target.isFolder || target.fileId !== undefined)
    throw new CommandError(
      'misused',
      `What comes from stdin needs a name: write ${target.prefix}${joinPath(target.path, 'NAME')}`,
    );
  const { signal } = run;
  await run.start({
    label: describePlace(target),
    action: 'upload',
    size: 0,
    memoryBytes: 0,
    work: async (onBytes) =>
      describeStored(
        await sendStream(stdin, { holder, facts, ...splitPath(target.path) }, { signal, onBytes }),
      ),
  });
  await run.settle();
}

/** `usage` is for the message. */
export function splitTarget(
  paths: readonly string[],
  usage: string,
): { sources: readonly string[]; target: string } {
  const target = paths.at(-1);
  if (target === undefined || paths.length < 2)
    throw new CommandError('misused', `Say from where and where to: pakhus ${usage}`);
  return { sources: paths.slice(0, -1), target };
}

export async function get({
  options,
  arguments: given,
  context,
}: Call<GetOptionsGiven, { places: readonly string[] }>) {
  const { places } = given;
  const hasTarget = places.length > 1 && !isRemote(places.at(-1) ?? '');
  const { client } = await connect(context, retriesMany);
  const sources = (hasTarget ? places.slice(0, -1) : places).map(parseRemote);
  const target = hasTarget ? (places.at(-1) ?? '.') : '.';
  if (target === '-') return writeAll(client, sources, options.space, context);
  return getTo(client, sources, target, options, context);
}

async function getTo(
  client: Client,
  sources: readonly RemotePlace[],
  target: string,
  options: GetOptionsGiven,
  context: Context,
): Promise<number> {
  if (options.force && options.newer) throw new CommandError('misused', 'Say either --force or --newer');
  const overwriting: Overwriting = options.force ? 'force' : options.newer ? 'newer' : 'keep';
  const run = createRun(context, options);
  const path = resolve(context.cwd, target);
  // A folder that an earlier run has made must not change where this one goes.
  const isMarked = /(^|\/)\.{0,2}\/?$/.test(target);
  const isFolder = isMarked || (await isExistingFolder(path));
  const claimed = new Set<string>();
  for (const place of sources) {
    const holder = toHolder(client, place, options.space);
    const state = openState(context.env);
    const getting = {
      holder,
      prefix: place.prefix,
      state,
      overwriting,
      follow: options.follow,
      onSkip: warnOfSkipped(context),
    };
    const isSeveral = sources.length > 1 || isPattern(place.path);
    for await (const entry of findRemote(holder, place, run.signal)) {
      const isInto = isSeveral || ('folder' in entry ? isMarked : isFolder);
      await getEntry(run, entry, path, isInto, claimed, getting);
    }
  }
  return run.finish();
}

async function getEntry(
  run: TransferRun,
  entry: RemoteEntry,
  path: string,
  isInto: boolean,
  claimed: Set<string>,
  options: GetOptions,
): Promise<void> {
  if ('folder' in entry) {
    const { folder } = entry;
    if (isInto && folder.name !== '') refuseName(folder.name);
    const tree = createRemoteTree(options.holder, run.signal);
    return getFolder(run, tree, folder, isInto ? resolve(path, folder.name) : path, options);
  }
  const { name } = entry.file;
  const root = isInto ? path : dirname(path);
  const localName = isInto ? name : basename(path);
  const key = resolve(root, localName);
  if (claimed.has(key)) {
    const message = `Another file goes to ${key} as well: get them one by one`;
    return run.fail(
      `${options.prefix}${joinPath(entry.file.folder, name)}`,
      new CommandError('misused', message),
    );
  }
  claimed.add(key);
  await mkdir(root, { recursive: true });
  return getFile(run, entry.file, root, localName, options);
}

export const isExistingFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (facts) => facts.isDirectory(),
    () => false,
  );

export async function cat({
  options,
  arguments: given,
  context,
}: Call<{ space: string | undefined }, { places: readonly string[] }>) {
  const { client } = await connect(context, retriesMany);
  return writeAll(client, given.places.map(parseRemote), options.space, context);
}

async function writeAll(
  client: Client,
  places: readonly RemotePlace[],
  space: string | undefined,
  context: Context,
): Promise<number> {
  if (context.isJson)
    throw new CommandError('misused', 'The content of files cannot be written as JSON: leave --json out');
  for (const place of places) {
    const holder = toHolder(client, place, space);
    for await (const entry of findRemote(holder, place, context.signal)) {
      if ('folder' in entry)
        throw new CommandError('misused', `${describePlace(place)} is a folder: name files`);
      await writeContent(holder, entry.file, context);
    }
  }
  return 0;
}

async function writeContent({ user }: Holder, file: RemoteFile, { out, signal }: Context): Promise<void> {
  const hash = createHash('sha256');
  const { body } = await user.files.download(file.id, { signal });
  for await (const chunk of body ?? []) {
    hash.update(chunk);
    await out.write(chunk);
  }
  if (file.sha256 !== null && hash.digest('hex') !== file.sha256)
    throw new CommandError(
      'failed',
      `${file.name} was damaged on its way: what was written does not have its sha256`,
    );
}

interface CopyOptions extends PutOptions, GetOptionsGiven {}

export async function cp({
  options,
  arguments: given,
  context,
}: Call<CopyOptions, { paths: readonly string[] }>) {
  const { sources, target } = splitTarget(given.paths, 'cp SOURCE... TARGET');
  const { client } = await connect(context, retriesMany);
  const areRemote = sources.filter((source) => isRemote(source)).length;
  if (areRemote > 0 && areRemote < sources.length)
    throw new CommandError('misused', 'Local and remote sources cannot be mixed: run the command twice');
  if (areRemote === 0 && !isRemote(target))
    throw new CommandError('misused', 'One side must be a place of the service, such as anna:docs/');
  if (areRemote === 0) return putTo(client, sources, parseRemote(target), options, context);
  if (!isRemote(target)) return getTo(client, sources.map(parseRemote), target, options, context);
  return copyTo(client, sources.map(parseRemote), parseRemote(target), options, context);
}

async function copyTo(
  client: Client,
  sources: readonly RemotePlace[],
  target: RemotePlace,
  options: CopyOptions,
  context: Context,
): Promise<number> {
  const facts = toFacts(options);
  await refuseHold(client, facts, context.signal);
  const run = createRun(context, options);
  const to = toHolder(client, target, spaceToWrite(options.space));
  for (const place of sources) {
    const from = toHolder(client, place, undefined);
    for await (const entry of findRemote(from, place, run.signal)) {
      const isInto = target.isFolder || sources.length > 1 || isPattern(place.path);
      const isSameUser = place.prefix === target.prefix;
      const plan = { from, to, target, facts, isSameUser, isInto };
      await startCopy(run, entry, plan);
    }
  }
  return run.finish();
}
