// Bodies on their way from S3, with faults attributed to the side that caused them. If the store breaks off, a body may ask
// for the rest, of the same version of the object: two versions are never mixed.
import { Readable } from 'node:stream';
import { outage } from '../../../kernel/error.ts';
import { forward, type PipeOptions } from '../../memory/recycled-body.ts';
import type { ObjectBody } from '../object-store.ts';
import type { ByteSource } from './large-get.ts';
import type { OpenReply } from './s3-client.ts';
import { etagIn, wholeBytesIn } from './s3-headers.ts';
import { countReader, releaseChunk } from './s3-sockets.ts';

/** Asks for what comes after the bytes received so far. */
export type OpenRest = (received: number, etag: string) => Promise<OpenReply>;

/** The store may break off so often, and again after so many more bytes. */
const resumptionsMax = 4;
const bytesPerResumptions = 16 << 20;

/** A body from the network. If it fails for good, its reader gets an outage. */
export class S3Body extends Readable implements ObjectBody {
  readonly object: { readonly bytes: number; readonly etag: string };
  readonly #signal: AbortSignal | undefined;
  readonly #openRest: OpenRest | undefined;
  #source: ByteSource;
  #received = 0;
  #resumptions = 0;
  #resumedAt = 0;

  constructor({ headers, body }: OpenReply, signal?: AbortSignal, openRest?: OpenRest) {
    super({ highWaterMark: 256 << 10 });
    this.object = { bytes: wholeBytesIn(headers), etag: etagIn(headers) ?? '' };
    this.#signal = signal;
    this.#openRest = openRest;
    this.#source = body;
    this.#receive(body);
    body.pause();
  }

  override _read(): void {
    this.#source.resume();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#source.destroy();
    done(error);
  }

  #receive(source: ByteSource): void {
    this.#source = source;
    source.on('data', (chunk: Buffer) => {
      this.#received += chunk.length;
      if (!this.push(chunk)) source.pause();
    });
    source.on('end', () => this.push(null));
    source.on('error', (error) => void this.#resumeAfter(error));
  }

  async #resumeAfter(error: Error): Promise<void> {
    if (!this.#openRest || this.destroyed || this.#signal?.aborted || !this.#mayResume()) {
      this.#fail(error);
      return;
    }
    try {
      const { body } = await this.#openRest(this.#received, this.object.etag);
      this.#receive(body);
      if (this.destroyed) body.destroy();
      else body.resume();
    } catch (failed) {
      this.#fail(failed);
    }
  }

  #mayResume(): boolean {
    if (this.#received - this.#resumedAt >= bytesPerResumptions) {
      this.#resumptions = 0;
      this.#resumedAt = this.#received;
    }
    this.#resumptions += 1;
    return this.#resumptions <= resumptionsMax;
  }

  #fail(error: unknown): void {
    const reason: unknown = this.#signal?.aborted === true ? this.#signal.reason : null;
    this.destroy(
      reason instanceof Error ? reason : outage('storage', 'The object store failed at get', error),
    );
  }
}

/** For a client: memory is used again once it has been written to the stream that the body is piped to. */
export class S3BodyToClient extends S3Body {
  constructor(reply: OpenReply, signal?: AbortSignal, openRest?: OpenRest) {
    super(reply, signal, openRest);
    // Whoever reads it gets the error. Before that, nobody listens.
    this.on('error', () => undefined);
    this.once('close', countReader());
  }

  override pipe<Destination extends NodeJS.WritableStream>(
    destination: Destination,
    options?: PipeOptions,
  ): Destination {
    return forward(this, destination, releaseChunk, options);
  }
}
