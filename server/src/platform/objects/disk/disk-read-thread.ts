// Reads small files in a thread of its own, which starts with the first. Those that are asked for together share a message:
// with Node's own thread pool, waking a thread to open a file and again to read it takes more CPU than the reading.
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { type Deferred, deferred } from '../../../kernel/async/deferred.ts';
import { microBatch } from '../../../kernel/async/micro-batch.ts';
import { diskOutage, noSuchObject } from './disk-errors.ts';
import type { ReadOutcome, SmallRead } from './disk-read-worker.ts';

const readsPerMessage = 32;
/** Messages are small and their garbage is short-lived. */
const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 };

export class DiskReadThread {
  readonly #workerPath: string;
  /** For messages without a reply, oldest first. */
  readonly #waiting: Deferred<readonly ReadOutcome[]>[] = [];
  readonly #readTogether = microBatch<SmallRead, ReadOutcome>((reads) => this.#ask(reads), {
    gather: 'iteration',
    itemsMax: readsPerMessage,
  });
  #worker: Worker | null = null;

  /** The built disk-read-worker.js; beside this file unless a test runs from source. */
  constructor(workerPath = fileURLToPath(new URL('./disk-read-worker.js', import.meta.url))) {
    this.#workerPath = workerPath;
  }

  /** Fills `into`, which must be shared memory. Rejects with NOT_FOUND if there is no file of exactly that length. */
  async read(path: string, into: Buffer): Promise<void> {
    if (!(into.buffer instanceof SharedArrayBuffer))
      throw new TypeError('Only shared memory can be read into');
    const outcome = await this.#readTogether({ path, into });
    if (outcome === 'absent') throw noSuchObject();
    if (outcome !== null) throw diskOutage('get', new Error(outcome.fault));
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #ask(reads: readonly SmallRead[]): Promise<readonly ReadOutcome[]> {
    this.#worker ??= this.#start();
    const reply = deferred<readonly ReadOutcome[]>();
    // A process with nothing else to do must not end while a caller waits for a file.
    if (this.#waiting.push(reply) === 1) this.#worker.ref();
    this.#worker.postMessage(reads);
    return reply.promise;
  }

  #start(): Worker {
    const worker = new Worker(this.#workerPath, { execArgv: [], env: {}, resourceLimits });
    worker.on('message', (outcomes: readonly ReadOutcome[]) => {
      this.#waiting.shift()?.resolve(outcomes);
      if (this.#waiting.length === 0) worker.unref();
    });
    const fail = (cause: unknown) => this.#fail(worker, cause);
    worker.on('error', fail);
    worker.on('exit', (code) => fail(new Error(`The thread that reads files ended with code ${code}`)));
    return worker;
  }

  /** The next file starts a new thread. */
  #fail(worker: Worker, cause: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    for (const reply of this.#waiting.splice(0)) reply.reject(diskOutage('get', cause));
  }
}
