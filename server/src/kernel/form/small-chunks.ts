// Joins small chunks. A client that sends single bytes would otherwise cost hundreds of bytes of memory for each.

const smallBytes = 1024;
const slabBytes = 16 * 1024;

/** Passes chunks on in order, small ones joined. */
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

  /** Passes on what is held back. */
  flush(): void {
    const joined = this.#slab?.subarray(0, this.#filled);
    this.#slab = null;
    this.#filled = 0;
    if (joined) this.#handOn(joined);
  }
}
