// One worker thread that runs hash-worker.js, as seen from the event loop. If the thread dies or stops answering, all its
// hashes fail: none of them gives a digest.
import { Worker } from 'node:worker_threads';
import { type Deferred, deferred } from '../../kernel/async/deferred.ts';
import { outage } from '../../kernel/error.ts';
import type { HashReply, HashRequest } from './hash-protocol.ts';
import type { HashAlgorithm, StreamHash } from './stream-hash.ts';

/** Without limits, garbage of messages could take 16 MiB per thread. */
const resourceLimits = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 3 };
/** More than one check: after a pause of the whole process the first one may run before the replies are read. */
const silentChecksMax = 3;

type Reply = Deferred<Uint8Array | null> & { readonly total: number };

interface OpenHash {
  readonly id: number;
  readonly algorithm: HashAlgorithm;
  /** Bytes sent to the thread. */
  total: number;
  /** For requests without a reply, oldest first. */
  readonly waiting: Reply[];
  isClosed: boolean;
}

export class HashThread {
  /** Resolves when the thread is gone. */
  readonly ended: Promise<void>;
  readonly #worker: Worker;
  readonly #checkEveryMs: number;
  readonly #onFailed: (cause: unknown) => void;
  readonly #hashes = new Map<number, OpenHash>();
  #nextId = 0;
  #openHashes = 0;
  #unanswered = 0;
  #replies = 0;
  #watch: NodeJS.Timeout | null = null;
  #failure: { readonly cause: unknown } | null = null;

  /** `onFailed` is called once, unless `end` comes first. */
  constructor(workerPath: string, silenceMaxMs: number, onFailed: (cause: unknown) => void) {
    this.#checkEveryMs = silenceMaxMs / silentChecksMax;
    this.#onFailed = onFailed;
    this.#worker = new Worker(workerPath, { execArgv: [], env: {}, resourceLimits });
    this.#worker.unref();
    this.#worker.on('message', (reply: HashReply) => this.#receive(reply));
    this.#worker.on('error', (error) => this.#fail(error));
    this.#worker.on('messageerror', (error) => this.#fail(error));
    this.ended = new Promise((resolve) => {
      this.#worker.on('exit', (code) => {
        this.#fail(new Error(`The hash thread ended with code ${code}`));
        resolve();
      });
    });
  }

  get openHashes(): number {
    return this.#openHashes;
  }

  /** Requests without a reply. */
  get unanswered(): number {
    return this.#unanswered;
  }

  open(algorithm: HashAlgorithm): StreamHash {
    const hash: OpenHash = { id: this.#nextId++, algorithm, total: 0, waiting: [], isClosed: false };
    const { id } = hash;
    this.#hashes.set(id, hash);
    this.#openHashes += 1;
    return {
      update: async (bytes, place) => {
        hash.total += bytes.length;
        await this.#ask(hash, { kind: 'update', id, algorithm, bytes, place: place ?? null });
      },
      digest: async () => {
        const digest = await this.#ask(hash, { kind: 'digest', id, algorithm });
        this.#close(hash);
        return Buffer.from(digest ?? []);
      },
      close: () => {
        if (!hash.isClosed && !this.#failure) this.#worker.postMessage({ kind: 'forget', id });
        this.#close(hash);
      },
    };
  }

  /** Fails the open hashes and resolves when the thread is gone. */
  async end(): Promise<void> {
    this.#stop(new Error('Hashing is shutting down'));
    await this.ended;
  }

  #ask(hash: OpenHash, request: HashRequest): Promise<Uint8Array | null> {
    if (this.#failure) throw hashingFailed(this.#failure.cause);
    const reply = { ...deferred<Uint8Array | null>(), total: hash.total };
    hash.waiting.push(reply);
    this.#unanswered += 1;
    // A process with nothing else to do must not end while a caller waits for a digest.
    if (this.#unanswered === 1) this.#worker.ref();
    this.#watch ??= this.#startWatch();
    this.#worker.postMessage(request);
    return reply.promise;
  }

  #receive({ id, total, digest, fault }: HashReply): void {
    if (this.#failure) return;
    const hash = this.#hashes.get(id);
    const reply = hash?.waiting[0];
    if (!hash || reply?.total !== total) {
      this.#fail(new Error('The hash thread lost track of a hash'));
      return;
    }
    hash.waiting.shift();
    this.#replies += 1;
    this.#unanswered -= 1;
    if (this.#unanswered === 0) this.#worker.unref();
    if (fault) reply.reject(Object.assign(new Error(fault.message), { code: fault.code }));
    else reply.resolve(digest);
    this.#dropIfDone(hash);
  }

  #close(hash: OpenHash): void {
    if (hash.isClosed) return;
    hash.isClosed = true;
    this.#openHashes -= 1;
    this.#dropIfDone(hash);
  }

  #dropIfDone({ id, isClosed, waiting }: OpenHash): void {
    if (isClosed && waiting.length === 0) this.#hashes.delete(id);
  }

  #startWatch(): NodeJS.Timeout {
    let seen = this.#replies;
    let silentChecks = 0;
    const check = () => {
      if (this.#unanswered === 0) return this.#stopWatch();
      silentChecks = seen === this.#replies ? silentChecks + 1 : 0;
      seen = this.#replies;
      if (silentChecks >= silentChecksMax) this.#fail(new Error('The hash thread does not answer'));
    };
    return setInterval(check, this.#checkEveryMs).unref();
  }

  #stopWatch(): void {
    if (this.#watch) clearInterval(this.#watch);
    this.#watch = null;
  }

  #fail(cause: unknown): void {
    if (this.#failure) return;
    this.#stop(cause);
    this.#onFailed(cause);
  }

  #stop(cause: unknown): void {
    if (this.#failure) return;
    this.#failure = { cause };
    this.#stopWatch();
    this.#unanswered = 0;
    this.#worker.unref();
    void this.#worker.terminate();
    const replies = [...this.#hashes.values()].flatMap(({ waiting }) => waiting);
    this.#hashes.clear();
    // Not before: the thread may be writing, and the file will be closed and its descriptor used again.
    void this.ended.then(() => {
      for (const reply of replies) reply.reject(hashingFailed(cause));
    });
  }
}

const hashingFailed = (cause: unknown) =>
  outage('capacity', 'The file could not be hashed: try again in a moment', cause);
