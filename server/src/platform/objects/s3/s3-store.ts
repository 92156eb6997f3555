// Objects in an S3-compatible store. No reader can see an object before all of it is there.
import { Readable } from 'node:stream';
import { copyInto } from '../../../kernel/bytes.ts';
import { outage } from '../../../kernel/error.ts';
import { unknownMediaType } from '../../../kernel/media/media-type.ts';
import { encodeRfc3986 } from '../../../kernel/text/percent.ts';
import { type Hashing, inlineHashing } from '../../hashing/stream-hash.ts';
import type { BodyReader } from '../body-reader.ts';
import { assertKey, assertRange } from '../object-key.ts';
import type {
  Body,
  CopyTarget,
  DownloadUrlOptions,
  GetOptions,
  ObjectBody,
  ObjectInfo,
  ObjectMeta,
  ObjectRange,
  ObjectStore,
  PutOptions,
  Zone,
} from '../object-store.ts';
import type { StagedObjects } from '../staged-objects.ts';
import { largeBytesMin } from './large-get.ts';
import { createPartMemory } from './part-memory.ts';
import { S3Body, S3BodyToClient } from './s3-body.ts';
import { createS3Client, type S3Call, type S3Client, type S3ClientOptions } from './s3-client.ts';
import { headerOf, isAbsent, S3Fault, type S3Reply } from './s3-fault.ts';
import { guardBody, guardStore, noSuchObject } from './s3-guard.ts';
import { headersOf, isActive, toObjectInfo } from './s3-headers.ts';
import { presignSecondsMax, stagedPartBytes } from './s3-limits.ts';
import { Multipart } from './s3-multipart.ts';
import { type Address, copySource } from './s3-open-upload.ts';
import { md5 } from './s3-part.ts';
import {
  isBucket,
  isCopied,
  isDeleted,
  isDeletedMany,
  isObject,
  isObjectList,
  isObjectPart,
} from './s3-replies.ts';
import { releaseChunk } from './s3-sockets.ts';
import { S3Staging } from './s3-staging.ts';
import { S3Uploader } from './s3-upload.ts';
import { blocksOf, decodeListedKey, escapeXml, textOf } from './s3-xml.ts';

export interface S3StoreOptions extends S3ClientOptions {
  readonly bucket: string;
  /** Without one, public objects live beside the private ones. */
  readonly publicBucket?: string | undefined;
  /** Of all parts but the last, as some stores insist; otherwise it follows from the length of the body. */
  readonly partBytes?: number;
  /** The same for objects that arrive in several requests. */
  readonly stagedPartBytes?: number;
  /** Hashes the parts; on this thread unless given. */
  readonly hashing?: Hashing;
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

const slabBytes = 1 << 20;
const deletesMax = 1_000;
const plainBytes = `response-content-type=${encodeRfc3986(unknownMediaType)}`;

const defaults = {
  stagedPartBytes,
  hashing: inlineHashing,
  memoryBytesMax: 192 << 20,
  memoryWaitMaxMs: 45_000,
  thinkTimeoutMs: 45_000,
  abortTimeoutMs: 2_000,
  copyPartBytes: 512 << 20,
  checkTimeoutMs: 3_000,
};

/** An object store that also takes objects in several requests. */
export interface StagingStore extends ObjectStore {
  readonly staged: StagedObjects;
}

export const createS3Store = (options: S3StoreOptions): StagingStore => new S3Store(options);

class S3Store implements StagingStore {
  readonly kind = 's3';
  readonly staged: StagedObjects;
  readonly separatesPublic: boolean;
  readonly urlOrigins: readonly string[];
  readonly #options: S3StoreOptions & typeof defaults;
  readonly #client: S3Client;
  readonly #multipart: Multipart;
  readonly #uploader: S3Uploader;
  readonly #buckets: Readonly<Record<Zone, string>>;
  /** The variable that names each bucket, for the messages of `check`. */
  readonly #variables: ReadonlyMap<string, string>;

  constructor(options: S3StoreOptions) {
    const { bucket, publicBucket = bucket, onShortage } = options;
    this.#options = { ...defaults, ...options };
    this.#client = createS3Client(options);
    this.#multipart = new Multipart(this.#client, this.#options);
    const { memoryBytesMax: bytesMax, memoryWaitMaxMs: waitMaxMs, hashing } = this.#options;
    const memory = createPartMemory({ slabBytes, bytesMax, waitMaxMs, onShortage });
    const tools = { memory, hashing };
    this.#uploader = new S3Uploader(this.#client, this.#multipart, tools, options.partBytes);
    this.#buckets = { private: bucket, public: publicBucket };
    this.staged = new S3Staging({
      client: this.#client,
      multipart: this.#multipart,
      uploader: this.#uploader,
      tools,
      partBytes: this.#options.stagedPartBytes,
      thinkTimeoutMs: this.#options.thinkTimeoutMs,
      locate: (zone, key) => this.#locate(zone, key),
    });
    this.separatesPublic = publicBucket !== bucket;
    this.urlOrigins = [...new Set([bucket, publicBucket].map((one) => this.#client.urlOrigin(one)))];
    this.#variables = new Map([
      [bucket, 'S3_BUCKET'],
      ...(this.separatesPublic ? [[publicBucket, 'S3_PUBLIC_BUCKET'] as const] : []),
    ]);
  }

  async put(zone: Zone, key: string, body: Body, meta: ObjectMeta, options: PutOptions = {}): Promise<void> {
    const { signal } = options;
    if (Buffer.isBuffer(body)) {
      const at = this.#locate(zone, key);
      return guardStore('put', () => this.#uploader.putBuffer(at, body, meta, signal), signal);
    }
    const put = (reader: BodyReader) =>
      this.#uploader.putStream(this.#locate(zone, key), reader, meta, options);
    return guardBody('put', body, put, signal);
  }

  get(
    zone: Zone,
    key: string,
    range?: ObjectRange,
    signal?: AbortSignal,
    { toClient = false }: GetOptions = {},
  ): Promise<ObjectBody> {
    const read = async () => {
      if (range) assertRange(range);
      const at = this.#locate(zone, key);
      const open = (wanted?: ObjectRange) =>
        this.#client.open({ ...readCall(at, wanted, signal), isLarge: toClient && isLarge(wanted) });
      const openRest = (received: number, etag: string) =>
        open({ start: (range?.start ?? 0) + received, end: range?.end ?? Number.MAX_SAFE_INTEGER, etag });
      try {
        const reply = await open(range);
        return toClient ? new S3BodyToClient(reply, signal, openRest) : new S3Body(reply, signal);
      } catch (error) {
        if (error instanceof S3Fault && error.status === 416)
          return Object.assign(Readable.from([]), { object: null });
        if (isAbsent(error) || (error instanceof S3Fault && error.status === 412)) throw noSuchObject();
        throw error;
      }
    };
    return guardStore('get', read, signal);
  }

  async read(zone: Zone, key: string, into: Buffer, signal?: AbortSignal): Promise<void> {
    const body = await this.get(zone, key, undefined, signal);
    let bytes = 0;
    for await (const chunk of body) {
      copyInto(into, bytes, chunk as Buffer);
      bytes += (chunk as Buffer).length;
      releaseChunk(chunk as Buffer);
    }
    if (bytes !== into.length) throw noSuchObject();
  }

  head(zone: Zone, key: string): Promise<ObjectInfo | null> {
    return guardStore('head', async () => {
      try {
        return await this.#infoAt(this.#locate(zone, key));
      } catch (error) {
        if (isAbsent(error)) return null;
        throw error;
      }
    });
  }

  delete(zone: Zone, key: string): Promise<void> {
    return guardStore('delete', async () => {
      try {
        await this.#client.send({ method: 'DELETE', ...this.#locate(zone, key), isAnswer: isDeleted });
      } catch (error) {
        if (!isAbsent(error)) throw error;
      }
    });
  }

  deleteMany(zone: Zone, keys: readonly string[]): Promise<string[]> {
    return guardStore('deleteMany', async () => {
      for (const key of keys) assertKey(key);
      const failed: string[] = [];
      for (let at = 0; at < keys.length; at += deletesMax)
        failed.push(...(await this.#deleteBatch(this.#buckets[zone], keys.slice(at, at + deletesMax))));
      return failed;
    });
  }

  copy(from: Zone, to: Zone, key: string, as?: CopyTarget): Promise<void> {
    return guardStore('copy', async () => {
      const source = this.#locate(from, key);
      const target = this.#locate(to, as?.key ?? key);
      try {
        const info = { ...(await this.#infoAt(source)), ...as?.meta };
        if (info.bytes > this.#options.copyPartBytes) await this.#multipart.copyParts(source, target, info);
        else await this.#copyWhole(source, target, info, as !== undefined);
        // The source may be deleted because of this copy, so the copy is verified first.
        if ((await this.#infoAt(target)).bytes !== info.bytes)
          throw outage('storage', 'The object store made a copy that is not whole');
      } catch (error) {
        if (isAbsent(error)) throw noSuchObject();
        throw error;
      }
    });
  }

  // An inert type is not signed: the object has its own, which is right even after the object was compressed.
  downloadUrl(zone: Zone, key: string, options: DownloadUrlOptions): string {
    const { contentType, contentDisposition, expiresInSeconds, cacheControl } = options;
    if (expiresInSeconds > presignSecondsMax) throw new Error('S3 signs for at most 7 days');
    const { bucket } = this.#locate(zone, key);
    // In alphabetical order, as the signature wants it.
    const overrides = [
      ...(cacheControl === undefined ? [] : [`response-cache-control=${encodeRfc3986(cacheControl)}`]),
      `response-content-disposition=${encodeRfc3986(contentDisposition)}`,
      ...(isActive(contentType) ? [plainBytes] : []),
    ];
    return this.#client.presignGet(bucket, key, overrides.join('&'), expiresInSeconds);
  }

  list(zone: Zone, prefix = ''): AsyncIterable<string> {
    return this.#listBucket(this.#buckets[zone], prefix);
  }

  sweepUnfinished(olderThan: Date, isUnderWay: (key: string) => Promise<boolean>): Promise<number> {
    return guardStore('sweep', async () => {
      let swept = 0;
      for (const bucket of this.#variables.keys()) {
        for await (const { upload, initiatedAt } of this.#multipart.list(bucket)) {
          // In a shared bucket, an upload whose key is not one of ours belongs to somebody else.
          if (!ourKey.test(upload.key) || !(initiatedAt < olderThan)) continue;
          if (await isUnderWay(upload.key)) continue;
          if (await this.#multipart.end(upload)) swept += 1;
        }
      }
      return swept;
    });
  }

  async check(): Promise<void> {
    const limits = { attemptsMax: 2, idleTimeoutMs: this.#options.checkTimeoutMs };
    for (const [bucket, variable] of this.#variables) {
      try {
        await this.#client.send({ method: 'HEAD', bucket, ...limits, isAnswer: isBucket });
      } catch (error) {
        throw outage('storage', `${variable} "${bucket}" ${describeFault(error)}`, error);
      }
    }
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  #locate(zone: Zone, key: string): Address {
    assertKey(key);
    return { bucket: this.#buckets[zone], key };
  }

  async #infoAt(at: Address): Promise<ObjectInfo> {
    const { headers } = await this.#client.send({ method: 'HEAD', ...at, isAnswer: isObject });
    return toObjectInfo(headers);
  }

  async #copyWhole(source: Address, target: Address, info: ObjectInfo, isRenamed: boolean): Promise<void> {
    // Otherwise the copy keeps the type of its source, which may be older than the rule about active content.
    const newType =
      isRenamed || isActive(info.contentType)
        ? { 'x-amz-metadata-directive': 'REPLACE', ...headersOf(info) }
        : {};
    await this.#client.send({
      method: 'PUT',
      ...target,
      headers: { 'x-amz-copy-source': copySource(source), ...newType },
      isAnswer: isCopied,
      thinkTimeoutMs: this.#options.thinkTimeoutMs,
    });
  }

  async #deleteBatch(bucket: string, keys: readonly string[]): Promise<string[]> {
    const list = keys.map((key) => `<Object><Key>${escapeXml(key)}</Key></Object>`).join('');
    const body = Buffer.from(`<Delete><Quiet>true</Quiet>${list}</Delete>`);
    const reply = await this.#client.send({
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

  async *#listBucket(bucket: string, prefix: string): AsyncGenerator<string> {
    for (let after: string | undefined, more = true; more; ) {
      const query: [string, string][] = [
        ['list-type', '2'],
        ['encoding-type', 'url'],
        ['prefix', prefix],
      ];
      if (after !== undefined) query.push(['continuation-token', after]);
      const { text } = await guardStore('list', () =>
        this.#client.send({ method: 'GET', bucket, query, isAnswer: isObjectList }),
      );
      for (const block of blocksOf(text, 'Contents')) yield decodeListedKey(textOf(block, 'Key') ?? '');
      after = textOf(text, 'NextContinuationToken');
      more = textOf(text, 'IsTruncated') === 'true' && after !== undefined;
    }
  }
}

function readCall(at: Address, range: ObjectRange | undefined, signal: AbortSignal | undefined): S3Call {
  const headers: Record<string, string> = {
    ...(range && { range: `bytes=${range.start}-${range.end}` }),
    ...(range?.etag !== undefined && { 'if-match': range.etag }),
  };
  const isAnswer = (reply: S3Reply) =>
    range ? isObjectPart(reply, range.start, range.end - range.start + 1) : isObject(reply);
  return { method: 'GET', ...at, headers, signal, isAnswer };
}

const isLarge = (range: ObjectRange | undefined): boolean =>
  range !== undefined && range.end - range.start >= largeBytesMin;

/** `<project id>/<file id>`. */
const ourKey = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function describeFault(error: unknown): string {
  if (!(error instanceof S3Fault)) return 'cannot be asked for: the object store is not reachable';
  if (error.status === 404) return 'does not exist';
  if (error.status === 403) return 'is refused to these credentials';
  const region = headerOf(error.headers, 'x-amz-bucket-region');
  return region ? `is in the region ${region}` : `cannot be used: ${error.message}`;
}
