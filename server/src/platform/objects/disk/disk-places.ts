// Puts finished temporary files in their place, so that the new entry survives a power cut.
import fs from 'node:fs';
import { access, link, mkdir, unlink } from 'node:fs/promises';
import path from 'node:path';
import { codeOf } from './disk-errors.ts';
import { closeQuietly, createFolderSync, openFd, renamePath, syncFolder } from './disk-files.ts';
import type { DiskLayout } from './disk-layout.ts';

const { O_CREAT, O_EXCL, O_WRONLY } = fs.constants;
/** For files that nobody else has opened. */
export const createFlags = O_WRONLY | O_CREAT | O_EXCL;
const syncedFoldersMax = 100_000;

export type Fill = (fd: number) => Promise<void>;

export class DiskPlaces {
  readonly #layout: DiskLayout;
  /**
   * Folders whose own entry is known to be on disk. Folders made by another process, or by this one before a crash, are
   * missing here, so their parents are synced once more.
   */
  readonly #synced = new Set<string>();
  readonly sync = createFolderSync();

  constructor(layout: DiskLayout) {
    this.#layout = layout;
  }

  /** Creates the folders of the store. Their entries are on disk afterwards. */
  async ready(): Promise<void> {
    await this.#layout.ready();
    if (this.#synced.size > 0) return;
    const { zones, shards, tmp } = this.#layout;
    for (const folder of [...shards, zones.private, zones.public, tmp]) this.#synced.add(folder);
  }

  /** Runs `fill` on a new temporary file and moves it to `target`. On any failure no temporary file stays. */
  async create(
    target: string,
    key: string,
    flags: number,
    fill: Fill,
    signal?: AbortSignal,
    move = this.move,
  ): Promise<void> {
    await this.ready();
    const temp = this.#layout.newTempPath(key);
    let fd = await openFd(temp, flags, 0o644);
    try {
      await fill(fd);
      const written = fd;
      fd = -1;
      fs.closeSync(written);
      signal?.throwIfAborted();
      await move(temp, target);
    } catch (error) {
      if (fd >= 0) closeQuietly(fd);
      await unlink(temp).catch(() => undefined);
      throw error;
    }
  }

  /** Durable when it resolves: the folder is synced, and its parents if it is new. */
  readonly move = async (temp: string, target: string): Promise<void> => {
    await this.#inFolder(target, () => renamePath(temp, target));
    await this.syncEntry(target);
  };

  /** Like `move`, but keeps what is at `target` already. The temporary file is gone either way. */
  readonly moveIfAbsent = async (temp: string, target: string): Promise<void> => {
    try {
      await this.#inFolder(target, () => link(temp, target));
    } catch (error) {
      // Other errors: the file system has no hard links.
      if (codeOf(error) !== 'EEXIST') return this.move(temp, target);
    }
    await unlink(temp).catch(() => undefined);
    await this.syncEntry(target);
  };

  /** Makes the entry of a file durable that was moved there, perhaps by a process that was killed right after. */
  async syncEntry(target: string): Promise<void> {
    const folder = path.dirname(target);
    await this.sync(folder);
    if (!this.#synced.has(folder)) await this.#syncParents(folder);
  }

  /** Saves memory once a folder has gone for good. */
  forget(folder: string): void {
    this.#synced.delete(folder);
  }

  /** Runs `place` again with the folder made, if that was missing. */
  async #inFolder(target: string, place: () => Promise<void>): Promise<void> {
    try {
      await place();
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      const folder = path.dirname(target);
      await access(this.#layout.root);
      await mkdir(folder, { recursive: true });
      for (const at of this.#upToRoot(folder)) this.#synced.delete(at);
      await place();
    }
  }

  async #syncParents(folder: string): Promise<void> {
    for (const at of this.#upToRoot(folder)) {
      if (this.#synced.has(at)) break;
      await syncFolder(path.dirname(at));
    }
    if (this.#synced.size >= syncedFoldersMax) this.#synced.clear();
    for (const at of this.#upToRoot(folder)) this.#synced.add(at);
  }

  *#upToRoot(folder: string): Generator<string> {
    for (let at = folder; at !== this.#layout.root; at = path.dirname(at)) yield at;
  }
}
