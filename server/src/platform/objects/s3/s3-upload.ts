// Uploads to S3. A body that fits into one part is one PUT of known length; a longer one is a multipart upload. Parts are
// hashed while they are read.
import { createHash } from 'node:crypto';
import { allEnded } from '../../../kernel/async/settled.ts';
import { lengthOf } from '../../../kernel/bytes.ts';
import { type Hashing, type StreamHash, sharedBuffer } from '../../hashing/stream-hash.ts';
import type { BodyReader } from '../body-reader.ts';
import type { ObjectMeta, PutOptions } from '../object-store.ts';
import type { PartMemory } from './part-memory.ts';
import type { S3Client } from './s3-client.ts';
import { headersOf } from './s3-headers.ts';
import { partBytesFor } from './s3-limits.ts';
import type { Address, Multipart, OpenUpload } from './s3-multipart.ts';
import { isStored } from './s3-replies.ts';

/** This much of each part is in the stream's own memory: a shorter body takes nothing from the shared memory. */
const startBytes = 64 << 10;

export class S3Uploader {
  readonly #client: S3Client;
  readonly #multipart: Multipart;
  readonly #memory: PartMemory;
  readonly #hashing: Hashing;
  readonly #partBytes: number | undefined;

  constructor(
    client: S3Client,
    multipart: Multipart,
    memory: PartMemory,
    hashing: Hashing,
    partBytes?: number,
  ) {
    this.#client = client;
    this.#multipart = multipart;
    this.#memory = memory;
    this.#hashing = hashing;
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
    const partBytes = this.#partBytes ?? partBytesFor(bytesMax);
    let upload: OpenUpload | undefined;
    let bytesLeft = bytesMax;
    const send = async (body: readonly Buffer[], digest: Buffer) => {
      if (!upload && reader.ended) return this.#putWhole(at, body, digest, meta, signal);
      upload ??= await this.#multipart.begin(at, meta, signal);
      const length = lengthOf(body);
      if (length > 0) await upload.putPart(body, digest);
      bytesLeft -= length;
    };
    const part = { at, reader, start: sharedBuffer(startBytes), send, signal, hash };
    try {
      while (!reader.ended) await this.#withPart(part, Math.min(partBytes, bytesLeft));
      await upload?.complete();
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

  /**
   * Reads the next part and passes it to `send` with its digest. Memory is taken for one part at a time, for no more
   * than can come, and only after the first bytes are here: so all uploads make progress, however many share it.
   */
  async #withPart(stream: PartStream, bytes: number): Promise<void> {
    const { at, reader, send, signal, hash } = stream;
    const start = await reader.fill(stream.start);
    if (reader.ended) return allEnded([send([start], md5(start)), ...(hash ? [hash.update(start)] : [])]);
    let room = bytes - start.length;
    if (room < 0) throw new Error('A body is longer than it was said to be');
    const { slabs, giveBack } = await this.#memory.take(projectIn(at.key), room, signal);
    const digest = new PartDigest(this.#hashing.open('md5'), hash);
    try {
      const body = [start];
      digest.update(start);
      for (const slab of slabs) {
        const filled = await reader.fill(slab.subarray(0, room));
        if (filled.length === 0) break;
        digest.update(filled);
        body.push(filled);
        room -= filled.length;
      }
      await send(body, await digest.finish());
      await digest.pending();
    } finally {
      await digest.close();
      giveBack();
    }
  }
}

/** A body that is sent in parts. */
interface PartStream {
  readonly at: Address;
  readonly reader: BodyReader;
  /** For the first bytes of each part. */
  readonly start: Buffer;
  readonly send: (body: readonly Buffer[], digest: Buffer) => Promise<void>;
  readonly signal: AbortSignal | undefined;
  readonly hash: StreamHash | undefined;
}

/** Hashes a part while it is read: its own digest, and its share of the whole body's. */
class PartDigest {
  readonly #part: StreamHash;
  readonly #whole: StreamHash | undefined;
  readonly #updates: Promise<void>[] = [];

  constructor(part: StreamHash, whole: StreamHash | undefined) {
    this.#part = part;
    this.#whole = whole;
  }

  update(bytes: Buffer): void {
    for (const hash of [this.#part, this.#whole]) {
      const update = hash?.update(bytes);
      // `pending` reports it.
      update?.catch(() => undefined);
      if (update) this.#updates.push(update);
    }
  }

  finish(): Promise<Buffer> {
    return this.#part.digest();
  }

  /** The hash of the whole body may go on while the part is sent. */
  pending(): Promise<void> {
    return allEnded(this.#updates);
  }

  /** Resolves when the memory of the part is no longer read. */
  async close(): Promise<void> {
    this.#part.close();
    await Promise.allSettled(this.#updates);
  }
}

/** Keys begin with the id of their project. */
const projectIn = (key: string): string => key.split('/', 1)[0] ?? '';

export const md5 = (body: Buffer): Buffer => createHash('md5').update(body).digest();
