// Uploads to S3. A body that fits into one part is one PUT of known length; a longer one is a multipart upload. Parts are
// hashed while they are read.
import { lengthOf } from '../../../kernel/bytes.ts';
import type { BodyReader } from '../body-reader.ts';
import type { ObjectMeta, PutOptions } from '../object-store.ts';
import type { S3Client } from './s3-client.ts';
import { headersOf } from './s3-headers.ts';
import { partBytesFor } from './s3-limits.ts';
import type { Multipart } from './s3-multipart.ts';
import type { Address, OpenUpload, Part } from './s3-open-upload.ts';
import { md5, PartReader, type PartTools } from './s3-part.ts';
import { isStored } from './s3-replies.ts';

export class S3Uploader {
  readonly #client: S3Client;
  readonly #multipart: Multipart;
  readonly #tools: PartTools;
  readonly #partBytes: number | undefined;

  constructor(client: S3Client, multipart: Multipart, tools: PartTools, partBytes?: number) {
    this.#client = client;
    this.#multipart = multipart;
    this.#tools = tools;
    this.#partBytes = partBytes;
  }

  putBuffer(at: Address, body: Buffer, meta: ObjectMeta, signal?: AbortSignal): Promise<void> {
    return this.#putWhole(at, [body], md5(body), meta, signal);
  }

  async putStream(
    at: Address,
    reader: BodyReader,
    meta: ObjectMeta,
    { bytesMax = Number.POSITIVE_INFINITY, signal, hash }: PutOptions,
  ): Promise<void> {
    const bytes = this.#partBytes ?? partBytesFor(bytesMax);
    const stream = new PartReader(this.#tools, { key: at.key, reader, signal, hash });
    const parts: Part[] = [];
    let upload: OpenUpload | undefined;
    let sent = 0;
    const send = async (body: readonly Buffer[], digest: Buffer) => {
      if (!upload && reader.ended) return this.#putWhole(at, body, digest, meta, signal);
      upload ??= await this.#multipart.begin(at, meta, signal);
      const length = lengthOf(body);
      if (length > 0) parts.push(await upload.putPart(parts.length + 1, body, digest));
      sent += length;
    };
    try {
      while (!reader.ended) await stream.next({ bytes, bytesLeft: bytesMax - sent }, send);
      await upload?.complete(parts, sent);
    } catch (error) {
      await upload?.abandon();
      throw error;
    }
  }

  async #putWhole(
    at: Address,
    body: readonly Buffer[],
    digest: Buffer,
    meta: ObjectMeta,
    signal?: AbortSignal,
  ): Promise<void> {
    const headers = { ...headersOf(meta), 'content-md5': digest.toString('base64') };
    await this.#client.send({ method: 'PUT', ...at, headers, body, signal, isAnswer: isStored });
  }
}
