// Uploads a file: as a form if it is small, in resumable chunks or directly to the store if it is large.
import type { Http, PathPart } from '../http.ts';
import type { StoredFile } from '../types.ts';
import { sendForm } from './form.ts';
import type { Job, Learnt, UploadOptions } from './job.ts';
import { sendDirect } from './load-direct.ts';
import { createMeter } from './progress.ts';
import { sendResumable } from './resumable.ts';
import { type Source, sizeOf, toSource, type UploadInput } from './source.ts';
import { createMemory, findLocalStorage } from './store.ts';
import { type Control, startTask, type UploadTask } from './task.ts';

const mib = 1 << 20;
const formBytesMax = 4 * mib;
const directBytesMin = 64 * mib;

export const startUpload = (
  http: Http,
  user: PathPart,
  learnt: Learnt,
  input: UploadInput,
  options: UploadOptions,
): UploadTask =>
  startTask(
    async (control) => {
      const source = toSource(input);
      try {
        return await send(await toJob(http, user, source, options, control), learnt);
      } finally {
        await source.close?.();
      }
    },
    http.retries,
    options.signal,
  );

async function toJob(
  http: Http,
  user: PathPart,
  source: Source,
  options: UploadOptions,
  control: Control,
): Promise<Job> {
  const { folder, tags, classifier, metadata, visibility, expires_at, retain_until, space_id } = options;
  const name = options.name ?? source.name ?? 'file';
  const size = source.size ?? options.size ?? (await findSmallSize(source));
  const given = {
    folder,
    tags,
    classifier,
    metadata,
    visibility,
    expires_at,
    retain_until,
    space_id,
    sha256: await findDigest(source, options),
  };
  const { fingerprint } = source;
  const place =
    fingerprint && ['pakhus', http.root, await user(), space_id, folder, name, fingerprint].join('|');
  const store = options.resumeStore === undefined ? findLocalStorage() : options.resumeStore;
  return {
    http,
    user,
    source,
    size,
    name,
    mimeType: options.mimeType || source.type || 'application/octet-stream',
    // JSON leaves out what is undefined.
    fields: given as Job['fields'],
    options,
    control,
    memory: createMemory(store, place || null),
    meter: createMeter(size, options.onProgress),
  };
}

async function send(job: Job, learnt: Learnt): Promise<StoredFile> {
  const { mode = 'auto' } = job.options;
  if (mode === 'form') return sendForm(job);
  if (mode === 'direct') return sendDirect(job);
  if (mode === 'resumable' || job.size === null) return sendResumable(job);
  if (job.size <= formBytesMax)
    // In a form, the server takes a backslash for the end of a folder.
    return job.name.includes('\\') ? sendResumable(job) : sendForm(job);
  const isForPrograms = typeof XMLHttpRequest !== 'function';
  const isDirect =
    isForPrograms && learnt.isDirectWorthwhile && job.source.isSeekable && job.size >= directBytesMin;
  return isDirect ? sendDirect(job, learnt) : sendResumable(job);
}

/** The size of a stream that ends soon, or null. */
async function findSmallSize(source: Source): Promise<number | null> {
  const bytes = sizeOf(await source.read(0, formBytesMax + 1));
  return bytes > formBytesMax ? null : bytes;
}

async function findDigest(source: Source, { sha256 }: UploadOptions): Promise<string | undefined> {
  if (sha256 !== true) return sha256;
  if (source.sha256) return source.sha256();
  const bytes = await new Response(await source.read(0, source.size ?? formBytesMax)).arrayBuffer();
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
