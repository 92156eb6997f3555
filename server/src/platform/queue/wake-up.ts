// Wakes idle workers when there is new work.

export class WakeUp {
  readonly #waiting = new Set<() => void>();
  #count = 0;

  /** How often it was signalled. A worker that compares counts misses no signal that came before it waited. */
  get count(): number {
    return this.#count;
  }

  signal(): void {
    this.#count += 1;
    for (const wake of this.#waiting) wake();
  }

  /** Waits for a signal after `seen`, or for the timeout, if there is one. */
  wait(seen: number, timeoutMs?: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#count !== seen) return resolve();
      const wake = () => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = timeoutMs === undefined ? undefined : setTimeout(wake, timeoutMs);
      this.#waiting.add(wake);
    });
  }
}
