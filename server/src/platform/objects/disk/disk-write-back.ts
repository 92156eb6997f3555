// Syncs a long file while it is still being written, so that little is left to wait for at its end.
import { fdatasyncFd } from './disk-files.ts';

const syncedAfterBytes = 16 << 20;

export class WriteBack {
  readonly #fd: number;
  #unsynced = 0;
  /** Of the last sync, if it is under way or has failed: the system reports a fault only once. */
  #sync: Promise<void> | null = null;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** To be called after each write, with its length. */
  note(bytes: number): void {
    this.#unsynced += bytes;
    if (this.#unsynced < syncedAfterBytes || this.#sync) return;
    this.#unsynced = 0;
    this.#sync = fdatasyncFd(this.#fd).then(() => {
      this.#sync = null;
    });
    // `finish` reports it.
    this.#sync.catch(() => undefined);
  }

  /** Resolves when everything that was written is on disk. */
  async finish(): Promise<void> {
    await this.#sync;
    await fdatasyncFd(this.#fd);
  }

  /** Resolves when no sync is under way, so that the file may be closed. */
  async settled(): Promise<void> {
    await this.#sync?.catch(() => undefined);
  }
}
