// What an upload holds of what all uploads share. A form that fits the buffer holds its length of the buffers; a larger
// one, or one of unknown length, takes a place once more of it is here than the buffer holds.
import type { IncomingMessage } from 'node:http';
import type { Deps } from '../../contract/deps.ts';
import type { Owner } from '../../platform/concurrency/eviction.ts';
import type { FormSource } from '../../platform/forms/form-reader.ts';
import { wholeBytesMax } from './files.receive.ts';
import { ClientPace } from './files.watch.ts';

/** A small file, with some fields beside it. */
export const bufferedBytesMax = wholeBytesMax + 16 * 1024;

export const declaredBytes = ({ headers }: IncomingMessage): number =>
  Number(headers['content-length'] ?? Number.POSITIVE_INFINITY);

export class UploadPermit {
  readonly #deps: Deps;
  readonly #owner: Owner;
  readonly #raw: IncomingMessage;
  readonly #abort: AbortController;
  readonly #pace: ClientPace | null;
  #releaseBuffer: (() => void) | null = null;
  #releasePlace: (() => void) | null = null;
  #place: Promise<void> | null = null;
  #bytesRead = 0;
  #paused = false;
  #released = false;

  private constructor(
    deps: Deps,
    owner: Owner,
    raw: IncomingMessage,
    abort: AbortController,
    pace: ClientPace | null,
  ) {
    this.#deps = deps;
    this.#owner = owner;
    this.#raw = raw;
    this.#abort = abort;
    this.#pace = pace;
  }

  /** Waits where there is nothing left to begin with. `userId` is whose room the file will take. */
  static async acquire(
    deps: Deps,
    owner: Owner,
    userId: string,
    raw: IncomingMessage,
    abort: AbortController,
  ): Promise<UploadPermit> {
    const pace = raw.complete ? null : new ClientPace(raw, abort, () => deps.inFlight.isWaitedFor(userId));
    const permit = new UploadPermit(deps, owner, raw, abort, pace);
    try {
      await permit.#begin();
      return permit;
    } catch (error) {
      pace?.stop();
      throw error;
    }
  }

  async #begin(): Promise<void> {
    const { buffers } = this.#deps.uploads;
    const bytes = declaredBytes(this.#raw);
    if (bytes <= bufferedBytesMax) {
      this.#releaseBuffer = await buffers.acquire(this.#owner, bytes, this.#pace, this.signal);
      return;
    }
    this.#releaseBuffer = buffers.acquireIfEasy(this.#owner, bufferedBytesMax, this.#pace);
    if (!this.#releaseBuffer) await this.waitForPlace();
  }

  /** Ends the upload. Made when it is asked for, at some cost: of a small body that is all here nothing is left to end. */
  get signal(): AbortSignal | undefined {
    return this.isBuffered && this.#raw.complete ? undefined : this.#abort.signal;
  }

  /** Whether all of the form is held in memory, whatever its file turns out to be. */
  get isBuffered(): boolean {
    return declaredBytes(this.#raw) <= bufferedBytesMax;
  }

  /** Resolves when the upload may stream. Whoever waits in vain is ended. */
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
    if (!this.#paused) return;
    this.#paused = false;
    this.#raw.resume();
  }

  /** From when the form is read: until the upload has a place, it may hold no more than the buffer. */
  watchBytes(): void {
    if (!this.isBuffered && !this.#releasePlace) this.#raw.on('data', this.#onData);
  }

  /** Fields take memory as well as a file does. */
  readonly #onData = (chunk: Buffer) => {
    this.#bytesRead += chunk.length;
    if (this.#bytesRead <= bufferedBytesMax || this.#paused) return;
    this.#paused = true;
    this.#raw.pause();
    this.waitForPlace().catch(() => undefined);
  };

  /** Nobody else lets the form go on while it has to wait. */
  guard(source: FormSource): FormSource {
    return {
      pause: source.pause,
      cutShort: source.cutShort,
      resume: () => {
        if (!this.#paused) source.resume();
      },
    };
  }

  release(): void {
    this.#released = true;
    this.#raw.off('data', this.#onData);
    this.#pace?.stop();
    this.#releaseBuffer?.();
    this.#releasePlace?.();
  }
}
