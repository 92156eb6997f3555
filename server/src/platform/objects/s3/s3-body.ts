// Bodies on their way from S3, with faults attributed to the side that caused them.
import { Readable } from 'node:stream';
import { outage } from '../../../kernel/error.ts';
import type { ObjectBody } from '../object-store.ts';
import type { OpenReply } from './s3-client.ts';
import { etagIn, wholeBytesIn } from './s3-headers.ts';

/** A body from the network. If it fails half way, its reader gets an outage. */
export class S3Body extends Readable implements ObjectBody {
  readonly object: ObjectBody['object'];
  readonly #source: Readable;

  constructor({ headers, body: source }: OpenReply, signal: AbortSignal | undefined) {
    super({ highWaterMark: 256 << 10 });
    this.#source = source;
    this.object = { bytes: wholeBytesIn(headers), etag: etagIn(headers) ?? '' };
    source.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) source.pause();
    });
    source.on('end', () => this.push(null));
    source.on('error', (error) => {
      const isCallers = signal?.aborted === true && signal.reason instanceof Error;
      this.destroy(isCallers ? signal.reason : outage('storage', 'The object store failed at get', error));
    });
    source.pause();
  }

  override _read(): void {
    this.#source.resume();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#source.destroy();
    done(error);
  }
}
