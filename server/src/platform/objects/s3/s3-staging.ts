// Objects that arrive in several requests, on S3. What is recorded is never changed: parts only by the same bytes, and
// every tail has a key of its own.
import type { BodyReader } from '../body-reader.ts';
import type { Body, Zone } from '../object-store.ts';
import type {
  AppendOptions,
  CompleteOptions,
  PartUrlOptions,
  StagedObject,
  StagedObjects,
  StagedProgress,
  StagedState,
} from '../staged-objects.ts';
import { S3Append } from './s3-append.ts';
import type { S3Client } from './s3-client.ts';
import { completeParts, copyTail } from './s3-completion.ts';
import { buildPartUrl, completeDirect, directPartBytes } from './s3-direct.ts';
import { isAbsent } from './s3-fault.ts';
import { guardBody, guardStore, noSuchObject, type TellCallers } from './s3-guard.ts';
import type { Multipart } from './s3-multipart.ts';
import type { Address, OpenUpload } from './s3-open-upload.ts';
import type { PartTools } from './s3-part.ts';
import { bytesStaged, nothingStaged, parseStaged, type S3Staged, toStagedState } from './s3-staged-state.ts';
import { S3Tails } from './s3-tails.ts';
import type { S3Uploader } from './s3-upload.ts';

export interface S3StagingOptions {
  readonly client: S3Client;
  readonly multipart: Multipart;
  readonly uploader: S3Uploader;
  readonly tools: PartTools;
  readonly partBytes: number;
  readonly thinkTimeoutMs: number;
  readonly locate: (zone: Zone, key: string) => Address;
}

export class S3Staging implements StagedObjects {
  readonly #options: S3StagingOptions;
  readonly #tails: S3Tails;

  constructor(options: S3StagingOptions) {
    this.#options = options;
    this.#tails = new S3Tails(options.client, (key) => options.locate('private', key));
  }

  append(object: StagedObject, from: number, body: Body, options: AppendOptions): Promise<StagedProgress> {
    const run = async (reader: BodyReader, tellCallers: TellCallers) => {
      const staged = this.#parse(object);
      if (staged.direct || bytesStaged(staged) !== from)
        throw new Error(`Cannot append at ${from} to an object of ${bytesStaged(staged)} bytes`);
      const { multipart, tools, locate } = this.#options;
      const at = locate(object.zone, object.key);
      const context = { multipart, tools, tails: this.#tails, at, meta: object.meta };
      const onDurable = (progress: StagedProgress) => options.onDurable(progress).catch(tellCallers);
      try {
        return await new S3Append(context, staged, reader, { ...options, onDurable }).run();
      } catch (error) {
        throw isAbsent(error) ? noSuchObject(error) : error;
      }
    };
    return guardBody('append', body, run, options.signal);
  }

  beginDirect({ zone, key, meta }: StagedObject): Promise<StagedState> {
    const { multipart, locate, partBytes } = this.#options;
    return guardStore('begin', async () => {
      const { id, mark } = (await multipart.begin(locate(zone, key), meta)).upload;
      return toStagedState({ ...nothingStaged(partBytes), direct: true, upload: { id, mark } });
    });
  }

  partBytesFor(bytes: number): number {
    return directPartBytes(bytes, this.#options.partBytes);
  }

  partUrl(object: StagedObject, options: PartUrlOptions): string {
    const open = this.#resume(object, this.#parse(object), undefined);
    if (!open) throw new Error('Only a direct object has URLs for its parts');
    return buildPartUrl(this.#options.client, open.upload, options);
  }

  complete(object: StagedObject, options: CompleteOptions): Promise<void> {
    const { bytes, parts, signal } = options;
    const run = async () => {
      const staged = this.#parse(object);
      const upload = this.#resume(object, staged, signal);
      if (!staged.direct && (bytesStaged(staged) !== bytes || staged.parts !== parts.length))
        throw new Error(
          `Cannot complete ${bytes} bytes with ${bytesStaged(staged)} in ${staged.parts} parts`,
        );
      if (bytes === 0) return this.#completeEmpty(object, upload, signal);
      if (staged.direct && upload) return completeDirect(upload, this.partBytesFor(bytes), options);
      const context = { ...this.#options, tails: this.#tails };
      if (upload) return completeParts(context, upload, staged, options);
      const target = this.#options.locate(object.zone, object.key);
      if (staged.tail) return copyTail(context, target, object.meta, staged.tail, options);
    };
    return guardStore('complete', run, signal);
  }

  async discard(object: StagedObject): Promise<void> {
    if (object.state?.kind !== 's3') return;
    await this.#resume(object, this.#parse(object), undefined)?.abandon();
  }

  #parse({ state }: StagedObject): S3Staged {
    return parseStaged(state, this.#options.partBytes);
  }

  #resume({ zone, key }: StagedObject, { upload }: S3Staged, signal?: AbortSignal): OpenUpload | null {
    const { multipart, locate } = this.#options;
    return upload && multipart.resume({ ...locate(zone, key), ...upload }, signal);
  }

  async #completeEmpty(
    { zone, key, meta }: StagedObject,
    upload: OpenUpload | null,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { uploader, locate } = this.#options;
    await uploader.putBuffer(locate(zone, key), Buffer.alloc(0), meta, signal);
    await upload?.abandon();
  }
}
