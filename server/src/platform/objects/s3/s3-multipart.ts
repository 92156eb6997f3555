// Multipart uploads to S3: begins, finds and ends them.
import { randomUUID } from 'node:crypto';
import type { ObjectInfo, ObjectMeta } from '../object-store.ts';
import type { S3Client } from './s3-client.ts';
import { isAbsent } from './s3-fault.ts';
import { headersOf } from './s3-headers.ts';
import {
  type Address,
  type MultipartLimits,
  markHeader,
  OpenUpload,
  type Part,
  type Upload,
} from './s3-open-upload.ts';
import { isBegun, isDeleted, isUploadList } from './s3-replies.ts';
import { blocksOf, decodeListedKey, textOf } from './s3-xml.ts';

export interface CopyLimits extends MultipartLimits {
  readonly copyPartBytes: number;
}

export class Multipart {
  readonly #client: S3Client;
  readonly #limits: CopyLimits;

  constructor(client: S3Client, limits: CopyLimits) {
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
    return this.resume({ ...at, id: textOf(reply.text, 'UploadId') ?? '', mark }, signal);
  }

  /** An upload that was begun earlier, perhaps by another process. */
  resume(upload: Upload, signal?: AbortSignal): OpenUpload {
    return new OpenUpload(this.#client, this.#limits, upload, signal);
  }

  async copyParts(source: Address, target: Address, info: ObjectInfo): Promise<void> {
    const { copyPartBytes } = this.#limits;
    const upload = await this.begin(target, info);
    const parts: Part[] = [];
    try {
      for (let from = 0; from < info.bytes; from += copyPartBytes) {
        const bytes = Math.min(copyPartBytes, info.bytes - from);
        parts.push(await upload.copyPart(parts.length + 1, source, from, bytes));
      }
      await upload.complete(parts, info.bytes);
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
