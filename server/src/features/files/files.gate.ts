// Pauses the body of an upload while any of those who take its bytes is full, or when it has had its share of the event
// loop's iteration.
import type { IncomingMessage } from 'node:http';
import { atEndOfIteration } from '../../kernel/async/event-loop.ts';

/** The stream of the file, the wait for a place, the hash of the body, and the end of its turn. */
export type Holder = 'file' | 'place' | 'hash' | 'turn';

/**
 * Node reads up to 2 MiB from a connection before it looks at the next one: with eight fast uploads, other requests would
 * wait 20 ms for every iteration. More than the 320 KiB that a client must send in 20 s, because a pause excuses it.
 */
const turnBytesMax = 384 << 10;

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

  /** Counts bytes that were read in this iteration. */
  count(bytes: number): void {
    if (this.#turnBytes === 0) atEndOfIteration(this.#endTurn);
    this.#turnBytes += bytes;
    if (this.#turnBytes >= turnBytesMax) this.hold('turn');
  }

  readonly #endTurn = (): void => {
    this.#turnBytes = 0;
    this.release('turn');
  };

  /** Bytes flow again once nobody holds them. */
  release(holder: Holder): void {
    if (this.#holders.delete(holder) && this.#holders.size === 0) this.#raw.resume();
  }
}
