// Uploads to S3. A body that fits into one part is one PUT of known length; a longer one is a multipart upload.
import { createHash } from 'node:crypto';
import { joined, lengthOf } from '../../../kernel/bytes.ts';
import type { BodyReader } from '../body-reader.ts';
import type { ObjectMeta } from '../object-store.ts';
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
  readonly #partBytes: number | undefined;

  constructor(client: S3Client, multipart: Multipart, memory: PartMemory, partBytes?: number) {
    this.#client = client;
    this.#multipart = multipart;
    this.#memory = memory;
    this.#partBytes = partBytes;
  }

  putBuffer(at: Address, body: Buffer, meta: ObjectMeta, signal?: AbortSignal): Promise<void> {
    return this.#putWhole(at, [body], md5(body), meta, signal);
  }

  async putStream(
    at: Address,
    reader: BodyReader,
    meta: ObjectMeta,
    bytesMax: number,
    signal?: AbortSignal,
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
    try {
      while (!reader.ended) await this.#withPart(at, reader, Math.min(partBytes, bytesLeft), send, signal);
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
  async #withPart(
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
    const { slabs, giveBack } = await this.#memory.take(projectIn(at.key), room, signal);
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
}

/** Keys begin with the id of their project. */
const projectIn = (key: string): string => key.split('/', 1)[0] ?? '';

export const md5 = (body: Buffer): Buffer => createHash('md5').update(body).digest();
