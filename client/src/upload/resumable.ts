// A file in chunks, by tus 1.0: after a failure, the server says how many bytes it has, and the rest follows.
import { type HeaderReader, PakhusError } from '../error.ts';
import { isTransient, statusOf } from '../http.ts';
import type { StoredFile } from '../types.ts';
import type { Job } from './job.ts';
import { type Chunk, encode, sizeOf, sliceOf } from './source.ts';
import { transfer } from './transfer.ts';

const defaultChunkBytes = 8 << 20;
const tus = { 'tus-resumable': '1.0.0' };

/** What the server has. `fileId` as soon as it has everything. */
interface State {
  readonly offset: number;
  readonly fileId: string | null;
}

export async function sendResumable(job: Job): Promise<StoredFile> {
  const { http, control, memory } = job;
  const known = await memory.get();
  const found = known.url ? await findState(job, known.url) : null;
  const url = found && known.url ? known.url : await createUpload(job);
  const start = found ?? { offset: 0, fileId: null };
  try {
    const fileId = start.fileId ?? (await sendChunks(job, url, start));
    await memory.forget();
    return await readFile(job, fileId);
  } catch (error) {
    if (control.signal.aborted || !isTransient(error)) {
      await memory.forget();
      await http.raw(url, { method: 'DELETE', headers: tus }).catch(() => undefined);
    }
    throw error;
  }
}

/** Null if the upload is unknown, has expired or was cancelled. */
async function findState(job: Job, url: string): Promise<State | null> {
  try {
    return await job.control.attempt((signal) => probe(job, url, signal));
  } catch (error) {
    if (statusOf(error) < 400) throw error;
    return null;
  }
}

async function probe({ http }: Job, url: string, signal: AbortSignal): Promise<State> {
  const { headers } = await http.raw(url, { method: 'HEAD', headers: tus, signal });
  return toState(headers);
}

const toState = (headers: HeaderReader): State => ({
  offset: Number(headers.get('upload-offset')),
  fileId: headers.get('pakhus-file-id'),
});

async function createUpload(job: Job): Promise<string> {
  const { http, user, size, name, mimeType, fields, memory, control, options } = job;
  if (size === null) return createDeferred(job);
  const { upload } = await http.create(
    'POST /project/users/{userId}/uploads',
    { params: [user], body: { name, size, mimeType, ...fields } },
    { signal: control.signal, idempotencyKey: options.idempotencyKey },
  );
  const { url = '' } = upload;
  await memory.set({ url });
  return url;
}

/** The size is told with the last chunk. A repetition may leave an upload behind, which expires. */
async function createDeferred({ http, user, name, mimeType, fields, control }: Job): Promise<string> {
  let url = '';
  await http.call('POST /project/users/{userId}/uploads', {
    params: [user],
    headers: {
      ...tus,
      'upload-defer-length': '1',
      'upload-metadata': toMetadata({ name, type: mimeType, ...fields }),
    },
    signal: control.signal,
    onHeaders: (headers) => {
      url = headers.get('location') ?? '';
    },
  });
  return url;
}

const toMetadata = (fields: object): string =>
  Object.entries(fields)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `${name} ${toBase64(typeof value === 'string' ? value : JSON.stringify(value))}`)
    .join();

const toBase64 = (text: string): string => btoa(String.fromCharCode(...encode(text)));

/** Resolves to the id of the file. */
async function sendChunks(job: Job, url: string, start: State): Promise<string> {
  let { offset, fileId } = start;
  job.meter.store(offset);
  while (fileId === null) {
    const chunk = await readChunk(job, offset);
    ({ offset, fileId } = await sendChunk(job, url, offset, chunk));
    job.meter.store(offset);
  }
  return fileId;
}

interface NextChunk {
  readonly bytes: Chunk;
  /** The size of the file, if it is known only now. */
  readonly length: number | null;
}

async function readChunk({ source, size, options }: Job, offset: number): Promise<NextChunk> {
  const { chunkSize = defaultChunkBytes } = options;
  const left = size === null ? Number.POSITIVE_INFINITY : size - offset;
  // One byte more than announced would show that the size is wrong.
  const isLast = left <= chunkSize;
  const bytes = await source.read(offset, isLast ? left + 1 : chunkSize);
  const count = sizeOf(bytes);
  if (size === null) return { bytes, length: count < chunkSize ? offset + count : null };
  if (isLast ? count !== left : count < chunkSize)
    throw new PakhusError('INVALID_ARGUMENT', `The file does not have the ${size} bytes that were announced`);
  return { bytes, length: null };
}

function sendChunk(job: Job, url: string, start: number, { bytes, length }: NextChunk): Promise<State> {
  return job.control.attempt(async (signal, failed) => {
    const state = failed === undefined ? { offset: start, fileId: null } : await probe(job, url, signal);
    // An empty chunk is sent, too: it ends an empty file, and a stream whose last chunk was a whole one.
    const isSent = sizeOf(bytes) > 0 && state.offset === start + sizeOf(bytes);
    if (state.fileId !== null || isSent) return state;
    const headers = {
      ...tus,
      'content-type': 'application/offset+octet-stream',
      'upload-offset': String(state.offset),
      ...(length !== null && { 'upload-length': String(length) }),
    };
    const body = sliceOf(bytes, state.offset - start);
    try {
      const onSent = (sent: number) => job.meter.inFlight(0, state.offset - start + sent);
      return toState(await transfer(job.http, url, { method: 'PATCH', headers, body, signal, onSent }));
    } finally {
      job.meter.inFlight(0, 0);
    }
  }, shouldRetry);
}

/** 409: the offset has moved, because the browser repeated the request by itself. */
const shouldRetry = (error: unknown): boolean => isTransient(error) || statusOf(error) === 409;

/** A credential without files:read gets the id alone. */
export async function readFile({ http, user, control }: Job, fileId: string): Promise<StoredFile> {
  try {
    const params = [user, fileId];
    const { signal } = control;
    return (await http.call('GET /project/users/{userId}/files/{fileId}', { params, signal })).file;
  } catch (error) {
    if (statusOf(error) !== 403) throw error;
    return { id: fileId } as StoredFile;
  }
}
