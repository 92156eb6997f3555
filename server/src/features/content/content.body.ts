// Bytes on their way from the store to a reader. If the store breaks off, the rest is asked for, of the same version of
// the object: if that is gone, the stream fails rather than mixing two versions.
import { Readable } from 'node:stream';
import { outage } from '../../kernel/error.ts';
import type { ByteRange } from '../../kernel/media/byte-range.ts';

export type Reopen = (start: number, signal: AbortSignal) => Promise<Readable>;

/** Without so many bytes in between, the store may break off only so often. */
const retriesMax = 4;
const bytesPerRetries = 16 << 20;

export class ContentBody extends Readable {
  readonly #reopen: Reopen;
  readonly #end: number;
  readonly #closed = new AbortController();
  #source: Readable;
  /** The next byte to come. */
  #at: number;
  #retries = 0;
  #retriesFrom: number;

  constructor(first: Readable, { start, end }: ByteRange, reopen: Reopen) {
    super({ highWaterMark: 256 << 10 });
    this.#reopen = reopen;
    this.#at = start;
    this.#retriesFrom = start;
    this.#end = end;
    this.#source = first;
    this.#receive(first);
    first.pause();
  }

  override _read(): void {
    this.#source.resume();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#closed.abort();
    this.#source.destroy();
    done(error);
  }

  #receive(source: Readable): void {
    this.#source = source;
    source.on('data', (chunk: Buffer) => {
      this.#at += chunk.length;
      if (!this.push(chunk)) source.pause();
    });
    source.once('end', () => this.#endOr(outage('storage', 'The object store sent less than there is')));
    source.on('error', (error) => this.#endOr(error));
  }

  #endOr(error: Error): void {
    if (this.destroyed) return;
    if (this.#at > this.#end) this.push(null);
    else void this.#resumeAfter(error);
  }

  async #resumeAfter(error: Error): Promise<void> {
    this.#source.destroy();
    if (this.#at - this.#retriesFrom >= bytesPerRetries) {
      this.#retries = 0;
      this.#retriesFrom = this.#at;
    }
    this.#retries += 1;
    if (this.#retries > retriesMax) {
      this.destroy(error);
      return;
    }
    try {
      const rest = await this.#reopen(this.#at, this.#closed.signal);
      if (this.destroyed) rest.on('error', () => undefined).destroy();
      else this.#receive(rest);
    } catch (failed) {
      this.destroy(failed as Error);
    }
  }
}
