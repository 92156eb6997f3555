// Downloads an image of a variant into NAME.pakhus-part, which gets its name when it is whole.
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, rename, rm } from 'node:fs/promises';
import { PakhusError } from '@pakhus/client/node';
import { CommandError } from '../frame/failure.ts';
import type { Holder } from './place.ts';
import { partPath, refuseOccupied, retrying } from './receive.ts';

export interface ImageReceiving {
  /** Where to, by the format that the service delivers: `webp`. */
  readonly toPath: (format: string) => string;
  /** Overwrite a file that is there. */
  readonly force: boolean;
  readonly signal: AbortSignal;
}

export interface ReceivedImage {
  readonly path: string;
  readonly size: number;
}

/** Images are small: an interrupted download begins anew. */
export async function receiveImage(
  { user }: Holder,
  fileId: string,
  variant: string,
  { toPath, force, signal }: ImageReceiving,
): Promise<ReceivedImage> {
  const state = { size: 0, path: '' };
  await retrying(signal, { size: 0 }, async () => {
    const response = await user.files.content(fileId, { variant, signal });
    const type = response.headers.get('content-type') ?? '';
    state.path = toPath(type.replace(/^image\//, '').replace(/\W.*$/, ''));
    await refuseTarget(state.path, force);
    state.size = await writeWhole(response, state.path);
  });
  return state;
}

async function refuseTarget(path: string, force: boolean): Promise<void> {
  await refuseOccupied(path);
  const isThere = (await lstat(path).catch(() => null)) !== null;
  if (isThere && !force) throw new CommandError('failed', `${path} is there already: --force overwrites it`);
}

async function writeWhole(response: Response, path: string): Promise<number> {
  const part = partPath(path);
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW = 0 } = constants;
  const handle = await open(part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o666);
  try {
    const size = await writeTo(handle, response);
    await handle.sync();
    await rename(part, path);
    return size;
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}

async function writeTo(handle: FileHandle, { body, headers }: Response): Promise<number> {
  let size = 0;
  for await (const chunk of body ?? []) {
    await handle.write(chunk);
    size += chunk.byteLength;
  }
  const length = headers.get('content-length');
  if (length !== null && size !== Number(length))
    throw new PakhusError('NETWORK_ERROR', 'The connection was closed too early');
  return size;
}
