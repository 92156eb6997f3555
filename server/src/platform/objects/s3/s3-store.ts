// Objects in an S3-compatible store. A body that fits one part is one PUT of known length, a longer one a
// multipart upload with one part in flight; nothing that a reader could see appears before all of it is there.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { joined, lengthOf } from '../../../kernel/bytes.ts';
import { outage, PakhusError } from '../../../kernel/error.ts';
import { unknownMediaType } from '../../../kernel/media/media-type.ts';
import { encodeRfc3986 } from '../../../kernel/text/percent.ts';
import { type BodyReader, createBodyReader } from '../body-reader.ts';
import { assertKey, assertRange } from '../object-key.ts';
import type { ObjectInfo, ObjectMeta, ObjectStore, Zone } from '../object-store.ts';
import { createPartMemory } from './part-memory.ts';
import {
  createS3Client,
  headerOf,
  isAbsent,
  isStoreFault,
  type S3Call,
  type S3ClientOptions,
  S3Fault,
  type S3Reply,
} from './s3-client.ts';
import { headersOf, infoOf, isActive } from './s3-headers.ts';
import { partBytesFor, presignSecondsMax } from './s3-limits.ts';
import { type Address, copySource, createMultipart, type OpenUpload } from './s3-multipart.ts';
import {
  isBucket,
  isCopied,
  isDeleted,
  isDeletedMany,
  isObject,
  isObjectList,
  isObjectPart,
  isStored,
} from './s3-replies.ts';
import { blocksOf, decodeListedKey, escapeXml, textOf } from './s3-xml.ts';

export interface S3StoreOptions extends S3ClientOptions {
  readonly bucket: string;
  /** Without one, public objects live beside the private ones. */
  readonly publicBucket?: string | undefined;
  /** Of all parts but the last, as some stores insist; otherwise it follows from the length of the body. */
  readonly partBytes?: number;
  /** Bounds what all streamed uploads together hold in memory. */
  readonly memoryBytesMax?: number;
  readonly memoryWaitMaxMs?: number;
  /** Called while an upload waits for memory that others hold. */
  readonly onShortage?: (() => void) | undefined;
  /** Completing and copying may take the server long before it says a word. */
  readonly thinkTimeoutMs?: number;
  /** The time that is spent on ending a multipart upload that failed. The sweep gets the rest. */
  readonly abortTimeoutMs?: number;
  /** Longer objects are copied in parts of this size. */
  readonly copyPartBytes?: number;
  /** A health check is asked often and must not wait as long as an upload. */
  readonly checkTimeoutMs?: number;
}

/** So much of each part is in the stream's own memory; who sends no more takes none of the shared one. */
const startBytes = 64 << 10;
const slabBytes = 256 << 10;
const deletesMax = 1_000;
const plainBytes = `response-content-type=${encodeRfc3986(unknownMediaType)}`;

export function createS3Store(options: S3StoreOptions): ObjectStore {
  const {
    memoryBytesMax = 192 << 20,
    memoryWaitMaxMs = 45_000,
    thinkTimeoutMs = 45_000,
    abortTimeoutMs = 2_000,
    copyPartBytes = 512 << 20,
    checkTimeoutMs = 3_000,
  } = options;
  const client = createS3Client(options);
  const multipart = createMultipart(client, { thinkTimeoutMs, abortTimeoutMs, copyPartBytes });
  const memory = createPartMemory({
    slabBytes,
    bytesMax: memoryBytesMax,
    waitMaxMs: memoryWaitMaxMs,
    onShortage: options.onShortage,
  });
  const bucketOf: Record<Zone, string> = {
    private: options.bucket,
    public: options.publicBucket ?? options.bucket,
  };
  const variables = new Map([[options.bucket, 'S3_BUCKET']]);
  if (options.publicBucket && !variables.has(options.publicBucket)) {
    variables.set(options.publicBucket, 'S3_PUBLIC_BUCKET');
  }

  function addressOf(zone: Zone, key: string): Address {
    assertKey(key);
    return { bucket: bucketOf[zone], key };
  }

  async function putWhole(
    at: Address,
    body: readonly Buffer[],
    digest: Buffer,
    meta: ObjectMeta,
    signal?: AbortSignal,
  ): Promise<void> {
    const headers = { ...headersOf(meta), 'content-md5': digest.toString('base64') };
    await client.send({ method: 'PUT', ...at, headers, body, signal, isAnswer: isStored });
  }

  async function putStream(
    at: Address,
    reader: BodyReader,
    meta: ObjectMeta,
    bytesMax: number,
    signal?: AbortSignal,
  ): Promise<void> {
    const partBytes = options.partBytes ?? partBytesFor(bytesMax);
    let upload: OpenUpload | undefined;
    let bytesLeft = bytesMax;
    const send = async (body: readonly Buffer[], digest: Buffer) => {
      if (!upload && reader.ended) return putWhole(at, body, digest, meta, signal);
      upload ??= await multipart.begin(at, meta, signal);
      const length = lengthOf(body);
      if (length > 0) await upload.putPart(body, digest);
      bytesLeft -= length;
    };
    try {
      while (!reader.ended) await withPart(at, reader, Math.min(partBytes, bytesLeft), send, signal);
      await upload?.complete();
    } catch (error) {
      await upload?.abandon();
      throw error;
    }
  }

  /**
   * Hands the next part of a body to `send`, with its digest. Memory is lent for one part only, for no more than can
   * come, and not before some of it is here: however many uploads share it, all of them get on.
   */
  async function withPart(
    at: Address,
    reader: BodyReader,
    bytes: number,
    send: (body: readonly Buffer[], digest: Buffer) => Promise<void>,
    signal?: AbortSignal,
  ): Promise<void> {
    const start = joined(await reader.gather(startBytes));
    const hash = createHash('md5').update(start);
    if (reader.ended) return send([start], hash.digest());
    let room = bytes - start.length;
    if (room < 0) throw new Error('A body is longer than it was said to be');
    const { slabs, giveBack } = await memory.take(ownerOf(at.key), room, signal);
    try {
      const body = [start];
      for (const slab of slabs) {
        const filled = await reader.fill(slab.subarray(0, room), hash);
        body.push(filled);
        room -= filled.length;
      }
      await send(body, hash.digest());
    } finally {
      giveBack();
    }
  }

  const infoAt = async (at: Address): Promise<ObjectInfo> =>
    infoOf((await client.send({ method: 'HEAD', ...at, isAnswer: isObject })).headers);

  async function copyWhole(source: Address, target: Address, info: ObjectInfo): Promise<void> {
    // Otherwise a copy keeps the type of its source, which may be older than the rule about active content.
    const renamed = isActive(info.contentType)
      ? { 'x-amz-metadata-directive': 'REPLACE', ...headersOf(info) }
      : {};
    await client.send({
      method: 'PUT',
      ...target,
      headers: { 'x-amz-copy-source': copySource(source), ...renamed },
      isAnswer: isCopied,
      thinkTimeoutMs,
    });
  }

  async function deleteBatch(bucket: string, keys: readonly string[]): Promise<string[]> {
    const list = keys.map((key) => `<Object><Key>${escapeXml(key)}</Key></Object>`).join('');
    const body = Buffer.from(`<Delete><Quiet>true</Quiet>${list}</Delete>`);
    const reply = await client.send({
      method: 'POST',
      bucket,
      query: [['delete', '']],
      headers: { 'content-type': 'application/xml', 'content-md5': md5(body).toString('base64') },
      body: [body],
      isAnswer: isDeletedMany,
    });
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
      const { text } = await guard('list', () =>
        client.send({ method: 'GET', bucket, query, isAnswer: isObjectList }),
      );
      for (const block of blocksOf(text, 'Contents')) yield decodeListedKey(textOf(block, 'Key') ?? '');
      after = textOf(text, 'NextContinuationToken');
      more = textOf(text, 'IsTruncated') === 'true' && after !== undefined;
    }
  }

  return {
    kind: 's3',
    separatesPublic: bucketOf.public !== bucketOf.private,

    async put(zone, key, body, meta, signal, bytesMax = Number.POSITIVE_INFINITY) {
      if (Buffer.isBuffer(body)) {
        const at = addressOf(zone, key);
        return guard('put', () => putWhole(at, [body], md5(body), meta, signal), signal);
      }
      let bodyFault: { readonly error: unknown } | undefined;
      const reader = noting(createBodyReader(body, signal), (error) => {
        bodyFault = { error };
      });
      try {
        const at = addressOf(zone, key);
        return await guard('put', () => putStream(at, reader, meta, bytesMax, signal), signal);
      } catch (error) {
        throw bodyFault ? bodyFault.error : error;
      } finally {
        reader.close();
      }
    },

    get: (zone, key, range, signal) =>
      guard(
        'get',
        async () => {
          if (range) assertRange(range);
          const headers: Record<string, string> = {
            ...(range && { range: `bytes=${range.start}-${range.end}` }),
            ...(range?.etag !== undefined && { 'if-match': range.etag }),
          };
          try {
            const isAnswer = (reply: S3Reply) =>
              range ? isObjectPart(reply, range.start, range.end - range.start + 1) : isObject(reply);
            const call: S3Call = { method: 'GET', ...addressOf(zone, key), headers, signal, isAnswer };
            return new GuardedBody(await client.open(call), signal);
          } catch (error) {
            if (error instanceof S3Fault && error.status === 416) return Readable.from([]);
            if (isAbsent(error) || (error instanceof S3Fault && error.status === 412)) throw notFound();
            throw error;
          }
        },
        signal,
      ),

    head: (zone, key) =>
      guard('head', async () => {
        try {
          return await infoAt(addressOf(zone, key));
        } catch (error) {
          if (isAbsent(error)) return null;
          throw error;
        }
      }),

    delete: (zone, key) =>
      guard('delete', async () => {
        try {
          await client.send({ method: 'DELETE', ...addressOf(zone, key), isAnswer: isDeleted });
        } catch (error) {
          if (!isAbsent(error)) throw error;
        }
      }),

    deleteMany: (zone, keys) =>
      guard('deleteMany', async () => {
        for (const key of keys) assertKey(key);
        const failed: string[] = [];
        for (let at = 0; at < keys.length; at += deletesMax) {
          failed.push(...(await deleteBatch(bucketOf[zone], keys.slice(at, at + deletesMax))));
        }
        return failed;
      }),

    copy: (from, to, key) =>
      guard('copy', async () => {
        const source = addressOf(from, key);
        const target = addressOf(to, key);
        try {
          const info = await infoAt(source);
          if (info.bytes > copyPartBytes) await multipart.copyParts(source, target, info);
          else await copyWhole(source, target, info);
          // The source may be deleted because of this copy, so it has to be seen first.
          if ((await infoAt(target)).bytes !== info.bytes)
            throw outage('storage', 'The object store made a copy that is not whole');
        } catch (error) {
          if (isAbsent(error)) throw notFound();
          throw error;
        }
      }),

    // An inert type is not signed: the object has its own, which is the right one also after it was compressed.
    downloadUrl(zone, key, { contentType, contentDisposition, expiresInSeconds }) {
      if (expiresInSeconds > presignSecondsMax) throw new Error('S3 signs for at most 7 days');
      const { bucket } = addressOf(zone, key);
      const disposition = `response-content-disposition=${encodeRfc3986(contentDisposition)}`;
      const query = isActive(contentType) ? `${disposition}&${plainBytes}` : disposition;
      return client.presignGet(bucket, key, query, expiresInSeconds);
    },

    list: (zone, prefix = '') => listBucket(bucketOf[zone], prefix),

    sweepUnfinished: (olderThan, isUnderWay) =>
      guard('sweep', async () => {
        let swept = 0;
        for (const bucket of variables.keys()) {
          for await (const { upload, initiatedAt } of multipart.list(bucket)) {
            // What has no key of ours is someone else's upload in a shared bucket.
            if (!ourKey.test(upload.key) || !(initiatedAt < olderThan)) continue;
            if (await isUnderWay(upload.key)) continue;
            if (await multipart.end(upload)) swept += 1;
          }
        }
        return swept;
      }),

    async check() {
      for (const [bucket, variable] of variables) {
        try {
          const limits = { triesMax: 2, idleTimeoutMs: checkTimeoutMs };
          await client.send({ method: 'HEAD', bucket, ...limits, isAnswer: isBucket });
        } catch (error) {
          throw outage('storage', `${variable} "${bucket}" ${complaintOf(error)}`, error);
        }
      }
    },

    close: () => client.close(),
  };
}

/** The ids of a project and of a file. */
const ourKey = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Keys begin with the id of their project. */
const ownerOf = (key: string): string => key.split('/', 1)[0] ?? '';

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
    fill: (target, hash) => reader.fill(target, hash).catch(tell),
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

function md5(body: Buffer): Buffer {
  return createHash('md5').update(body).digest();
}

function notFound(): PakhusError {
  return new PakhusError('NOT_FOUND', 'There is no such object');
}
