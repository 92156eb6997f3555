// Pauses the body of an upload while any of those who take its bytes is full, and when it has had its share of the event
// loop's iteration.
import type { IncomingMessage } from 'node:http';
import { atEndOfIteration } from '../../kernel/async/event-loop.ts';

/** The stream of the file, the wait for a place, and the hashes beside it. */
export type Holder = 'file' | 'place' | 'body hash' | 'file hash';

/**
 * Node reads up to 2 MiB from a connection before it looks at the next one: with eight fast uploads, other requests would
 * wait 20 ms for every iteration. Node reads one more chunk after a pause, so the share is up to 64 KiB more than this.
 */
const turnBytesMax = 64 << 10;

export class BodyGate {
  readonly #raw: IncomingMessage;
  readonly #holders = new Set<Holder>();
  #turnBytes = 0;
  #isTurnOver = false;
  #holds = 0;

  constructor(raw: IncomingMessage) {
    this.#raw = raw;
  }

  /** How often the body had to wait for somebody. The end of its turn is no wait: it would excuse a client that sends in bursts. */
  get holds(): number {
    return this.#holds;
  }

  get isHeld(): boolean {
    return this.#holders.size > 0;
  }

  hold(holder: Holder): void {
    this.#holders.add(holder);
    this.#holds += 1;
    this.#raw.pause();
  }

  /** Bytes flow again once nobody holds them. */
  release(holder: Holder): void {
    if (this.#holders.delete(holder)) this.#resumeIfFree();
  }

  /** Counts bytes that were read in this iteration. */
  count(bytes: number): void {
    if (this.#turnBytes === 0) atEndOfIteration(this.#endTurn);
    this.#turnBytes += bytes;
    if (this.#turnBytes < turnBytesMax || this.#isTurnOver) return;
    this.#isTurnOver = true;
    // Not the socket: the request would resume it at once.
    this.#raw.pause();
  }

  readonly #endTurn = (): void => {
    this.#turnBytes = 0;
    if (!this.#isTurnOver) return;
    this.#isTurnOver = false;
    this.#resumeIfFree();
  };

  #resumeIfFree(): void {
    if (!this.isHeld && !this.#isTurnOver) this.#raw.resume();
  }
}
