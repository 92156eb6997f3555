// An upload's share of the buffer memory and streaming places that all uploads compete for. A form that fits into the
// buffer reserves its length. A larger one, or one of unknown length, takes a place once it has outgrown the buffer.
import type { IncomingMessage } from 'node:http';
import type { Deps } from '../../contract/deps.ts';
import type { Owner } from '../../platform/concurrency/eviction.ts';
import { BodyGate } from './files.gate.ts';
import { wholeBytesMax } from './files.receive.ts';
import { ClientPace } from './files.watch.ts';

/** A small file plus some fields. */
export const bufferedBytesMax = wholeBytesMax + 16 * 1024;

export const declaredBytes = ({ headers }: IncomingMessage): number =>
  Number(headers['content-length'] ?? Number.POSITIVE_INFINITY);

export class UploadPermit {
  /** Without a place, the permit holds back what exceeds the buffer. */
  readonly gate: BodyGate;
  readonly #deps: Deps;
  readonly #owner: Owner;
  readonly #raw: IncomingMessage;
  readonly #abort: AbortController;
  readonly #pace: ClientPace | null;
  #releaseBuffer: (() => void) | null = null;
  #releasePlace: (() => void) | null = null;
  #place: Promise<void> | null = null;
  #bytesRead = 0;
  #released = false;

  private constructor(
    deps: Deps,
    owner: Owner,
    raw: IncomingMessage,
    abort: AbortController,
    gate: BodyGate,
    pace: ClientPace | null,
  ) {
    this.#deps = deps;
    this.#owner = owner;
    this.#raw = raw;
    this.#abort = abort;
    this.#pace = pace;
    this.gate = gate;
  }

  /** Waits until there is capacity. `userId` is the user whose quota the file is charged to. */
  static async acquire(
    deps: Deps,
    owner: Owner,
    userId: string,
    raw: IncomingMessage,
    abort: AbortController,
  ): Promise<UploadPermit> {
    const gate = new BodyGate(raw);
    const othersWait = () => deps.inFlight.isWaitedFor(userId);
    const pace = raw.complete ? null : new ClientPace(raw, gate, abort, othersWait);
    const permit = new UploadPermit(deps, owner, raw, abort, gate, pace);
    await permit.#reserve();
    return permit;
  }

  async #reserve(): Promise<void> {
    const { buffers } = this.#deps.uploads;
    const bytes = declaredBytes(this.#raw);
    if (bytes <= bufferedBytesMax) {
      this.#releaseBuffer = await buffers.acquire(this.#owner, bytes, this.#pace, this.signal);
      return;
    }
    this.#releaseBuffer = buffers.acquireIfEasy(this.#owner, bufferedBytesMax, this.#pace);
    if (!this.#releaseBuffer) await this.waitForPlace();
  }

  /** Created lazily because it is costly: a small body that has arrived completely needs none. */
  get signal(): AbortSignal | undefined {
    return this.isBuffered && this.#raw.complete ? undefined : this.#abort.signal;
  }

  /** Whether the whole form fits into memory, however large its file turns out to be. */
  get isBuffered(): boolean {
    return declaredBytes(this.#raw) <= bufferedBytesMax;
  }

  /** Resolves when the upload may stream. Aborts the upload if the wait fails. */
  waitForPlace(): Promise<void> {
    this.#place ??= this.#takePlace();
    return this.#place;
  }

  async #takePlace(): Promise<void> {
    try {
      this.#releasePlace = await this.#deps.uploads.places.acquire(this.#owner, 1, this.#pace, this.signal);
    } catch (error) {
      this.#abort.abort(error);
      throw error;
    }
    if (this.#released) return this.#releasePlace();
    this.#raw.off('data', this.#onData);
    this.#releaseBuffer?.();
    this.gate.release('place');
  }

  /** Call when the form is read: without a place, an upload may hold no more than its buffer. */
  watchBytes(): void {
    if (!this.isBuffered && !this.#releasePlace) this.#raw.on('data', this.#onData);
  }

  /** Counts the whole body, because fields take memory, too. */
  readonly #onData = (chunk: Buffer) => {
    this.#bytesRead += chunk.length;
    if (this.#bytesRead <= bufferedBytesMax) return;
    this.gate.hold('place');
    this.waitForPlace().catch(() => undefined);
  };

  release(): void {
    this.#released = true;
    this.#raw.off('data', this.#onData);
    this.#releaseBuffer?.();
    this.#releasePlace?.();
  }
}
