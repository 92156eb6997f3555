// Appends one body to an unfinished object: every full part goes to its multipart upload, the rest to a tail object.
import { lengthOf } from '../../../kernel/bytes.ts';
import { sharedBuffer } from '../../heap.ts';
import type { BodyReader } from '../body-reader.ts';
import type { ObjectMeta } from '../object-store.ts';
import type { AppendOptions, StagedPart, StagedProgress } from '../staged-objects.ts';
import type { Multipart } from './s3-multipart.ts';
import type { Address, OpenUpload } from './s3-open-upload.ts';
import { PartReader, type PartTools } from './s3-part.ts';
import { bytesStaged, type S3Staged, toStagedState } from './s3-staged-state.ts';
import type { S3Tails } from './s3-tails.ts';

export interface AppendContext {
  readonly multipart: Multipart;
  readonly tools: PartTools;
  readonly tails: S3Tails;
  /** Of the finished object. */
  readonly at: Address;
  readonly meta: ObjectMeta;
}

export class S3Append {
  readonly #context: AppendContext;
  readonly #reader: BodyReader;
  readonly #options: AppendOptions;
  readonly #stream: PartReader;
  #staged: S3Staged;
  #upload: OpenUpload | null;
  /** True while only this call knows of the multipart upload. */
  #isUploadUnknown = false;
  #newParts: StagedPart[] = [];
  #bytesLeft: number;

  constructor(context: AppendContext, staged: S3Staged, reader: BodyReader, options: AppendOptions) {
    const { multipart, tools, at } = context;
    const { signal, hash, bytesMax, tailKey } = options;
    if (tailKey === staged.tail?.key) throw new Error('Every append needs a tail key of its own');
    this.#context = context;
    this.#staged = staged;
    this.#reader = reader;
    this.#options = options;
    this.#bytesLeft = bytesMax;
    this.#stream = new PartReader(tools, { key: at.key, reader, signal, hash });
    this.#upload = staged.upload && multipart.resume({ ...at, ...staged.upload }, signal);
  }

  async run(): Promise<StagedProgress> {
    try {
      while (!this.#reader.ended) {
        await this.#storeNext();
        // The memory of the part has been given back: the caller may take its time.
        if (this.#newParts.length > 0 && !this.#reader.ended) await this.#report();
      }
      return this.#takeProgress();
    } catch (error) {
      if (this.#isUploadUnknown) await this.#upload?.abandon();
      throw error;
    }
  }

  #storeNext(): Promise<void> {
    const { partBytes, tail } = this.#staged;
    const prefix = tail && {
      bytes: tail.bytes,
      open: () => this.#context.tails.open(tail, this.#options.signal),
    };
    const room = { bytes: partBytes, bytesLeft: this.#bytesLeft, prefix: prefix ?? undefined };
    return this.#stream.next(room, (body, digest) => this.#store(body, digest));
  }

  async #store(body: readonly Buffer[], digest: Buffer): Promise<void> {
    const length = lengthOf(body);
    if (length === 0) return;
    const { partBytes, tail, lastPartBytes, parts } = this.#staged;
    if (lastPartBytes !== null) throw new Error('Nothing can be appended to an object that is whole');
    this.#bytesLeft -= length - (tail?.bytes ?? 0);
    if (this.#bytesLeft < 0) throw tooLong();
    if (length === partBytes) return this.#putPart(body, digest);
    await this.#awaitEnd();
    if (this.#upload && this.#options.isWhole(parts * partBytes + length))
      return this.#putPart(body, digest, length);
    const { tailKey, signal } = this.#options;
    this.#staged = { ...this.#staged, tail: await this.#context.tails.put(tailKey, body, digest, signal) };
  }

  async #putPart(
    body: readonly Buffer[],
    digest: Buffer,
    lastPartBytes: number | null = null,
  ): Promise<void> {
    const upload = this.#upload ?? (await this.#begin());
    const number = this.#staged.parts + 1;
    this.#newParts.push(await upload.putPart(number, body, digest));
    const { id, mark } = upload.upload;
    this.#staged = { ...this.#staged, upload: { id, mark }, parts: number, lastPartBytes, tail: null };
  }

  async #begin(): Promise<OpenUpload> {
    const { multipart, at, meta } = this.#context;
    this.#upload = await multipart.begin(at, meta, this.#options.signal);
    this.#isUploadUnknown = true;
    return this.#upload;
  }

  /** A part that is short because the body may hold no more is the end only if nothing follows. */
  async #awaitEnd(): Promise<void> {
    if (this.#reader.ended) return;
    const more = await this.#reader.fill(sharedBuffer(1));
    if (more.length > 0) throw tooLong();
  }

  #report(): Promise<void> {
    // From here on the upload may have been recorded, even if the report fails.
    this.#isUploadUnknown = false;
    return this.#options.onDurable(this.#takeProgress());
  }

  #takeProgress(): StagedProgress {
    const parts = this.#newParts;
    this.#newParts = [];
    const { tail } = this.#staged;
    const progress = { state: toStagedState(this.#staged), bytes: bytesStaged(this.#staged), parts };
    return tail ? { ...progress, tailKey: tail.key } : progress;
  }
}

const tooLong = (): Error => new Error('A body is longer than it was said to be');
