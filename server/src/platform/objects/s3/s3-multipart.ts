// Multipart uploads to S3. One part is in flight at a time, and only that one is in memory.
import { randomUUID } from 'node:crypto';
import { lengthOf } from '../../../kernel/bytes.ts';
import { encodePath } from '../../../kernel/crypto/sigv4.ts';
import { outage } from '../../../kernel/error.ts';
import type { ObjectInfo, ObjectMeta } from '../object-store.ts';
import type { S3Client } from './s3-client.ts';
import { headerOf, isAbsent, S3Fault } from './s3-fault.ts';
import { bytesIn, etagIn, headersOf } from './s3-headers.ts';
import { partsMax } from './s3-limits.ts';
import {
  isBegun,
  isCompleted,
  isDeleted,
  isObject,
  isPartCopied,
  isStored,
  isUploadList,
} from './s3-replies.ts';
import { blocksOf, decodeListedKey, escapeXml, textOf } from './s3-xml.ts';

export interface MultipartLimits {
  readonly thinkTimeoutMs: number;
  readonly abortTimeoutMs: number;
  readonly copyPartBytes: number;
}

export interface Address {
  readonly bucket: string;
  readonly key: string;
}

interface Part {
  readonly number: number;
  readonly etag: string;
}

export interface Upload {
  readonly bucket: string;
  readonly key: string;
  readonly id: string;
  /** Stored with the object, to tell it from another object under the same key. */
  readonly mark: string;
}

const markHeader = 'x-amz-meta-pakhus-upload';

export class Multipart {
  readonly #client: S3Client;
  readonly #limits: MultipartLimits;

  constructor(client: S3Client, limits: MultipartLimits) {
    this.#client = client;
    this.#limits = limits;
  }

  async begin(at: Address, meta: ObjectMeta, signal?: AbortSignal): Promise<OpenUpload> {
    const mark = randomUUID();
    const headers = { ...headersOf(meta), [markHeader]: mark };
    const query = [['uploads', '']] as const;
    const reply = await this.#client.send({
      method: 'POST',
      ...at,
      query,
      headers,
      signal,
      isAnswer: isBegun,
    });
    const upload: Upload = { ...at, id: textOf(reply.text, 'UploadId') ?? '', mark };
    return new OpenUpload(this.#client, this.#limits, upload, signal);
  }

  async copyParts(source: Address, target: Address, info: ObjectInfo): Promise<void> {
    const { copyPartBytes } = this.#limits;
    const upload = await this.begin(target, info);
    try {
      for (let from = 0; from < info.bytes; from += copyPartBytes)
        await upload.copyPart(source, from, Math.min(copyPartBytes, info.bytes - from));
      await upload.complete();
    } catch (error) {
      await upload.abandon();
      throw error;
    }
  }

  async *list(bucket: string): AsyncGenerator<{ upload: Upload; initiatedAt: Date }> {
    for (let after: [string, string][] = [], more = true; more; ) {
      const query: [string, string][] = [['uploads', ''], ['encoding-type', 'url'], ...after];
      const { text } = await this.#client.send({ method: 'GET', bucket, query, isAnswer: isUploadList });
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

  /** False if it was gone already. */
  async end({ bucket, key, id }: Upload): Promise<boolean> {
    const query = [['uploadId', id]] as const;
    try {
      await this.#client.send({ method: 'DELETE', bucket, key, query, isAnswer: isDeleted });
      return true;
    } catch (error) {
      if (isAbsent(error)) return false;
      throw error;
    }
  }
}

/** An upload that is being filled. The caller of `begin` must complete or abandon it. */
export class OpenUpload {
  readonly #client: S3Client;
  readonly #limits: MultipartLimits;
  readonly #upload: Upload;
  readonly #signal: AbortSignal | undefined;
  readonly #parts: Part[] = [];
  #bytes = 0;

  constructor(client: S3Client, limits: MultipartLimits, upload: Upload, signal?: AbortSignal) {
    this.#client = client;
    this.#limits = limits;
    this.#upload = upload;
    this.#signal = signal;
  }

  async putPart(body: readonly Buffer[], digest: Buffer): Promise<void> {
    const { bucket, key } = this.#upload;
    const { headers } = await this.#client.send({
      method: 'PUT',
      bucket,
      key,
      query: this.#nextPartQuery(),
      headers: { 'content-md5': digest.toString('base64') },
      body,
      signal: this.#signal,
      isAnswer: isStored,
    });
    this.#addPart(etagIn(headers), lengthOf(body));
  }

  async copyPart(source: Address, from: number, bytes: number): Promise<void> {
    const { bucket, key } = this.#upload;
    const range = `bytes=${from}-${from + bytes - 1}`;
    const { text } = await this.#client.send({
      method: 'PUT',
      bucket,
      key,
      query: this.#nextPartQuery(),
      headers: { 'x-amz-copy-source': copySource(source), 'x-amz-copy-source-range': range },
      isAnswer: isPartCopied,
      thinkTimeoutMs: this.#limits.thinkTimeoutMs,
    });
    this.#addPart(textOf(text, 'ETag'), bytes);
  }

  /** Resolves when the object is there, with all its bytes. */
  async complete(): Promise<void> {
    const { bucket, key, mark } = this.#upload;
    const isAcknowledged = await this.#sendCompletion();
    const call = { method: 'HEAD', bucket, key, signal: this.#signal, isAnswer: isObject } as const;
    const { headers } = await this.#client.send(call);
    const isOurs = headerOf(headers, markHeader) === mark;
    // Another put may have overwritten the object after the acknowledgement: both have succeeded.
    if (!isOurs && isAcknowledged) return;
    if (!isOurs || bytesIn(headers) !== this.#bytes)
      throw outage('storage', 'The object store completed an upload that is not there whole');
  }

  /** Best effort, with its own timeout: the caller's signal may be the reason for abandoning. The sweep does the rest. */
  async abandon(): Promise<void> {
    const { bucket, key, id } = this.#upload;
    const signal = AbortSignal.timeout(this.#limits.abortTimeoutMs);
    await this.#client
      .send({ method: 'DELETE', bucket, key, query: [['uploadId', id]], signal, isAnswer: isDeleted })
      .catch(() => undefined);
  }

  /** False if the store no longer knows the upload: the reply may have been lost, so only the object itself can tell. */
  async #sendCompletion(): Promise<boolean> {
    const { bucket, key, id } = this.#upload;
    try {
      await this.#client.send({
        method: 'POST',
        bucket,
        key,
        query: [['uploadId', id]],
        headers: { 'content-type': 'application/xml' },
        body: [Buffer.from(buildCompletion(this.#parts))],
        isAnswer: isCompleted,
        thinkTimeoutMs: this.#limits.thinkTimeoutMs,
        signal: this.#signal,
      });
      return true;
    } catch (error) {
      if (error instanceof S3Fault && error.code === 'NoSuchUpload') return false;
      throw error;
    }
  }

  #nextPartQuery(): [string, string][] {
    const number = this.#parts.length + 1;
    if (number > partsMax) throw new Error(`An object takes at most ${partsMax} parts`);
    return [
      ['partNumber', String(number)],
      ['uploadId', this.#upload.id],
    ];
  }

  #addPart(etag: string | undefined, bytes: number): void {
    this.#parts.push({ number: this.#parts.length + 1, etag: etag ?? '' });
    this.#bytes += bytes;
  }
}

function buildCompletion(parts: readonly Part[]): string {
  const list = parts.map(
    ({ number, etag }) => `<Part><PartNumber>${number}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`,
  );
  return `<CompleteMultipartUpload>${list.join('')}</CompleteMultipartUpload>`;
}

export function copySource({ bucket, key }: Address): string {
  return encodePath(`/${bucket}/${key}`);
}
