// Multipart uploads to S3: begun, filled, completed and verified, or ended when anything fails. One part is
// in flight at a time, and none is kept but the one in the caller's memory.
import { randomUUID } from 'node:crypto';
import { lengthOf } from '../../../kernel/bytes.ts';
import { encodePath } from '../../../kernel/crypto/sigv4.ts';
import { outage } from '../../../kernel/error.ts';
import type { ObjectInfo, ObjectMeta } from '../object-store.ts';
import { headerOf, isAbsent, type S3Client, S3Fault } from './s3-client.ts';
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
  /** Stored with the object, so that it can be told from any other that had the same key. */
  readonly mark: string;
}

/** One that is being filled. Whoever began it completes or abandons it. */
export interface OpenUpload {
  putPart(body: readonly Buffer[], digest: Buffer): Promise<void>;
  copyPart(source: Address, from: number, bytes: number): Promise<void>;
  /** Resolves when the object is there, with all its bytes. */
  complete(): Promise<void>;
  /** Best effort: what is left of it is ended later. */
  abandon(): Promise<void>;
}

export interface Multipart {
  begin(at: Address, meta: ObjectMeta, signal?: AbortSignal): Promise<OpenUpload>;
  copyParts(source: Address, target: Address, info: ObjectInfo): Promise<void>;
  list(bucket: string): AsyncIterable<{ upload: Upload; initiatedAt: Date }>;
  /** False where it was gone already. */
  end(upload: Upload): Promise<boolean>;
}

const markHeader = 'x-amz-meta-pakhus-upload';

export function createMultipart(client: S3Client, limits: MultipartLimits): Multipart {
  const { thinkTimeoutMs, abortTimeoutMs, copyPartBytes } = limits;

  async function begin(at: Address, meta: ObjectMeta, signal?: AbortSignal): Promise<OpenUpload> {
    const mark = randomUUID();
    const headers = { ...headersOf(meta), [markHeader]: mark };
    const query = [['uploads', '']] as const;
    const reply = await client.send({ method: 'POST', ...at, query, headers, signal, isAnswer: isBegun });
    const upload: Upload = { ...at, id: textOf(reply.text, 'UploadId') ?? '', mark };
    const parts: Part[] = [];
    let bytes = 0;
    return {
      async putPart(body, digest) {
        parts.push(await putPart(upload, parts.length + 1, body, digest, signal));
        bytes += lengthOf(body);
      },
      async copyPart(source, from, length) {
        const range = `bytes=${from}-${from + length - 1}`;
        parts.push(await copyPart(upload, parts.length + 1, source, range));
        bytes += length;
      },
      complete: () => complete(upload, parts, bytes, signal),
      abandon: () => abandon(upload),
    };
  }

  async function putPart(
    upload: Upload,
    number: number,
    body: readonly Buffer[],
    digest: Buffer,
    signal?: AbortSignal,
  ): Promise<Part> {
    if (number > partsMax) throw new Error(`An object takes at most ${partsMax} parts`);
    const reply = await client.send({
      method: 'PUT',
      bucket: upload.bucket,
      key: upload.key,
      query: partQuery(upload, number),
      headers: { 'content-md5': digest.toString('base64') },
      body,
      signal,
      isAnswer: isStored,
    });
    return { number, etag: etagIn(reply.headers) ?? '' };
  }

  async function complete(
    upload: Upload,
    parts: readonly Part[],
    bytes: number,
    signal?: AbortSignal,
  ): Promise<void> {
    const { bucket, key } = upload;
    let acknowledged = true;
    try {
      await client.send({
        method: 'POST',
        bucket,
        key,
        query: [['uploadId', upload.id]],
        headers: { 'content-type': 'application/xml' },
        body: [Buffer.from(completionOf(parts))],
        isAnswer: isCompleted,
        thinkTimeoutMs,
        signal,
      });
    } catch (error) {
      // A lost reply makes the next try find the upload gone: then only the object itself can tell.
      if (!(error instanceof S3Fault && error.code === 'NoSuchUpload')) throw error;
      acknowledged = false;
    }
    const { headers } = await client.send({ method: 'HEAD', bucket, key, signal, isAnswer: isObject });
    const isOurs = headerOf(headers, markHeader) === upload.mark;
    // Another put may have overwritten what was acknowledged; that is a success of both.
    if (!isOurs && acknowledged) return;
    if (!isOurs || bytesIn(headers) !== bytes)
      throw outage('storage', 'The object store completed an upload that is not there whole');
  }

  /** Best effort, within its own limit and not the caller's: the caller's signal may be why we are here. */
  async function abandon({ bucket, key, id }: Upload): Promise<void> {
    const signal = AbortSignal.timeout(abortTimeoutMs);
    await client
      .send({ method: 'DELETE', bucket, key, query: [['uploadId', id]], signal, isAnswer: isDeleted })
      .catch(() => undefined);
  }

  async function copyParts(source: Address, target: Address, info: ObjectInfo): Promise<void> {
    const upload = await begin(target, info);
    try {
      for (let from = 0; from < info.bytes; from += copyPartBytes)
        await upload.copyPart(source, from, Math.min(copyPartBytes, info.bytes - from));
      await upload.complete();
    } catch (error) {
      await upload.abandon();
      throw error;
    }
  }

  async function copyPart(upload: Upload, number: number, source: Address, range: string): Promise<Part> {
    const reply = await client.send({
      method: 'PUT',
      bucket: upload.bucket,
      key: upload.key,
      query: partQuery(upload, number),
      headers: { 'x-amz-copy-source': copySource(source), 'x-amz-copy-source-range': range },
      isAnswer: isPartCopied,
      thinkTimeoutMs,
    });
    return { number, etag: textOf(reply.text, 'ETag') ?? '' };
  }

  async function* list(bucket: string): AsyncGenerator<{ upload: Upload; initiatedAt: Date }> {
    for (let after: [string, string][] = [], more = true; more; ) {
      const query: [string, string][] = [['uploads', ''], ['encoding-type', 'url'], ...after];
      const { text } = await client.send({ method: 'GET', bucket, query, isAnswer: isUploadList });
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

  async function end({ bucket, key, id }: Upload): Promise<boolean> {
    try {
      await client.send({
        method: 'DELETE',
        bucket,
        key,
        query: [['uploadId', id]],
        isAnswer: isDeleted,
      });
      return true;
    } catch (error) {
      if (isAbsent(error)) return false;
      throw error;
    }
  }

  return { begin, copyParts, list, end };
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

export function copySource({ bucket, key }: Address): string {
  return encodePath(`/${bucket}/${key}`);
}
