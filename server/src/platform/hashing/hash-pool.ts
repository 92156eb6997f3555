// Hashes large bodies in a few worker threads, which start when they are needed and also write what goes to disk. Many hashes
// share a thread; a hash stays on the thread that it began on. See docs/adr/0017-hash-threads.md.
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { HashThread } from './hash-thread.ts';
import type { HashAlgorithm, Hashing, StreamHash } from './stream-hash.ts';

export interface HashPool extends Hashing {
  readonly load: HashLoad;
  /** Fails the open hashes and resolves when all threads are gone. */
  close(): Promise<void>;
}

export interface HashLoad {
  readonly threads: number;
  readonly openHashes: number;
  /** Requests that a thread has not answered. */
  readonly unanswered: number;
}

export interface HashPoolOptions {
  readonly log: { warn(fields: Record<string, unknown>, message: string): void };
  readonly threadsMax?: number;
  /** How long a thread may leave its requests without any reply. */
  readonly silenceMaxMs?: number;
  /** The built hash-worker.js; beside this file unless a test runs from source. */
  readonly workerPath?: string;
}

const defaults = {
  // More would only help uploads that arrive faster than four cores hash.
  threadsMax: Math.min(availableParallelism(), 4),
  silenceMaxMs: 30_000,
};

export const createHashPool = (options: HashPoolOptions): HashPool => new ThreadPool(options);

class ThreadPool implements HashPool {
  readonly #options: HashPoolOptions & typeof defaults;
  readonly #workerPath: string;
  readonly #threads = new Set<HashThread>();
  readonly #ending = new Set<Promise<void>>();

  constructor(options: HashPoolOptions) {
    this.#options = { ...defaults, ...options };
    this.#workerPath = options.workerPath ?? fileURLToPath(new URL('./hash-worker.js', import.meta.url));
  }

  get load(): HashLoad {
    const sum = (count: (thread: HashThread) => number) =>
      [...this.#threads].reduce((total, thread) => total + count(thread), 0);
    return {
      threads: this.#threads.size,
      openHashes: sum((thread) => thread.openHashes),
      unanswered: sum((thread) => thread.unanswered),
    };
  }

  open(algorithm: HashAlgorithm): StreamHash {
    return this.#pickThread().open(algorithm);
  }

  async close(): Promise<void> {
    await Promise.all([...[...this.#threads].map((thread) => thread.end()), ...this.#ending]);
  }

  #pickThread(): HashThread {
    const [least] = [...this.#threads].sort((one, other) => one.openHashes - other.openHashes);
    const isFree = least?.openHashes === 0;
    return least && (isFree || this.#threads.size >= this.#options.threadsMax) ? least : this.#startThread();
  }

  #startThread(): HashThread {
    const thread: HashThread = new HashThread(this.#workerPath, this.#options.silenceMaxMs, (cause) => {
      this.#threads.delete(thread);
      this.#options.log.warn({ err: cause }, 'a hash thread failed: the uploads it hashed get 503');
    });
    this.#threads.add(thread);
    this.#ending.add(thread.ended);
    void thread.ended.then(() => this.#ending.delete(thread.ended));
    return thread;
  }
}
