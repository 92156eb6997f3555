// Bodies on their way from and to S3, with faults attributed to the side that caused them.
import { Readable } from 'node:stream';
import { outage } from '../../../kernel/error.ts';
import type { BodyReader } from '../body-reader.ts';

/** A body from the network. If it fails half way, its reader gets an outage. */
export class S3Body extends Readable {
  readonly #source: Readable;

  constructor(source: Readable, signal: AbortSignal | undefined) {
    super({ highWaterMark: 256 << 10 });
    this.#source = source;
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

/** Reports faults of the body apart from those of the store: both surface in the same put. */
export function notingFaults(reader: BodyReader, note: (error: unknown) => void): BodyReader {
  const tell = (error: unknown): never => {
    note(error);
    throw error;
  };
  return {
    get ended() {
      return reader.ended;
    },
    gather: (bytesMax) => reader.gather(bytesMax).catch(tell),
    fill: (target, hash) => reader.fill(target, hash).catch(tell),
    close: () => reader.close(),
  };
}
