// Chunks that are smaller than what it takes to keep one. A client that sends byte by byte would make the service hold
// hundreds of bytes for each.

const smallBytes = 1024;
const slabBytes = 16 * 1024;

/** Hands chunks on in their order, small ones joined. */
export class SmallChunks {
  readonly #handOn: (chunk: Buffer) => void;
  #slab: Buffer | null = null;
  #filled = 0;

  constructor(handOn: (chunk: Buffer) => void) {
    this.#handOn = handOn;
  }

  write(chunk: Buffer): void {
    if (chunk.length >= smallBytes) {
      this.flush();
      this.#handOn(chunk);
      return;
    }
    this.#slab ??= Buffer.allocUnsafe(slabBytes);
    this.#filled += chunk.copy(this.#slab, this.#filled);
    if (slabBytes - this.#filled < smallBytes) this.flush();
  }

  /** Hands on what is held back. */
  flush(): void {
    const joined = this.#slab?.subarray(0, this.#filled);
    this.#slab = null;
    this.#filled = 0;
    if (joined) this.#handOn(joined);
  }
}
