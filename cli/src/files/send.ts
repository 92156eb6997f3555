// Sends one local file, with its sha256. An interrupted upload of a large file is continued by the next run.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import {
  fromPath,
  PakhusError,
  type ResumeStore,
  type StoredFile,
  type UploadOptions,
  type UploadTask,
} from '@pakhus/client/node';
import { CommandError } from '../frame/failure.ts';
import type { LocalFile } from './local.ts';
import { findType } from './mime.ts';
import { whyNotRemote } from './names.ts';
import type { Holder } from './place.ts';

/** What a person says about the files. */
export interface FileFacts {
  readonly tags?: string[];
  readonly classifier?: string;
  readonly visibility?: 'private' | 'public';
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly type?: string | undefined;
  readonly expires_at?: string;
  readonly retain_until?: string;
}

export interface SendTarget {
  readonly holder: Holder;
  readonly folder: string;
  readonly name: string;
  readonly facts: FileFacts;
}

export interface SendOptions {
  readonly store: ResumeStore;
  readonly signal: AbortSignal;
  readonly onBytes: (loaded: number) => void;
}

/** Read once, hashed and sent from memory. The client sends them as one request. */
const smallBytesMax = 4 << 20;
const chunkBytes = 8 << 20;
const directBytesMin = 64 << 20;
const directPartsBytes = 64 << 20;

/** What an upload keeps in memory at most. */
export const sendingBytes = ({ size }: LocalFile): number =>
  size >= directBytesMin ? directPartsBytes : Math.min(size, chunkBytes);

export async function sendFile(
  file: LocalFile,
  target: SendTarget,
  options: SendOptions,
): Promise<StoredFile> {
  refuseName(target.name);
  // A form cannot keep a backslash.
  const isForm = file.size <= smallBytesMax && !target.name.includes('\\');
  return isForm ? sendSmall(file, target, options) : sendLarge(file, target, options);
}

async function sendLarge(file: LocalFile, target: SendTarget, options: SendOptions): Promise<StoredFile> {
  const task = target.holder.user.files.upload(await fromPath(file.path), {
    ...toUploadOptions(target, { mtime: toIso(file.mtimeMs) }),
    sha256: true,
    mode: file.size <= smallBytesMax ? 'resumable' : 'auto',
    resumeStore: options.store,
    onProgress: ({ loaded }) => options.onBytes(loaded),
  });
  return leaveWhenInterrupted(task, options.signal);
}

const attemptsMax = 5;
const firstPauseMs = 1000;

/**
 * Without idempotency keys, which cost the service three times as much as the upload: if an answer is lost, the file is
 * looked for before it is sent again.
 */
async function sendSmall(file: LocalFile, target: SendTarget, options: SendOptions): Promise<StoredFile> {
  const { signal, onBytes } = options;
  const { bytes, sha256 } = await readSmall(file);
  const uploadOptions = {
    ...toUploadOptions(target, { mtime: toIso(file.mtimeMs) }),
    sha256,
    mode: 'form',
    idempotencyKey: null,
    resumeStore: null,
  } as const;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const stored = await leaveWhenInterrupted(
        target.holder.user.files.upload(bytes, uploadOptions),
        signal,
      );
      onBytes(bytes.byteLength);
      return stored;
    } catch (error) {
      signal.throwIfAborted();
      if (attempt >= attemptsMax || !isOutcomeUnknown(error)) throw error;
      await delay(firstPauseMs * 2 ** (attempt - 1), undefined, { signal });
      const stored = await findStored(target, sha256, signal);
      if (stored !== null) return stored;
    }
  }
}

const isOutcomeUnknown = (error: unknown): boolean =>
  error instanceof PakhusError && (error.code === 'NETWORK_ERROR' || [502, 504].includes(error.status));

/** Among those that were stored lately: others may be sent to the same folder at the same time. */
const recentMax = 500;

async function findStored(
  { holder: { user, spaceId }, folder, name }: SendTarget,
  sha256: string,
  signal: AbortSignal,
): Promise<StoredFile | null> {
  let seen = 0;
  const query = { folder, limit: 100, ...(spaceId !== undefined && { space_id: spaceId }) };
  for await (const file of user.files.list(query, { signal })) {
    if (file.name === name && file.sha256 === sha256) return user.files.get(file.id, { signal });
    seen += 1;
    if (seen >= recentMax) break;
  }
  return null;
}

/** Sends what comes from a pipe. */
export async function sendStream(
  input: Readable,
  target: SendTarget,
  { signal, onBytes }: Omit<SendOptions, 'store'>,
): Promise<StoredFile> {
  refuseName(target.name);
  const { files } = target.holder.user;
  const hash = createHash('sha256');
  async function* hashed(): AsyncGenerator<Uint8Array> {
    for await (const chunk of input) {
      hash.update(chunk);
      yield chunk;
    }
  }
  const options = { ...toUploadOptions(target, {}), signal, resumeStore: null };
  const file = await files.upload(hashed(), { ...options, onProgress: ({ loaded }) => onBytes(loaded) });
  const sent = hash.digest('hex');
  if (file.sha256 && file.sha256 !== sent) {
    await files.delete(file.id, { signal });
    throw new CommandError('failed', 'The file was damaged on its way and deleted again: send it once more');
  }
  return file;
}

function refuseName(name: string): void {
  const why = whyNotRemote(name);
  if (why !== null)
    throw new CommandError('misused', `The name ${JSON.stringify(name)} ${why}: rename the file`);
}

export function toUploadOptions(
  { holder: { spaceId }, folder, name, facts }: SendTarget,
  ownMetadata: Readonly<Record<string, unknown>>,
): UploadOptions {
  const { type, metadata, ...rest } = facts;
  return {
    ...rest,
    name,
    folder,
    mimeType: type ?? findType(name),
    metadata: { ...metadata, ...ownMetadata },
    ...(spaceId !== undefined && spaceId !== 'none' && { space_id: spaceId }),
  };
}

/** Disks round down what was set in milliseconds. */
export const toIso = (mtimeMs: number): string => new Date(Math.round(mtimeMs)).toISOString();

/** Up to here, handing a read over to a thread costs more than the read. */
const syncBytesMax = 64 << 10;

async function readSmall({
  path,
  size,
}: LocalFile): Promise<{ bytes: Uint8Array<ArrayBuffer>; sha256: string }> {
  const bytes = new Uint8Array(size <= syncBytesMax ? readFileSync(path) : await readFile(path));
  if (bytes.byteLength !== size)
    throw new CommandError('failed', 'The file changed while it was read: run it again');
  return { bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
}

/** Aborting would delete what the service has; pausing leaves it for the next run. */
const leaveWhenInterrupted = (task: UploadTask, signal: AbortSignal): Promise<StoredFile> =>
  new Promise((resolve, reject) => {
    const leave = () => {
      task.pause();
      reject(signal.reason);
    };
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    task.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
