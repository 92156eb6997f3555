// A small file in one request. It may be repeated: its idempotency key stays the same.
import { isTransient } from '../http.ts';
import type { StoredFile } from '../types.ts';
import type { Job } from './job.ts';
import { type Chunk, encode, join } from './source.ts';

export async function sendForm(job: Job): Promise<StoredFile> {
  const { http, user, size, options } = job;
  const chunk = await job.source.read(0, size ?? Number.MAX_SAFE_INTEGER);
  const form = toForm('file', chunk, job, job.fields);
  const { idempotencyKey = crypto.randomUUID() } = options;
  const { file } = await job.control.attempt(
    (signal) =>
      http.create(
        'POST /project/users/{userId}/files',
        { params: [user], ...form, retries: 0 },
        { signal, idempotencyKey },
      ),
    (error) => isTransient(error, idempotencyKey !== null),
  );
  job.meter.store(file.size);
  return file;
}

/** The body of a form with one file, and its type. */
interface Form {
  readonly form: BodyInit;
  readonly headers: Readonly<Record<string, string>>;
}

/** Put together here: with FormData, a runtime spends more time on streams of blobs than on the request. */
export function toForm(
  field: 'file' | 'image',
  chunk: Chunk,
  { name, mimeType }: { readonly name: string; readonly mimeType: string },
  fields: object,
): Form {
  const boundary = crypto.randomUUID();
  const part = (header: string) =>
    `\r\n--${boundary}\r\ncontent-disposition: form-data; name=${header}\r\n\r\n`;
  const file = part(
    `${field}; filename*=UTF-8''${encodeURIComponent(name)}\r\ncontent-type: ${mimeType.replace(/\s/g, ' ')}`,
  );
  const parts = [
    encode(part('meta') + JSON.stringify(fields) + file),
    chunk,
    encode(`\r\n--${boundary}--\r\n`),
  ] as const;
  return {
    form: chunk instanceof Blob ? new Blob([...parts]) : join(parts as readonly Uint8Array[]),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  };
}
