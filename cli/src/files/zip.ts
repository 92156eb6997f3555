// Downloads a zip into NAME.pakhus-part, which a later run continues as long as the service has the same zip.
import { constants } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { PakhusError, type ResumeStore } from '@pakhus/client/node';
import type { Holder } from './place.ts';
import { partPath, refuseOccupied, retrying } from './receive.ts';

/** One of the two. */
export interface ZipSelection {
  readonly folder?: string;
  readonly ids?: readonly string[];
}

export interface ZipReceiving {
  readonly store: ResumeStore;
  readonly signal: AbortSignal;
  readonly onBytes: (loaded: number) => void;
}

/** What a part holds the beginning of. */
interface Begun {
  readonly etag: string;
  readonly total: number;
}

interface PartState {
  size: number;
  begun: Begun | null;
}

export async function receiveZip(
  holder: Holder,
  selection: ZipSelection,
  path: string,
  receiving: ZipReceiving,
): Promise<{ readonly size: number }> {
  const { store, signal } = receiving;
  await refuseOccupied(path);
  const part = partPath(path);
  const begun = await readBegun(store, part);
  const flags = constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
  const handle = await open(part, flags, 0o666);
  const state: PartState = { size: begun === null ? 0 : (await handle.stat()).size, begun };
  try {
    // The last byte is asked for again, because a range that begins at the end is refused.
    if (begun !== null) state.size = Math.min(state.size, begun.total - 1);
    await retrying(signal, state, () => readOn(holder, selection, part, handle, state, receiving));
    await handle.truncate(state.size);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(part, path);
  await store.delete(part);
  return { size: state.size };
}

async function readBegun(store: ResumeStore, part: string): Promise<Begun | null> {
  try {
    const { etag, total } = JSON.parse((await store.get(part)) ?? '{}') as Partial<Begun>;
    return typeof etag === 'string' && typeof total === 'number' ? { etag, total } : null;
  } catch {
    return null;
  }
}

/** Null if it cannot be continued: a proxy may have removed what that needs. */
function beginningOf(headers: Headers): Begun | null {
  const etag = headers.get('etag');
  const length = headers.get('content-length');
  return etag === null || etag.startsWith('W/') || length === null ? null : { etag, total: Number(length) };
}

async function readOn(
  { user, spaceId }: Holder,
  selection: ZipSelection,
  part: string,
  handle: FileHandle,
  state: PartState,
  { store, signal, onBytes }: ZipReceiving,
): Promise<void> {
  const response = await user.files.zip({
    ...selection,
    ...(spaceId !== undefined && { space_id: spaceId }),
    ...(state.begun && state.size > 0 && { range: [state.size], ifRange: state.begun.etag }),
    signal,
  });
  if (response.status !== 206 || state.begun === null) {
    state.begun = beginningOf(response.headers);
    state.size = 0;
    await handle.truncate(0);
    if (state.begun) await store.set(part, JSON.stringify(state.begun));
  }
  for await (const chunk of response.body ?? []) {
    await handle.write(chunk, 0, chunk.byteLength, state.size);
    state.size += chunk.byteLength;
    onBytes(state.size);
  }
  if (state.begun && state.size !== state.begun.total)
    throw new PakhusError('NETWORK_ERROR', 'The connection was closed too early');
}
