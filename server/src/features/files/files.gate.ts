// Pauses the body of an upload while any of those who take its bytes is full.
import type { IncomingMessage } from 'node:http';

/** The stream of the file, the wait for a place, the hash of the body. */
export type Holder = 'file' | 'place' | 'hash';

export class BodyGate {
  readonly #raw: IncomingMessage;
  readonly #holders = new Set<Holder>();

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
}
