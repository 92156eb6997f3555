// A file in parts that go straight to the object store, several at once.
import type { PakhusError } from '../error.ts';
import type { isTransient, statusOf } from '../http.ts';
import type { StoredFile } from '../types.ts';
import type { Job, Learnt } from './job.ts';
import type { sendResumable } from './resumable.ts';
import type { Chunk } from './source.ts';
import type { SentPart } from './store.ts';
import type { transfer } from './transfer.ts';

/**
 * What direct uploads share with the rest of the client. It is handed over, because an import would make bundlers cut the client in
 * two, and the halves compress worse than the whole.
 */
export interface Shared {
  readonly PakhusError: typeof PakhusError;
  readonly isTransient: typeof isTransient;
  readonly statusOf: typeof statusOf;
  readonly sendResumable: typeof sendResumable;
  readonly transfer: typeof transfer;
}

interface DirectJob extends Job, Shared {}

const atOnce = 4;
/** URLs asked for in one request. */
const urlsAtOnce = 20;

interface Begun {
  readonly id: string;
  readonly partSize: number;
  readonly sent: SentPart[];
  /** By the number of the part; more are asked for when they are needed. */
  readonly urls: Map<number, string>;
}

/** With `learnt`, falls back to resumable chunks if the store cannot be reached from here. */
export async function sendDirect(job: DirectJob, learnt?: Learnt): Promise<StoredFile> {
  const { http, user, size, memory, control, PakhusError, isTransient, statusOf } = job;
  if (size === null || !job.source.isSeekable)
    throw new PakhusError('INVALID_ARGUMENT', 'A direct upload needs a seekable file of known size');
  const begun = await beginOrContinue(job, size);
  const params = [user, begun.id];
  try {
    await sendParts(job, begun, learnt);
    const parts = begun.sent.sort((one, other) => one.number - other.number);
    const { file } = await control.attempt((signal) =>
      http.call('POST /project/users/{userId}/uploads/{uploadId}/complete', {
        params,
        body: { parts },
        signal,
        retries: 0,
      }),
    );
    await memory.forget();
    return file;
  } catch (error) {
    const isStuck = learnt !== undefined && statusOf(error) === 0 && begun.sent.length === 0;
    if (control.signal.aborted || isStuck || !isTransient(error)) {
      await memory.forget();
      await http
        .call('DELETE /project/users/{userId}/uploads/{uploadId}', { params, retries: 0 })
        .catch(() => undefined);
    }
    if (!isStuck || control.signal.aborted) throw error;
    learnt.isDirectWorthwhile = false;
    return job.sendResumable(job);
  }
}

async function beginOrContinue(job: DirectJob, size: number): Promise<Begun> {
  const { http, user, name, mimeType, fields, options, memory, control, statusOf } = job;
  const { id, partSize, parts = [] } = await memory.get();
  const { signal } = control;
  if (id && partSize) {
    const params = [user, id];
    const found = await http
      .call('GET /project/users/{userId}/uploads/{uploadId}', { params, signal })
      .catch((error) => (statusOf(error) === 404 ? null : Promise.reject(error)));
    if (found && ['uploading', 'completed'].includes(found.upload.status))
      return { id, partSize, sent: [...parts], urls: new Map() };
  }
  const { upload, parts: first = [] } = await http.create(
    'POST /project/users/{userId}/uploads',
    { params: [user], body: { name, size, mimeType, mode: 'direct', ...fields } },
    { signal, idempotencyKey: options.idempotencyKey },
  );
  const begun = { id: upload.id, partSize: upload.part_size ?? size };
  await memory.set(begun);
  return { ...begun, sent: [], urls: new Map(first.map(({ number, url }) => [number, url])) };
}

/** Adds to `sent`. */
async function sendParts(job: DirectJob, begun: Begun, learnt?: Learnt): Promise<void> {
  const { id, partSize, sent } = begun;
  const { meter, memory } = job;
  const size = job.size ?? 0;
  const sizeOfPart = (number: number) => Math.min(partSize, size - (number - 1) * partSize);
  const has = new Set(sent.map(({ number }) => number));
  const count = Math.ceil(size / partSize);
  const missing = Array.from({ length: count }, (_, index) => index + 1).filter((number) => !has.has(number));
  const urls = createUrls(job, begun, missing, learnt);
  const measure = () => meter.store(sent.reduce((sum, { number }) => sum + sizeOfPart(number), 0));
  measure();
  const sendNext = async (): Promise<void> => {
    for (let number = missing.shift(); number !== undefined; number = missing.shift()) {
      const body = await job.source.read((number - 1) * partSize, sizeOfPart(number));
      sent.push({ number, etag: await sendPart(job, urls, number, body) });
      measure();
      await memory.set({ id, partSize, parts: sent });
    }
  };
  const stop = (error: unknown) => {
    missing.length = 0;
    throw error;
  };
  const lanes = Array.from({ length: Math.min(atOnce, count) }, () => sendNext().catch(stop));
  // All of them have ended before anything is cleaned up.
  await Promise.allSettled(lanes);
  await Promise.all(lanes);
}

/** Resolves to the ETag. */
function sendPart(job: DirectJob, urls: Urls, number: number, body: Chunk): Promise<string> {
  const { http, meter, control, statusOf, transfer } = job;
  return control.attempt(async (signal) => {
    const put = async (url: string) => {
      const onSent = (bytes: number) => meter.inFlight(number, bytes);
      const headers = await transfer(http, url, { method: 'PUT', headers: {}, body, signal, onSent });
      return headers.get('etag') ?? Promise.reject(noEtag(job));
    };
    try {
      return await put(await urls.get(number, signal));
    } catch (error) {
      // The URL has expired while the upload was paused.
      if (statusOf(error) !== 403) throw error;
      urls.forget(number);
      return await put(await urls.get(number, signal));
    } finally {
      meter.inFlight(number, 0);
    }
  });
}

const noEtag = ({ PakhusError }: Shared) =>
  new PakhusError(
    'UNEXPECTED_ANSWER',
    'The store hides the ETag of a part: expose the header ETag in its CORS rules',
  );

interface Urls {
  get(number: number, signal: AbortSignal): Promise<string>;
  forget(number: number): void;
}

/** Asks for the URLs of the next parts as well. */
function createUrls(
  { http, user }: Job,
  { id, urls: known }: Begun,
  missing: readonly number[],
  learnt?: Learnt,
): Urls {
  return {
    async get(number, signal) {
      if (!known.has(number)) {
        const { parts } = await http.call('POST /project/users/{userId}/uploads/{uploadId}/parts', {
          params: [user, id],
          body: { numbers: [number, ...missing.slice(0, urlsAtOnce)] },
          signal,
          retries: 0,
        });
        for (const part of parts) known.set(part.number, part.url);
      }
      const url = known.get(number) ?? '';
      if (learnt && url.startsWith(http.root)) learnt.isDirectWorthwhile = false;
      return url;
    },
    forget: (number) => known.delete(number),
  };
}
