// Blocks of memory that are lent and used again. V8 collects garbage in the whole heap for every 64 MiB of buffers that are
// allocated, however short they live: in a fast download, that takes more of the CPU than everything else.

/** The smallest that fits is lent. */
export class Blocks {
  readonly #kinds: readonly BlockKind[];

  constructor(...kinds: readonly { readonly bytes: number; readonly idleMax: number }[]) {
    this.#kinds = kinds.map((kind) => ({ ...kind, idle: [] }));
  }

  get bytesMax(): number {
    return this.#kinds.at(-1)?.bytes ?? 0;
  }

  /** More than `bytesMax` is allocated for this once. */
  take(bytes: number): Buffer {
    const kind = this.#kinds.find((one) => one.bytes >= bytes);
    return kind?.idle.pop() ?? Buffer.allocUnsafeSlow(kind?.bytes ?? bytes);
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
