// A stream of pieces whose memory is used again as soon as they have been written to the stream that it is piped to.
import { Readable, type Writable } from 'node:stream';

export interface Piece {
  /** Never empty. */
  readonly bytes: Buffer;
  /** Called once, when nobody reads the bytes any more; not if the stream ends before that. */
  readonly release?: () => void;
}

export class RecycledBody extends Readable {
  readonly #pieces: AsyncGenerator<Piece>;

  constructor(pieces: AsyncGenerator<Piece>) {
    super({ highWaterMark: 1 });
    this.#pieces = pieces;
  }

  /** Anybody else who reads it may keep the chunks, so they are not released. */
  override _read(): void {
    this.#pieces.next().then(
      ({ done, value }) => this.push(done ? null : value.bytes),
      (error) => this.destroy(error),
    );
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    // Not awaited: the generator may be waiting for a read that is aborted only when this stream closes.
    this.#pieces.return(undefined).catch(() => undefined);
    done(error);
  }

  override pipe<Destination extends NodeJS.WritableStream>(destination: Destination): Destination {
    this.#send(destination as unknown as Writable).catch((error) => this.destroy(error));
    return destination;
  }

  async #send(destination: Writable): Promise<void> {
    // Two at once: the socket has something to send while the next piece is made.
    let previous = Promise.resolve();
    for await (const piece of this.#pieces) {
      const written = write(destination, piece.bytes).then(piece.release);
      // Awaited below, but perhaps after it has failed.
      written.catch(() => undefined);
      await previous;
      previous = written;
    }
    await previous;
    // The body is not complete, so whoever destroyed it closes the destination.
    if (this.destroyed) return;
    this.push(null);
    // Nobody reads it, and without a reader it would not end.
    this.resume();
    destination.end();
  }
}

/** Until the bytes have left the process. */
const write = (destination: Writable, bytes: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    destination.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
