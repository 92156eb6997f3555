// Objects in an S3-compatible store. A body that fits one part is one PUT of known length, a longer one a
// multipart upload with one part in flight; nothing that a reader could see appears before all of it is there.
import { createHash, type Hash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { outage, PakhusError } from '../../kernel/error.js';
import { encodePath } from '../../kernel/sigv4.js';
import { type BodyReader, createBodyReader } from './body-reader.js';
import { assertKey, assertRange, isKey } from './object-key.js';
import type { ObjectInfo, ObjectMeta, ObjectStore, Shelf, StoredObject } from './object-store.js';
import { createPartBuffers } from './part-buffers.js';
import {
  createS3Client,
  headerOf,
  isStoreFault,
  type S3Call,
  type S3ClientOptions,
  S3Fault,
  type S3Headers,
} from './s3-client.js';
import { blocksOf, decodeListedKey, escapeXml, textOf } from './s3-xml.js';

export interface S3StoreOptions extends S3ClientOptions {
  readonly bucket: string;
  /** Without one, public objects live beside the private ones. */
  readonly publicBucket?: string;
  /** All parts but the last are of this size, as some stores insist; S3 takes at least 5 MiB and 10,000 parts. */
  readonly partBytes?: number;
  /** Bounds what all streamed uploads together hold in memory. */
  readonly bufferBytesMax?: number;
  readonly bufferWaitMaxMs?: number;
  /** Completing and copying may take the server long before it says a word. */
  readonly thinkTimeoutMs?: number;
  /** The time that is spent on ending a multipart upload that failed. The sweep gets the rest. */
  readonly abortTimeoutMs?: number;
  /** Longer objects are copied in parts of this size. */
  readonly copyPartBytes?: number;
  /** A health check is asked often and must not wait as long as an upload. */
  readonly checkTimeoutMs?: number;
}

interface Part {
  readonly number: number;
  readonly etag: string;
}

interface Upload {
  readonly bucket: string;
  readonly key: string;
  readonly id: string;
  /** Stored with the object, so that it can be told from any other that had the same key. */
  readonly mark: string;
}

interface Address {
  readonly bucket: string;
  readonly key: string;
}

const markHeader = 'x-amz-meta-pakhus-upload';
/** A streamed body of at most this size takes no part buffer. */
const smallBytes = 64 << 10;
const partsMax = 10_000;
const deletesMax = 1_000;
const presignSecondsMax = 7 * 86_400;

export function createS3Store(options: S3StoreOptions): ObjectStore {
  const {
    partBytes = 8 << 20,
    bufferBytesMax = 256 << 20,
    bufferWaitMaxMs = 15_000,
    thinkTimeoutMs = 45_000,
    abortTimeoutMs = 5_000,
    copyPartBytes = 512 << 20,
    checkTimeoutMs = 3_000,
  } = options;
  const client = createS3Client(options);
  const buffers = createPartBuffers(
    partBytes,
    Math.max(1, Math.floor(bufferBytesMax / partBytes)),
    bufferWaitMaxMs,
  );
  const bucketOf: Record<Shelf, string> = {
    private: options.bucket,
    public: options.publicBucket ?? options.bucket,
  };
  const variables = new Map([[options.bucket, 'S3_BUCKET']]);
  if (options.publicBucket && !variables.has(options.publicBucket)) {
    variables.set(options.publicBucket, 'S3_PUBLIC_BUCKET');
  }

  function addressOf(shelf: Shelf, key: string): Address {
    assertKey(key);
    return { bucket: bucketOf[shelf], key };
  }

  async function putWhole(
    at: Address,
    body: Buffer,
    digest: Buffer,
    meta: ObjectMeta,
    signal?: AbortSignal,
  ): Promise<StoredObject> {
    const headers = { ...headersOf(meta), 'content-md5': digest.toString('base64') };
    const reply = await client.send({ method: 'PUT', ...at, headers, body, signal });
    return { bytes: body.length, etag: etagIn(reply.headers) ?? `"${digest.toString('hex')}"` };
  }

  async function putStream(
    at: Address,
    reader: BodyReader,
    meta: ObjectMeta,
    signal?: AbortSignal,
  ): Promise<StoredObject> {
    const start = await reader.gather(smallBytes);
    if (reader.ended) {
      const body = Buffer.concat(start);
      return putWhole(at, body, md5(body), meta, signal);
    }
    const buffer = await buffers.take(signal);
    try {
      const hash = createHash('md5');
      let length = 0;
      for (const chunk of start) {
        hash.update(chunk);
        length += chunk.copy(buffer, length);
      }
      length = await reader.fill(buffer, length, hash);
      if (reader.ended) return await putWhole(at, buffer.subarray(0, length), hash.digest(), meta, signal);
      return await putParts(at, reader, buffer, hash, meta, signal);
    } finally {
      buffers.give(buffer);
    }
  }

  /** Goes on where the buffer holds the first part, whole, and `first` has hashed it. */
  async function putParts(
    at: Address,
    reader: BodyReader,
    buffer: Buffer,
    first: Hash,
    meta: ObjectMeta,
    signal?: AbortSignal,
  ): Promise<StoredObject> {
    return withUpload(at, meta, signal, async (upload) => {
      const parts: Part[] = [];
      let bytes = 0;
      let hash = first;
      for (let length = buffer.length; length > 0; length = await reader.fill(buffer, 0, hash)) {
        parts.push(
          await putPart(upload, parts.length + 1, buffer.subarray(0, length), hash.digest(), signal),
        );
        bytes += length;
        hash = createHash('md5');
      }
      return { parts, bytes };
    });
  }

  async function putPart(
    upload: Upload,
    number: number,
    body: Buffer,
    digest: Buffer,
    signal?: AbortSignal,
  ): Promise<Part> {
    if (number > partsMax) throw new Error(`An object takes at most ${partsMax} parts of ${partBytes} bytes`);
    const reply = await client.send({
      method: 'PUT',
      bucket: upload.bucket,
      key: upload.key,
      query: partQuery(upload, number),
      headers: { 'content-md5': digest.toString('base64') },
      body,
      signal,
    });
    return { number, etag: etagIn(reply.headers) ?? `"${digest.toString('hex')}"` };
  }

  /** Begins a multipart upload, lets `send` fill it, and completes it; if anything fails, ends it. */
  async function withUpload(
    at: Address,
    meta: ObjectMeta,
    signal: AbortSignal | undefined,
    send: (upload: Upload) => Promise<{ parts: Part[]; bytes: number }>,
  ): Promise<StoredObject> {
    const mark = randomUUID();
    const headers = { ...headersOf(meta), [markHeader]: mark };
    const reply = await client.send({ method: 'POST', ...at, query: [['uploads', '']], headers, signal });
    const id = textOf(reply.text, 'UploadId');
    if (!id) throw outage('storage', 'The object store began an upload without an id');
    const upload: Upload = { ...at, id, mark };
    try {
      const { parts, bytes } = await send(upload);
      return await complete(upload, parts, bytes, signal);
    } catch (error) {
      await abandon(upload);
      throw error;
    }
  }

  async function complete(
    upload: Upload,
    parts: readonly Part[],
    bytes: number,
    signal?: AbortSignal,
  ): Promise<StoredObject> {
    const { bucket, key } = upload;
    let acknowledged = true;
    try {
      await client.send({
        method: 'POST',
        bucket,
        key,
        query: [['uploadId', upload.id]],
        headers: { 'content-type': 'application/xml' },
        body: Buffer.from(completionOf(parts)),
        mayFailInside: true,
        idleTimeoutMs: thinkTimeoutMs,
        signal,
      });
    } catch (error) {
      // A lost reply makes the next try find the upload gone: then only the object itself can tell.
      if (!(error instanceof S3Fault && error.code === 'NoSuchUpload')) throw error;
      acknowledged = false;
    }
    const { headers } = await client.send({ method: 'HEAD', bucket, key, signal });
    const isOurs = headerOf(headers, markHeader) === upload.mark;
    // Another put may have overwritten what was acknowledged; that is a success of both.
    if (!isOurs && acknowledged) return { bytes, etag: '""' };
    if (!isOurs || bytesIn(headers) !== bytes)
      throw outage('storage', 'The object store completed an upload that is not there whole');
    return { bytes, etag: etagIn(headers) ?? '""' };
  }

  /** Best effort, within its own limit and not the caller's: the caller's signal may be why we are here. */
  async function abandon({ bucket, key, id }: Upload): Promise<void> {
    const signal = AbortSignal.timeout(abortTimeoutMs);
    await client
      .send({ method: 'DELETE', bucket, key, query: [['uploadId', id]], signal })
      .catch(() => undefined);
  }

  async function copyWhole(source: Address, target: Address, meta: ObjectMeta): Promise<void> {
    await client.send({
      method: 'PUT',
      ...target,
      headers: {
        ...headersOf(meta),
        'x-amz-copy-source': copySource(source),
        'x-amz-metadata-directive': 'REPLACE',
      },
      mayFailInside: true,
      idleTimeoutMs: thinkTimeoutMs,
    });
  }

  async function copyParts(source: Address, target: Address, bytes: number, meta: ObjectMeta): Promise<void> {
    await withUpload(target, meta, undefined, async (upload) => {
      const parts: Part[] = [];
      for (let start = 0; start < bytes; start += copyPartBytes) {
        const end = Math.min(start + copyPartBytes, bytes) - 1;
        parts.push(await copyPart(upload, parts.length + 1, source, `bytes=${start}-${end}`));
      }
      return { parts, bytes };
    });
  }

  async function copyPart(upload: Upload, number: number, source: Address, range: string): Promise<Part> {
    const reply = await client.send({
      method: 'PUT',
      bucket: upload.bucket,
      key: upload.key,
      query: partQuery(upload, number),
      headers: { 'x-amz-copy-source': copySource(source), 'x-amz-copy-source-range': range },
      mayFailInside: true,
      idleTimeoutMs: thinkTimeoutMs,
    });
    const etag = textOf(reply.text, 'ETag');
    if (!etag) throw outage('storage', 'The object store copied a part without an ETag');
    return { number, etag };
  }

  async function deleteBatch(bucket: string, keys: readonly string[]): Promise<string[]> {
    const list = keys.map((key) => `<Object><Key>${escapeXml(key)}</Key></Object>`).join('');
    const body = Buffer.from(`<Delete><Quiet>true</Quiet>${list}</Delete>`);
    const reply = await client.send({
      method: 'POST',
      bucket,
      query: [['delete', '']],
      headers: { 'content-type': 'application/xml', 'content-md5': md5(body).toString('base64') },
      body,
    });
    if (!reply.text.includes('DeleteResult'))
      throw outage('storage', 'The object store did not say what it deleted');
    return blocksOf(reply.text, 'Error')
      .filter((error) => textOf(error, 'Code') !== 'NoSuchKey')
      .map((error) => textOf(error, 'Key') ?? '');
  }

  async function* listBucket(bucket: string, prefix: string): AsyncGenerator<string> {
    for (let after: string | undefined, more = true; more; ) {
      const query: [string, string][] = [
        ['list-type', '2'],
        ['encoding-type', 'url'],
        ['prefix', prefix],
      ];
      if (after !== undefined) query.push(['continuation-token', after]);
      const { text } = await guard('list', () => client.send({ method: 'GET', bucket, query }));
      for (const block of blocksOf(text, 'Contents')) yield decodeListedKey(textOf(block, 'Key') ?? '');
      after = textOf(text, 'NextContinuationToken');
      more = textOf(text, 'IsTruncated') === 'true' && after !== undefined;
    }
  }

  async function* listUploads(bucket: string): AsyncGenerator<{ upload: Upload; initiatedAt: Date }> {
    for (let after: [string, string][] = [], more = true; more; ) {
      const query: [string, string][] = [['uploads', ''], ['encoding-type', 'url'], ...after];
      const { text } = await client.send({ method: 'GET', bucket, query });
      for (const block of blocksOf(text, 'Upload')) {
        const key = decodeListedKey(textOf(block, 'Key') ?? '');
        const id = textOf(block, 'UploadId') ?? '';
        yield {
          upload: { bucket, key, id, mark: '' },
          initiatedAt: new Date(textOf(block, 'Initiated') ?? NaN),
        };
      }
      after = [
        ['key-marker', decodeListedKey(textOf(text, 'NextKeyMarker') ?? '')],
        ['upload-id-marker', textOf(text, 'NextUploadIdMarker') ?? ''],
      ];
      more = textOf(text, 'IsTruncated') === 'true' && after[0]?.[1] !== '';
    }
  }

  /** False where it was gone already. */
  async function endUpload({ bucket, key, id }: Upload): Promise<boolean> {
    try {
      await client.send({ method: 'DELETE', bucket, key, query: [['uploadId', id]] });
      return true;
    } catch (error) {
      if (isAbsent(error)) return false;
      throw error;
    }
  }

  return {
    kind: 's3',
    separatesPublic: bucketOf.public !== bucketOf.private,

    async put(shelf, key, body, meta, signal) {
      if (Buffer.isBuffer(body)) {
        const at = addressOf(shelf, key);
        return guard('put', () => putWhole(at, body, md5(body), meta, signal), signal);
      }
      let bodyFault: { readonly error: unknown } | undefined;
      const reader = noting(createBodyReader(body, signal), (error) => {
        bodyFault = { error };
      });
      try {
        const at = addressOf(shelf, key);
        return await guard('put', () => putStream(at, reader, meta, signal), signal);
      } catch (error) {
        throw bodyFault ? bodyFault.error : error;
      } finally {
        reader.close();
      }
    },

    get: (shelf, key, range, signal) =>
      guard(
        'get',
        async () => {
          if (range) assertRange(range);
          const headers: Record<string, string> = range ? { range: `bytes=${range.start}-${range.end}` } : {};
          try {
            const call: S3Call = { method: 'GET', ...addressOf(shelf, key), headers, signal };
            return new GuardedBody(await client.open(call), signal);
          } catch (error) {
            if (error instanceof S3Fault && error.status === 416) return Readable.from([]);
            if (isAbsent(error)) throw notFound();
            throw error;
          }
        },
        signal,
      ),

    head: (shelf, key) =>
      guard('head', async () => {
        try {
          return infoOf((await client.send({ method: 'HEAD', ...addressOf(shelf, key) })).headers);
        } catch (error) {
          if (isAbsent(error)) return null;
          throw error;
        }
      }),

    delete: (shelf, key) =>
      guard('delete', async () => {
        try {
          await client.send({ method: 'DELETE', ...addressOf(shelf, key) });
        } catch (error) {
          if (!isAbsent(error)) throw error;
        }
      }),

    deleteMany: (shelf, keys) =>
      guard('deleteMany', async () => {
        for (const key of keys) assertKey(key);
        const failed: string[] = [];
        for (let at = 0; at < keys.length; at += deletesMax) {
          failed.push(...(await deleteBatch(bucketOf[shelf], keys.slice(at, at + deletesMax))));
        }
        return failed;
      }),

    copy: (from, to, key, meta) =>
      guard('copy', async () => {
        const source = addressOf(from, key);
        const target = addressOf(to, key);
        try {
          const bytes = bytesIn((await client.send({ method: 'HEAD', ...source })).headers);
          if (bytes > copyPartBytes) await copyParts(source, target, bytes, meta);
          else await copyWhole(source, target, meta);
        } catch (error) {
          if (isAbsent(error)) throw notFound();
          throw error;
        }
      }),

    downloadUrl(key, { contentType, contentDisposition, expiresInSeconds }) {
      if (expiresInSeconds > presignSecondsMax) throw new Error('S3 signs for at most 7 days');
      const { bucket } = addressOf('private', key);
      return client.presignGet(
        bucket,
        key,
        [
          ['response-content-disposition', contentDisposition],
          ['response-content-type', contentType],
        ],
        expiresInSeconds,
      );
    },

    list: (shelf, prefix = '') => listBucket(bucketOf[shelf], prefix),

    sweepUnfinished: (olderThan) =>
      guard('sweep', async () => {
        let swept = 0;
        for (const bucket of variables.keys()) {
          for await (const { upload, initiatedAt } of listUploads(bucket)) {
            // What has no key of ours is someone else's upload in a shared bucket.
            if (!isKey(upload.key) || !(initiatedAt < olderThan)) continue;
            if (await endUpload(upload)) swept += 1;
          }
        }
        return swept;
      }),

    async check() {
      for (const [bucket, variable] of variables) {
        try {
          await client.send({ method: 'HEAD', bucket, triesMax: 2, idleTimeoutMs: checkTimeoutMs });
        } catch (error) {
          throw outage('storage', `${variable} "${bucket}" ${complaintOf(error)}`, error);
        }
      }
    },

    close: () => client.close(),
  };
}

/** A body from the network whose failure half way is told as an outage. */
class GuardedBody extends Readable {
  readonly #source: Readable;

  constructor(source: Readable, signal: AbortSignal | undefined) {
    super({ highWaterMark: 256 << 10 });
    this.#source = source;
    source.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) source.pause();
    });
    source.on('end', () => this.push(null));
    source.on('error', (error) => {
      const isCallers = signal?.aborted === true && signal.reason instanceof Error;
      this.destroy(isCallers ? signal.reason : outage('storage', 'The object store failed at get', error));
    });
    source.pause();
  }

  override _read(): void {
    this.#source.resume();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#source.destroy();
    done(error);
  }
}

/** Tells the faults of the body from those of the store: both surface in one put. */
function noting(reader: BodyReader, note: (error: unknown) => void): BodyReader {
  const tell = (error: unknown): never => {
    note(error);
    throw error;
  };
  return {
    get ended() {
      return reader.ended;
    },
    gather: (bytesMax) => reader.gather(bytesMax).catch(tell),
    fill: (target, offset, hash) => reader.fill(target, offset, hash).catch(tell),
    close: () => reader.close(),
  };
}

/** What the store or the network did wrong is an outage; the caller's abort and our own bugs pass as they are. */
async function guard<T>(what: string, run: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await run();
  } catch (error) {
    signal?.throwIfAborted();
    if (!isStoreFault(error)) throw error;
    throw outage('storage', `The object store failed at ${what}`, error);
  }
}

function complaintOf(error: unknown): string {
  if (!(error instanceof S3Fault)) return 'cannot be asked for: the object store is not reachable';
  if (error.status === 404) return 'does not exist';
  if (error.status === 403) return 'is refused to these credentials';
  const region = headerOf(error.headers, 'x-amz-bucket-region');
  return region ? `is in the region ${region}` : `cannot be used: ${error.message}`;
}

// Values come from names and types that clients chose, encoded by the caller; anything else is a bug.
function headersOf(meta: ObjectMeta): Record<string, string> {
  for (const value of [meta.contentType, meta.contentDisposition]) {
    if (!/^[\x20-\x7e]*$/.test(value)) throw new Error('A header of an object must be printable ASCII');
  }
  return { 'content-type': meta.contentType, 'content-disposition': meta.contentDisposition };
}

function completionOf(parts: readonly Part[]): string {
  const list = parts.map(
    ({ number, etag }) => `<Part><PartNumber>${number}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`,
  );
  return `<CompleteMultipartUpload>${list.join('')}</CompleteMultipartUpload>`;
}

function partQuery(upload: Upload, number: number): [string, string][] {
  return [
    ['partNumber', String(number)],
    ['uploadId', upload.id],
  ];
}

function copySource({ bucket, key }: Address): string {
  return encodePath(`/${bucket}/${key}`);
}

function md5(body: Buffer): Buffer {
  return createHash('md5').update(body).digest();
}

function etagIn(headers: S3Headers): string | undefined {
  return headerOf(headers, 'etag') || undefined;
}

function bytesIn(headers: S3Headers): number {
  return Number(headerOf(headers, 'content-length') ?? NaN);
}

function infoOf(headers: S3Headers): ObjectInfo {
  return {
    bytes: bytesIn(headers),
    etag: etagIn(headers) ?? '""',
    contentType: headerOf(headers, 'content-type') ?? 'application/octet-stream',
    contentDisposition: headerOf(headers, 'content-disposition') ?? 'attachment',
    modifiedAt: new Date(headerOf(headers, 'last-modified') ?? 0),
  };
}

/** A missing bucket is no missing object: that one must not look like an empty store. */
function isAbsent(error: unknown): boolean {
  return error instanceof S3Fault && error.status === 404 && error.code !== 'NoSuchBucket';
}

function notFound(): PakhusError {
  return new PakhusError('NOT_FOUND', 'There is no such object');
}
