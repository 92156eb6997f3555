// Runs bulk work in chunks, one at a time with a rest after each, so that it uses a bounded share of what others need too.
import { deferred } from './deferred.ts';

export class Pacer {
  readonly #restRatio: number;
  #free: Promise<void> = Promise.resolve();

  /** The rest after a chunk lasts `restRatio` times as long as the chunk did. */
  constructor(restRatio: number) {
    this.#restRatio = restRatio;
  }

  /** Callers take turns, first come first served. The next one waits for the rest as well. */
  async run<Result>(chunk: () => Promise<Result>): Promise<Result> {
    const { promise, resolve } = deferred<void>();
    const turn = this.#free;
    this.#free = promise;
    await turn;
    const startedAt = performance.now();
    try {
      return await chunk();
    } finally {
      setTimeout(resolve, (performance.now() - startedAt) * this.#restRatio);
    }
  }
}
