// Tails: bytes of an unfinished object that do not fill a part yet, each a private object. A tail is written once, under a
// key that no other call uses, so that a process that was fenced off cannot change one that is recorded.
import { lengthOf } from '../../../kernel/bytes.ts';
import { unknownMediaType } from '../../../kernel/media/media-type.ts';
import { type BodyReader, createBodyReader } from '../body-reader.ts';
import type { ObjectMeta } from '../object-store.ts';
import { S3Body } from './s3-body.ts';
import type { S3Client } from './s3-client.ts';
import { isAbsent, S3Fault } from './s3-fault.ts';
import { noSuchObject } from './s3-guard.ts';
import { etagIn, headersOf } from './s3-headers.ts';
import type { Address } from './s3-open-upload.ts';
import { isObject, isStored } from './s3-replies.ts';
import type { StagedTail } from './s3-staged-state.ts';

/** Nobody is given a tail to read. */
const tailMeta: ObjectMeta = { contentType: unknownMediaType, contentDisposition: 'attachment' };

export class S3Tails {
  readonly #client: S3Client;
  readonly #locate: (key: string) => Address;

  constructor(client: S3Client, locate: (key: string) => Address) {
    this.#client = client;
    this.#locate = locate;
  }

  locate({ key }: StagedTail): Address {
    return this.#locate(key);
  }

  async put(
    key: string,
    body: readonly Buffer[],
    digest: Buffer,
    signal: AbortSignal | undefined,
  ): Promise<StagedTail> {
    const headers = { ...headersOf(tailMeta), 'content-md5': digest.toString('base64') };
    const call = { method: 'PUT', ...this.#locate(key), headers, body, signal, isAnswer: isStored } as const;
    const reply = await this.#client.send(call);
    return { key, bytes: lengthOf(body), etag: etagIn(reply.headers) ?? '' };
  }

  /** Rejects with NOT_FOUND if the tail is gone or another object. The caller closes the reader. */
  async open({ key, etag }: StagedTail, signal: AbortSignal | undefined): Promise<BodyReader> {
    const headers = { 'if-match': etag };
    try {
      const call = { method: 'GET', ...this.#locate(key), headers, signal, isAnswer: isObject } as const;
      return createBodyReader(new S3Body(await this.#client.open(call), signal), signal);
    } catch (error) {
      if (isAbsent(error) || (error instanceof S3Fault && error.status === 412)) throw noSuchObject(error);
      throw error;
    }
  }
}
