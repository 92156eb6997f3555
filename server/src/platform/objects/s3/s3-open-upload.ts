// A multipart upload to S3 that is being filled. Keeps no list of its parts, so that any process can go on with it.
import { encodePath } from '../../../kernel/crypto/sigv4.ts';
import { outage } from '../../../kernel/error.ts';
import type { S3Client } from './s3-client.ts';
import { headerOf, S3Fault } from './s3-fault.ts';
import { bytesIn, etagIn } from './s3-headers.ts';
import { partsMax } from './s3-limits.ts';
import { isCompleted, isDeleted, isObject, isPartCopied, isPartList, isStored } from './s3-replies.ts';
import { blocksOf, escapeXml, textOf } from './s3-xml.ts';

export interface MultipartLimits {
  readonly thinkTimeoutMs: number;
  readonly abortTimeoutMs: number;
}

export interface Address {
  readonly bucket: string;
  readonly key: string;
}

export interface Part {
  readonly number: number;
  readonly etag: string;
}

export interface Upload extends Address {
  readonly id: string;
  /** Stored with the object, to tell it from another object under the same key. */
  readonly mark: string;
}

/** What is under the key of an upload after its completion. */
export interface FinishedUpload {
  readonly isOurs: boolean;
  /** False if this upload was not completed: the object is an older one. */
  readonly isWanted: boolean;
  readonly bytes: number;
}

export const markHeader = 'x-amz-meta-pakhus-upload';

/** The caller numbers the parts, remembers them, and must complete or abandon the upload. */
export class OpenUpload {
  readonly upload: Upload;
  readonly #client: S3Client;
  readonly #limits: MultipartLimits;
  readonly #signal: AbortSignal | undefined;

  constructor(client: S3Client, limits: MultipartLimits, upload: Upload, signal?: AbortSignal) {
    this.#client = client;
    this.#limits = limits;
    this.upload = upload;
    this.#signal = signal;
  }

  async putPart(number: number, body: readonly Buffer[], digest: Buffer): Promise<Part> {
    const { bucket, key } = this.upload;
    const { headers } = await this.#client.send({
      method: 'PUT',
      bucket,
      key,
      query: this.#partQuery(number),
      headers: { 'content-md5': digest.toString('base64') },
      body,
      signal: this.#signal,
      isAnswer: isStored,
    });
    return { number, etag: etagIn(headers) ?? '' };
  }

  async copyPart(number: number, source: Address, from: number, bytes: number): Promise<Part> {
    const { bucket, key } = this.upload;
    const range = `bytes=${from}-${from + bytes - 1}`;
    const { text } = await this.#client.send({
      method: 'PUT',
      bucket,
      key,
      query: this.#partQuery(number),
      headers: { 'x-amz-copy-source': copySource(source), 'x-amz-copy-source-range': range },
      isAnswer: isPartCopied,
      thinkTimeoutMs: this.#limits.thinkTimeoutMs,
    });
    return { number, etag: textOf(text, 'ETag') ?? '' };
  }

  /** Resolves when the object is there, with all its bytes. */
  async complete(parts: readonly Part[], bytes: number): Promise<void> {
    const found = await this.look(await this.#sendCompletion(parts));
    if (!found.isWanted || (found.isOurs && found.bytes !== bytes))
      throw outage('storage', 'The object store completed an upload that is not there whole');
  }

  /** The same for an upload that may have been completed or ended before, by anybody. The caller judges the object. */
  async finish(parts: readonly Part[]): Promise<FinishedUpload> {
    try {
      return await this.look(await this.#sendCompletion(parts));
    } catch (error) {
      // Ceph answers 500 to the completion of an upload that was ended.
      const isServerFault = error instanceof S3Fault && error.status >= 500;
      if (isServerFault && (await this.#isForgotten())) return this.look(false);
      throw error;
    }
  }

  async look(isAcknowledged: boolean): Promise<FinishedUpload> {
    const { bucket, key, mark } = this.upload;
    const call = { method: 'HEAD', bucket, key, signal: this.#signal, isAnswer: isObject } as const;
    const { headers } = await this.#client.send(call);
    const isOurs = headerOf(headers, markHeader) === mark;
    // Another put may have overwritten the object after the acknowledgement: both have succeeded.
    return { isOurs, isWanted: isOurs || isAcknowledged, bytes: bytesIn(headers) };
  }

  /** Best effort, with its own timeout: the caller's signal may be the reason for abandoning. The sweep does the rest. */
  async abandon(): Promise<void> {
    const { bucket, key, id } = this.upload;
    const signal = AbortSignal.timeout(this.#limits.abortTimeoutMs);
    await this.#client
      .send({ method: 'DELETE', bucket, key, query: [['uploadId', id]], signal, isAnswer: isDeleted })
      .catch(() => undefined);
  }

  /** False if the store no longer knows the upload: the reply may have been lost, so only the object itself can tell. */
  async #sendCompletion(parts: readonly Part[]): Promise<boolean> {
    const { bucket, key, id } = this.upload;
    try {
      await this.#client.send({
        method: 'POST',
        bucket,
        key,
        query: [['uploadId', id]],
        headers: { 'content-type': 'application/xml' },
        body: [Buffer.from(buildCompletion(parts))],
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

  /** In ascending order. */
  async *listParts(): AsyncGenerator<Part> {
    for (let after = '0', more = true; more; ) {
      const text = await this.#readPartList(after, 1_000);
      for (const block of blocksOf(text, 'Part'))
        yield { number: Number(textOf(block, 'PartNumber')), etag: textOf(block, 'ETag') ?? '' };
      after = textOf(text, 'NextPartNumberMarker') ?? '';
      more = textOf(text, 'IsTruncated') === 'true' && after !== '';
    }
  }

  async #isForgotten(): Promise<boolean> {
    try {
      await this.#readPartList('0', 1);
      return false;
    } catch (error) {
      if (error instanceof S3Fault && error.code === 'NoSuchUpload') return true;
      throw error;
    }
  }

  async #readPartList(after: string, partsMost: number): Promise<string> {
    const { bucket, key, id } = this.upload;
    const query = [
      ['max-parts', String(partsMost)],
      ['part-number-marker', after],
      ['uploadId', id],
    ] as const;
    const call = { method: 'GET', bucket, key, query, signal: this.#signal, isAnswer: isPartList } as const;
    return (await this.#client.send(call)).text;
  }

  #partQuery(number: number): [string, string][] {
    if (number > partsMax) throw new Error(`An object takes at most ${partsMax} parts`);
    return [
      ['partNumber', String(number)],
      ['uploadId', this.upload.id],
    ];
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
