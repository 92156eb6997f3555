// Pauses the body of an upload while any of those who take its bytes is full, and when it has had its share of the event
// loop's iteration.
import type { IncomingMessage } from 'node:http';
import { atEndOfIteration } from '../../kernel/async/event-loop.ts';

/** The stream of the file, the wait for a place, and the hashes beside it. */
export type Holder = 'file' | 'place' | 'body hash' | 'file hash';

/**
 * Node reads up to 2 MiB from a connection before it looks at the next one: with eight fast uploads, other requests would
 * wait 20 ms for every iteration.
 */
const turnBytesMax = 128 << 10;

export class BodyGate {
  readonly #raw: IncomingMessage;
  readonly #holders = new Set<Holder>();
  #turnBytes = 0;

  constructor(raw: IncomingMessage) {
    this.#raw = raw;
  }

  hold(holder: Holder): void {
    this.#holders.add(holder);
    this.#raw.pause();
  }

  /** Bytes flow again once nobody holds them. */
  release(holder: Holder): void {
    if (this.#holders.delete(holder) && this.#holders.size === 0) this.#raw.resume();
  }

  /** Counts bytes that were read in this iteration. */
  count(bytes: number): void {
    if (this.#turnBytes === 0) atEndOfIteration(this.#endTurn);
    this.#turnBytes += bytes;
    // The socket, because pausing the request would let Node read one more chunk, and would look as if we were slow.
    if (this.#turnBytes >= turnBytesMax) this.#raw.socket.pause();
  }

  /** Even while the request is held: it stops its socket by itself. */
  readonly #endTurn = (): void => {
    if (this.#turnBytes >= turnBytesMax) this.#raw.socket.resume();
    this.#turnBytes = 0;
  };
}
