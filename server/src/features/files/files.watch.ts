// Watches the client of an upload while it sends: aborts if it hangs up or sends too slowly.
import type { IncomingMessage } from 'node:http';
import { outage, PakhusError } from '../../kernel/error.ts';
import { type Sender, slowBytesPerSecond } from '../../platform/concurrency/eviction.ts';
import { ClientGone } from '../../platform/forms/form-reader.ts';
import type { BodyGate } from './files.gate.ts';

/** For a body that has arrived completely. */
const nothingToStop = () => undefined;

/** Aborts when the client hangs up. Returns how to stop watching. */
export function watchClient(raw: IncomingMessage, abort: AbortController): () => void {
  if (raw.complete) return nothingToStop;
  const onClose = () => {
    if (!raw.complete) abort.abort(new ClientGone());
  };
  raw.on('close', onClose);
  return () => {
    raw.off('close', onClose);
    // Read and drop the rest of a refused body; the server limits for how long.
    if (!raw.complete) raw.resume();
  };
}

const paceCheckMs = 20_000;
/** A shorter window says too little about the pace. */
const paceKnownAfterMs = 3_000;

/** How much must arrive in 20 s. Rises as places run out. */
export const paceBytesMin = (occupancy: number): number => {
  const crowding = Math.min(1, Math.max(0, (occupancy - 0.5) / 0.5));
  return bytesMinWhenIdle + Math.round(crowding * (bytesMinWhenFull - bytesMinWhenIdle));
};

const bytesMinWhenIdle = 10 * 1024;
const bytesMinWhenFull = (slowBytesPerSecond * paceCheckMs) / 1000;

/**
 * Measures how fast a client sends. `othersWait` tells whether other uploads of its user wait for this one. Windows in which
 * the gate held the body do not count: then the store or the queue is slow, not the client.
 */
export class ClientPace implements Sender {
  readonly #raw: IncomingMessage;
  readonly #gate: Pick<BodyGate, 'holds' | 'isHeld'>;
  readonly #abort: AbortController;
  readonly #othersWait: () => boolean;
  /** Null until the first measurement: nothing is read from an upload that waits for its permit. */
  #startedAt: number | null = null;
  #bytesAtStart = 0;
  #wasHeldAtStart = false;
  #holdsAtStart = 0;
  /** The pace of the previous window. */
  #paceBefore = Number.POSITIVE_INFINITY;

  constructor(
    raw: IncomingMessage,
    gate: Pick<BodyGate, 'holds' | 'isHeld'>,
    abort: AbortController,
    othersWait: () => boolean,
  ) {
    this.#raw = raw;
    this.#gate = gate;
    this.#abort = abort;
    this.#othersWait = othersWait;
  }

  get pace(): number | null {
    if (this.#raw.complete) return null;
    if (this.#wasHeld || this.#startedAt === null) return Number.POSITIVE_INFINITY;
    const elapsedMs = performance.now() - this.#startedAt;
    return elapsedMs < paceKnownAfterMs ? this.#paceBefore : (this.#bytes * 1000) / elapsedMs;
  }

  measure(occupancy: number): void {
    if (this.#startedAt !== null) {
      if (performance.now() - this.#startedAt < paceCheckMs) return;
      if (!this.#raw.complete && !this.#wasHeld)
        this.#abortIfSlow(paceBytesMin(this.#othersWait() ? 1 : occupancy));
      this.#paceBefore = this.pace ?? Number.POSITIVE_INFINITY;
    }
    this.#startedAt = performance.now();
    this.#bytesAtStart = this.#raw.socket.bytesRead;
    this.#wasHeldAtStart = this.#gate.isHeld;
    this.#holdsAtStart = this.#gate.holds;
  }

  #abortIfSlow(bytesMin: number): void {
    if (this.#bytes < bytesMin)
      this.#abort.abort(this.#bytes < bytesMinWhenIdle ? tooSlow() : tooSlowNow(bytesMin));
  }

  makeRoom(): void {
    this.#abort.abort(crowdedOut());
  }

  get #wasHeld(): boolean {
    return this.#wasHeldAtStart || this.#gate.holds > this.#holdsAtStart;
  }

  get #bytes(): number {
    return this.#raw.socket.bytesRead - this.#bytesAtStart;
  }
}

const tooSlow = () =>
  new PakhusError(
    'VALIDATION_ERROR',
    `The upload is too slow: send at least ${bytesMinWhenIdle} bytes every ${paceCheckMs / 1000} s`,
    {
      details: { issues: [{ path: 'body', message: 'arrives too slowly', code: 'time' }] },
    },
  );

// The next two are 503, not 4xx: the request is valid and may succeed later.
const retryAfterSeconds = 10;

const tooSlowNow = (bytesMin: number) =>
  outage(
    'capacity',
    `The server is busy and this upload is slow: send at least ${bytesMin} bytes every ${paceCheckMs / 1000} s, or try again later`,
    undefined,
    retryAfterSeconds,
  );

const crowdedOut = () =>
  outage(
    'capacity',
    'The server is busy and ended this upload, the slowest of the caller with the most in flight: send it again, with fewer at a time',
    undefined,
    retryAfterSeconds,
  );
