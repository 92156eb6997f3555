// A body that its source pushes. A stream in between would cost a third of the event loop's time for a large upload: here
// bytes are copied once, straight to where the store wants them.
import { copyInto } from '../../kernel/bytes.ts';

/** How much waits for the store before the source is told to pause. */
const queuedBytesMax = 256 << 10;

interface Fill {
  readonly target: Buffer;
  readonly resolve: (filled: Buffer) => void;
  readonly reject: (error: unknown) => void;
}

export class PushedBody {
  readonly #onDrained: () => void;
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  /** The fill that waits for bytes, and how many it has. The queue is empty meanwhile. */
  #fill: Fill | null = null;
  #filled = 0;
  #isComplete = false;
  #failure: { readonly error: unknown } | null = null;

  /** `onDrained` is called when the body wants more bytes, also if the source was not told to pause. */
  constructor(onDrained: () => void) {
    this.#onDrained = onDrained;
  }

  /** True once nothing more will come out. */
  get ended(): boolean {
    return this.#isComplete && this.#queue.length === 0;
  }

  /** Takes the whole chunk. If it returns false, the source should pause. */
  push(chunk: Buffer): boolean {
    if (this.#failure) return true;
    const rest = this.#fill ? this.#copyTo(this.#fill, chunk) : chunk;
    if (rest.length > 0) {
      this.#queue.push(rest);
      this.#queuedBytes += rest.length;
    }
    return this.#queuedBytes < queuedBytesMax;
  }

  /** Nothing more will be pushed. */
  end(): void {
    this.#isComplete = true;
    if (this.#fill) this.#finish(this.#fill);
  }

  /** Drops what is queued. Pending and later fills fail, unless the body has ended. */
  destroy(error: unknown = new Error('The body was cut off')): void {
    if (this.#failure || this.ended) return;
    this.#failure = { error };
    this.#queue = [];
    this.#fill?.reject(error);
    this.#fill = null;
  }

  /** Fills `target`; resolves to the filled part, which is shorter only at the end. One call at a time. */
  fill(target: Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure.error);
      const fill = { target, resolve, reject };
      this.#fill = fill;
      this.#filled = 0;
      const queue = this.#queue;
      this.#queue = [];
      this.#queuedBytes = 0;
      for (const chunk of queue) this.push(chunk);
      if (this.#fill === fill && (this.#isComplete || target.length === 0)) this.#finish(fill);
      if (this.#queuedBytes < queuedBytesMax) this.#onDrained();
    });
  }

  /** Returns what did not fit. */
  #copyTo(fill: Fill, chunk: Buffer): Buffer {
    const copied = copyInto(fill.target, this.#filled, chunk);
    this.#filled += copied;
    if (this.#filled === fill.target.length) this.#finish(fill);
    return chunk.subarray(copied);
  }

  #finish({ target, resolve }: Fill): void {
    this.#fill = null;
    resolve(target.subarray(0, this.#filled));
  }
}
