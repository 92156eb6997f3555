// A stream of pieces whose memory is used again as soon as they have been written to the stream that it is piped to.
import { Readable, type Writable } from 'node:stream';

/** So many chunks at once are on their way: the socket has something to send while the next one is made. */
const unsentMax = 2;

export interface Piece {
  /** Never empty. */
  readonly bytes: Buffer;
  /** Called once, when nobody reads the bytes any more; not if the stream ends before that. */
  readonly release?: () => void;
}

export class RecycledBody extends Readable {
  readonly #pieces: AsyncGenerator<Piece>;
  readonly #releases = new WeakMap<Buffer, () => void>();

  constructor(pieces: AsyncGenerator<Piece>) {
    super({ highWaterMark: 1 });
    this.#pieces = pieces;
  }

  override _read(): void {
    this.#pieces.next().then(
      ({ done, value }) => {
        if (!done && value.release) this.#releases.set(value.bytes, value.release);
        this.push(done ? null : value.bytes);
      },
      (error) => this.destroy(error),
    );
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    // Not awaited: the generator may be waiting for a read that is aborted only when this stream closes.
    this.#pieces.return(undefined).catch(() => undefined);
    done(error);
  }

  /** Anybody who reads it in another way may keep the chunks, so they are not released. */
  override pipe<Destination extends NodeJS.WritableStream>(
    destination: Destination,
    options?: PipeOptions,
  ): Destination {
    return forward(this, destination, (chunk) => this.#releases.get(chunk)?.(), options);
  }
}

export interface PipeOptions {
  readonly end?: boolean;
}

/** Like `pipe`, but tells of each chunk when its bytes have left the process. */
export function forward<Destination extends NodeJS.WritableStream>(
  source: Readable,
  destination: Destination,
  release: (chunk: Buffer) => void,
  { end = true }: PipeOptions = {},
): Destination {
  let unsent = 0;
  const onWritten = (chunk: Buffer, error: Error | null | undefined) => {
    if (error) source.destroy(error);
    else release(chunk);
    unsent -= 1;
    source.resume();
  };
  source.on('data', (chunk: Buffer) => {
    unsent += 1;
    if (unsent >= unsentMax) source.pause();
    (destination as unknown as Writable).write(chunk, (error) => onWritten(chunk, error));
  });
  // A source that breaks has no end. Its body is not complete, so whoever destroyed it closes the destination.
  if (end) source.on('end', () => destination.end());
  return destination;
}
