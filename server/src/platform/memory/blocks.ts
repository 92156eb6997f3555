// Blocks of memory that are lent and used again. For every 64 MiB of new buffers V8 searches its whole heap for garbage, however
// short they live, which can take half of the CPU of a fast download.

/** Sizes in ascending order: the smallest that fits is lent. */
export class Blocks {
  readonly #allocate: (bytes: number) => Buffer;
  readonly #kinds: readonly BlockKind[];

  constructor(
    allocate: (bytes: number) => Buffer,
    ...kinds: readonly { readonly bytes: number; readonly idleMax: number }[]
  ) {
    this.#allocate = allocate;
    this.#kinds = kinds.map((kind) => ({ ...kind, idle: [] }));
  }

  /** A block larger than all of these is allocated, and not used again. */
  take(bytes: number): Buffer {
    const kind = this.#kinds.find((one) => one.bytes >= bytes);
    return kind?.idle.pop() ?? this.#allocate(kind?.bytes ?? bytes);
  }

  /** Only when nobody will read or write it any more. One that is never given back is garbage. */
  giveBack(block: Buffer): void {
    const kind = this.#kinds.find((one) => one.bytes === block.length);
    if (kind && kind.idle.length < kind.idleMax) kind.idle.push(block);
  }
}

interface BlockKind {
  readonly bytes: number;
  readonly idleMax: number;
  readonly idle: Buffer[];
}
