// Sums by name. A name whose sum is zero is forgotten.

export class Tally {
  readonly #sums = new Map<string, number>();

  static of<Item extends { readonly units: number }>(
    items: readonly Item[],
    toName: (item: Item) => string,
  ): Tally {
    const tally = new Tally();
    for (const item of items) tally.add(toName(item), item.units);
    return tally;
  }

  add(name: string, units: number): void {
    const sum = this.get(name) + units;
    if (sum > 0) this.#sums.set(name, sum);
    else this.#sums.delete(name);
  }

  get(name: string): number {
    return this.#sums.get(name) ?? 0;
  }

  smallestFirst(names: Iterable<string>): string[] {
    return [...names].sort((a, b) => this.get(a) - this.get(b));
  }

  /** Null if there is no name other than `except`. */
  largest(except: string): string | null {
    let largest: string | null = null;
    for (const [name, sum] of this.#sums)
      if (name !== except && sum > (largest === null ? 0 : this.get(largest))) largest = name;
    return largest;
  }
}
