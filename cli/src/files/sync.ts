// Makes one side like the other. Deletions wait in a file until everything else has succeeded, so that an interruption
// at any moment loses nothing and the next run ends in the same state.

import { once } from 'node:events';
import { createReadStream, createWriteStream, type WriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm, rmdir, stat, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { CommandError } from '../frame/failure.ts';
import { compareFiles } from './compare.ts';
import { localRules, refuseClashes, refuseName, setTime, startDownload } from './get.ts';
import { createLocalTree, type LocalFile, type LocalOptions } from './local.ts';
import { whyNotRemote } from './names.ts';
import { type Holder, joinPath } from './place.ts';
import { deleteFile, startUpload } from './put.ts';
import { createRemoteTree, type RemoteFile, toFolder } from './remote.ts';
import { type FileFacts, toIso } from './send.ts';
import type { TransferState } from './state.ts';
import type { Action, TransferRun } from './transfers.ts';
import { type Pair, readAhead, walkPairs } from './walk.ts';

export interface SyncOptions {
  readonly holder: Holder;
  /** For messages: USER: */
  readonly prefix: string;
  /** Of the service. */
  readonly folder: string;
  /** On this machine. */
  readonly root: string;
  readonly state: TransferState;
  readonly facts: FileFacts;
  readonly deletes: boolean;
  /** Also if the source is empty. */
  readonly deletesAll: boolean;
  readonly byContent: boolean;
  readonly local: LocalOptions;
  /** Given in a dry run: told what would be done. */
  readonly plan: ((action: Action, label: string) => void) | null;
}

type FilePair = Pair<LocalFile, RemoteFile>;

export async function syncUp(run: TransferRun, options: SyncOptions): Promise<void> {
  const { root, folder, holder, prefix, local, byContent } = options;
  const left = { tree: createLocalTree(local), folder: { name: '', path: root } };
  const right = { tree: createRemoteTree(holder, run.signal), folder: toFolder(folder) };
  await transferThenDelete(run, options, async (deletions) => {
    let sources = 0;
    const enter = ({ hasLeft }: { hasLeft: boolean }) => hasLeft || options.deletes;
    for await (const pair of readAhead(walkPairs(left, right, { enter }))) {
      const label = `${prefix}${joinPath(folder, pair.at, pair.name)}`;
      const [file] = pair.left;
      const [newest, ...older] = pair.right;
      if (file === undefined) {
        for (const { id } of pair.right) await deletions.add({ label, id });
        continue;
      }
      sources += 1;
      for (const { id } of older) await dropOlder(id, newest, label, deletions);
      const why = whyNotRemote(file.name);
      if (why !== null)
        run.fail(
          label,
          new CommandError('failed', `The name ${JSON.stringify(file.name)} ${why}: rename the file`),
        );
      else await bringUp(file, newest ?? null, pair, label).catch((error) => run.fail(label, error));
    }
    return sources;
  });

  async function bringUp(
    file: LocalFile,
    newest: RemoteFile | null,
    pair: FilePair,
    label: string,
  ): Promise<void> {
    const found = newest === null ? 'different' : await compareFiles(file, newest, byContent, run.signal);
    if (found === 'same') run.skip();
    else if (options.plan !== null) options.plan(found === 'touched' ? 'touch' : 'upload', label);
    else if (newest !== null && found === 'touched')
      await run.start({
        label,
        action: 'touch',
        size: 0,
        memoryBytes: 0,
        work: () => setRemoteTime(holder, newest, file, run.signal),
      });
    else
      await startUpload(run, file, {
        ...options,
        folder: joinPath(folder, pair.at),
        label,
        replaced: newest,
      });
  }

  /** A run that ended between an upload and the deletion of the old version left both. */
  async function dropOlder(id: string, newest: RemoteFile | undefined, label: string, deletions: Deletions) {
    if (newest?.replaces === id) await deletions.add({ label, id, isLeftOver: true });
    else await deletions.add({ label, id });
  }
}

/** Only if nobody changes the file meanwhile. */
async function setRemoteTime({ user }: Holder, { id }: RemoteFile, local: LocalFile, signal: AbortSignal) {
  let ifMatch: string | undefined;
  const onHeaders = (headers: Headers) => {
    ifMatch = headers.get('etag') ?? undefined;
  };
  const { metadata } = await user.files.get(id, { signal, onHeaders });
  const mtime = toIso(local.mtimeMs);
  await user.files.update(id, { metadata: { ...metadata, mtime } }, { signal, ifMatch });
  return { id };
}

export async function syncDown(run: TransferRun, options: SyncOptions): Promise<void> {
  const { root, folder, holder, prefix, local, byContent } = options;
  const isDry = options.plan !== null;
  if (!isDry) await mkdir(root, { recursive: true });
  const isThere = await stat(root).then(
    (facts) => facts.isDirectory(),
    () => false,
  );
  const left = { tree: createLocalTree(local), folder: isThere ? { name: '', path: root } : null };
  const right = { tree: createRemoteTree(holder, run.signal), folder: toFolder(folder) };
  const rules = await localRules(run, isDry ? null : root, `${prefix}${folder}`);
  await transferThenDelete(run, options, async (deletions) => {
    let sources = 0;
    const enter = (pair: Parameters<typeof rules.enter>[0]) =>
      pair.hasRight ? rules.enter(pair) : options.deletes;
    for await (const pair of readAhead(walkPairs(left, right, { ...rules, enter }))) {
      const label = `${prefix}${joinPath(folder, pair.at, pair.name)}`;
      if (pair.right.length === 0) {
        for (const { path } of pair.left) await deletions.add({ label: path, path });
        continue;
      }
      sources += 1;
      const remote = refuseClashes(run, pair, label);
      if (remote !== null) await bringDown(remote, pair, label).catch((error) => run.fail(label, error));
    }
    return sources;
  });

  async function bringDown(remote: RemoteFile, pair: FilePair, label: string): Promise<void> {
    refuseName(remote.name);
    const [file] = pair.left;
    const found = file === undefined ? 'different' : await compareFiles(file, remote, byContent, run.signal);
    if (found === 'same') run.skip();
    else if (options.plan !== null) options.plan(found === 'touched' ? 'touch' : 'download', label);
    else if (file !== undefined && found === 'touched') {
      await setTime(file.path, remote);
      run.skip();
    } else
      await startDownload(
        run,
        remote,
        { root, at: pair.at, label, name: file?.name ?? remote.name },
        { ...options, follow: local.follow },
      );
  }
}

interface Deletion {
  readonly label: string;
  /** Of a remote file. */
  readonly id?: string;
  /** Of a local file. */
  readonly path?: string;
  /** An old version whose replacement is stored: deleted without --delete as well. */
  readonly isLeftOver?: boolean;
}

interface Deletions {
  add(deletion: Deletion): Promise<void>;
}

/** `transfer` resolves to the number of files that the source has. */
async function transferThenDelete(
  run: TransferRun,
  options: SyncOptions,
  transfer: (deletions: Deletions) => Promise<number>,
): Promise<void> {
  const spool = await createSpool();
  try {
    let wanted = 0;
    const sources = await transfer({
      add: async (deletion) => {
        if (!options.deletes && !deletion.isLeftOver) return;
        wanted += 1;
        await spool.add(deletion);
      },
    });
    await run.settle();
    if (wanted === 0) return;
    if (run.failures > 0)
      throw new CommandError(
        'failed',
        'Nothing was deleted, because some files failed: mend that and run it again',
      );
    if (sources === 0 && !options.deletesAll)
      throw new CommandError(
        'misused',
        `The source has no files, and --delete would delete all ${wanted} files of the target: add --yes if you want that`,
      );
    for await (const deletion of spool.read()) await startDeletion(run, deletion, options);
    await run.settle();
  } finally {
    await spool.remove();
  }
}

async function startDeletion(run: TransferRun, deletion: Deletion, options: SyncOptions): Promise<void> {
  const { label, id, path } = deletion;
  if (options.plan !== null) {
    options.plan('delete', label);
    return;
  }
  await run.start({
    label,
    action: 'delete',
    size: 0,
    memoryBytes: 0,
    work: async () => {
      if (id !== undefined) await deleteFile(options.holder, id, run.signal);
      if (path !== undefined) await deleteLocal(options.root, path);
      return {};
    },
  });
}

/** With the folders that become empty. */
async function deleteLocal(root: string, path: string): Promise<void> {
  await unlink(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  for (let folder = dirname(path); relative(root, folder) !== ''; folder = dirname(folder)) {
    if (relative(root, folder).startsWith('..')) return;
    const isGone = await rmdir(folder).then(
      () => true,
      () => false,
    );
    if (!isGone) return;
  }
}

interface Spool {
  add(deletion: Deletion): Promise<void>;
  read(): AsyncGenerator<Deletion>;
  remove(): Promise<void>;
}

/** On disk, because there may be very many. */
async function createSpool(): Promise<Spool> {
  const folder = await mkdtemp(join(tmpdir(), 'pakhus-sync-'));
  const path = join(folder, 'deletions');
  let stream: WriteStream | undefined;
  return {
    async add(deletion) {
      stream ??= createWriteStream(path, { mode: 0o600 });
      if (!stream.write(`${JSON.stringify(deletion)}\n`)) await once(stream, 'drain');
    },
    async *read() {
      if (stream === undefined) return;
      stream.end();
      await once(stream, 'close');
      for await (const line of createInterface({ input: createReadStream(path, 'utf8') }))
        yield JSON.parse(line) as Deletion;
    },
    async remove() {
      stream?.destroy();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
