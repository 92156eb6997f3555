// The uploads that this process is receiving, and the hashes of those it has received a part of. Another process that takes
// an upload over says so by a notification.
import type { LiveUploads } from '../../contract/upload.ts';
import { type Deferred, deferred } from '../../kernel/async/deferred.ts';
import { withTimeout } from '../../kernel/async/time-limit.ts';
import type { Database } from '../../platform/db/postgres.ts';
import type { Hashing, StreamHash } from '../../platform/hashing/stream-hash.ts';

/** As named in db/functions. */
const channel = 'pakhus_uploads';
/** Nobody waits longer behind a request whose client is gone. */
const lastBytesMsMax = 800;
/** Each takes about a kilobyte. A file whose hash was dropped is read once more when it is complete. */
const hashesMax = 2_000;

interface Receiving {
  /** A request with a later one has taken over. */
  readonly epoch: number;
  readonly stop: () => void;
  readonly ended: Deferred<void>;
}

interface KeptHash {
  readonly bytes: number;
  readonly hash: StreamHash;
}

export const createLiveUploads = (db: Database): LiveUploads => new ProcessUploads(db);

class ProcessUploads implements LiveUploads {
  readonly #db: Database;
  readonly #receiving = new Map<string, Set<Receiving>>();
  /** The one used last comes last. */
  readonly #hashes = new Map<string, KeptHash>();
  readonly counts = { resumptions: 0, takeovers: 0 };
  #listening: Promise<() => Promise<void>> | null = null;

  constructor(db: Database) {
    this.#db = db;
  }

  begin(uploadId: string, epoch: number, stop: () => void): () => void {
    const receiving: Receiving = { epoch, stop, ended: deferred() };
    const ofUpload = this.#receiving.get(uploadId) ?? new Set();
    this.#receiving.set(uploadId, ofUpload.add(receiving));
    this.#listen();
    return () => {
      receiving.ended.resolve();
      ofUpload.delete(receiving);
      if (ofUpload.size === 0) this.#receiving.delete(uploadId);
    };
  }

  async stop(uploadId: string): Promise<void> {
    const ended: Promise<void>[] = [];
    for (const receiving of this.#receiving.get(uploadId) ?? []) {
      receiving.stop();
      ended.push(receiving.ended.promise);
    }
    if (ended.length > 0) await withTimeout(lastBytesMsMax, Promise.all(ended));
  }

  takeHash(uploadId: string, bytes: number): StreamHash | null {
    const kept = this.#hashes.get(uploadId);
    if (!kept) return null;
    this.#hashes.delete(uploadId);
    if (kept.bytes === bytes) return kept.hash;
    kept.hash.close();
    return null;
  }

  keepHash(uploadId: string, bytes: number, hash: StreamHash): void {
    this.#hashes.get(uploadId)?.hash.close();
    this.#hashes.delete(uploadId);
    this.#hashes.set(uploadId, { bytes, hash });
    if (this.#hashes.size <= hashesMax) return;
    const [oldest] = this.#hashes.keys();
    if (oldest !== undefined) this.takeHash(oldest, -1);
  }

  countClaim(at: number, tookOver: boolean): void {
    if (at > 0) this.counts.resumptions += 1;
    if (tookOver) this.counts.takeovers += 1;
  }

  async close(): Promise<void> {
    for (const { hash } of this.#hashes.values()) hash.close();
    this.#hashes.clear();
    const stopListening = await this.#listening?.catch(() => null);
    await stopListening?.();
  }

  /** From the first upload on: a connection that few processes need. Without it, a takeover is noticed a little later. */
  #listen(): void {
    if (this.#listening) return;
    this.#listening = this.#db.listen(channel, (payload) => this.#stopFenced(payload));
    this.#listening.catch(() => {
      this.#listening = null;
    });
  }

  /** `payload` is the id of the upload and the epoch of the request that has taken it over. */
  #stopFenced(payload: string): void {
    const [uploadId = '', epoch] = payload.split(' ');
    for (const receiving of this.#receiving.get(uploadId) ?? [])
      if (receiving.epoch < Number(epoch)) receiving.stop();
  }
}

/** Begins the hash of an upload, or goes on with the one that this process has. Null if another one has begun it. */
export function resumeHash(
  { hashing, liveUploads }: { readonly hashing: Hashing; readonly liveUploads: LiveUploads },
  uploadId: string,
  bytes: number,
): StreamHash | null {
  const kept = liveUploads.takeHash(uploadId, bytes);
  return kept ?? (bytes === 0 ? hashing.open('content') : null);
}
