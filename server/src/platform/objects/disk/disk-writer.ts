// Writes objects durably: into a temporary file, which is renamed to its place once it is complete.
import fs from 'node:fs';
import { access, copyFile, link, mkdir, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { allEnded } from '../../../kernel/async/settled.ts';
import type { StreamHash } from '../../hashing/stream-hash.ts';
import { type BodyReader, notingFaults } from '../body-reader.ts';
import type { PutOptions, Zone } from '../object-store.ts';
import { codeOf, guardDisk, isAbsent, noSuchObject } from './disk-errors.ts';
import {
  closeQuietly,
  createFolderSync,
  fdatasyncFd,
  fsyncFd,
  openFd,
  renamePath,
  syncFolder,
  writeAll,
} from './disk-files.ts';
import type { DiskLayout } from './disk-layout.ts';
import { DiskSlabs, writeThroughSlabs } from './disk-slabs.ts';
import type { DiskSpace } from './disk-space.ts';

const { O_CREAT, O_DSYNC, O_EXCL, O_RDONLY, O_WRONLY } = fs.constants;
const createFlags = O_WRONLY | O_CREAT | O_EXCL;
/** How much of a stream is reserved at a time. Small, since every upload may hold that much without using it. */
const reservedBytes = 1 << 20;
const syncedFoldersMax = 100_000;

export class DiskWriter {
  readonly #layout: DiskLayout;
  readonly #space: DiskSpace;
  readonly #sync = createFolderSync();
  readonly #slabs = new DiskSlabs();
  /**
   * Folders whose own entry is known to be on disk. Folders made by another process, or by this one before a crash, are
   * missing here, so their parents are synced once more.
   */
  readonly #synced = new Set<string>();

  constructor(layout: DiskLayout, space: DiskSpace) {
    this.#layout = layout;
    this.#space = space;
  }

  /** Creates the folders of the store. Their entries are on disk afterwards. */
  async #ready(): Promise<void> {
    await this.#layout.ready();
    if (this.#synced.size > 0) return;
    const { zones, shards } = this.#layout;
    for (const folder of [...shards, zones.private, zones.public]) this.#synced.add(folder);
  }

  // O_DSYNC makes the write itself durable: one call fewer than write and fdatasync.
  putBuffer(zone: Zone, key: string, body: Buffer, signal?: AbortSignal): Promise<void> {
    const fill = async (fd: number) => {
      await this.#space.reserve(body.length);
      await writeAll(fd, body);
    };
    return this.#write(zone, key, createFlags | O_DSYNC, fill, signal);
  }

  async putStream(
    zone: Zone,
    key: string,
    reader: BodyReader,
    { signal, hash }: Pick<PutOptions, 'signal' | 'hash'>,
  ): Promise<void> {
    const slab = this.#slabs.take();
    try {
      const first = await reader.fill(slab);
      if (!reader.ended) return await this.#putLong(zone, key, reader, slab, first, signal, hash);
      const put = guardDisk('put', () => this.putBuffer(zone, key, first, signal));
      await allEnded(hash ? [put, hash.update(first)] : [put]);
    } finally {
      this.#slabs.giveBack(slab);
    }
  }

  /** `first` is the beginning of the body, in `slab`. */
  #putLong(
    zone: Zone,
    key: string,
    reader: BodyReader,
    slab: Buffer,
    first: Buffer,
    signal?: AbortSignal,
    hash?: StreamHash,
  ): Promise<void> {
    let hasBodyFailed = false;
    const noting = notingFaults(reader, () => {
      hasBodyFailed = true;
    });
    const fill = async (fd: number) => {
      let reserved = 0;
      let written = Promise.resolve();
      const append = async (before: Promise<void>, piece: Buffer) => {
        await before;
        if (reserved <= 0) await this.#space.reserve(reservedBytes);
        reserved = (reserved > 0 ? reserved : reservedBytes) - piece.length;
        await writeAll(fd, piece);
      };
      await writeThroughSlabs(this.#slabs, noting, slab, first, (piece) => {
        written = append(written, piece);
        return allEnded(hash ? [written, hash.update(piece)] : [written]);
      });
      await fdatasyncFd(fd);
    };
    const write = () => this.#write(zone, key, createFlags, fill, signal);
    return guardDisk('put', write, () => hasBodyFailed);
  }

  async copy(from: Zone, to: Zone, key: string): Promise<void> {
    await this.#ready();
    const temp = this.#layout.newTempPath(key);
    try {
      await this.#linkOrCopy(this.#layout.pathFor(from, key), temp);
      await this.#moveIntoPlace(temp, this.#layout.pathFor(to, key));
    } finally {
      // rename() of two links to the same file does nothing, so the temporary name may still exist.
      await unlink(temp).catch(() => undefined);
    }
  }

  /** Unlinks, and syncs the folder: a public file must not come back after a power cut. */
  async remove(target: string): Promise<void> {
    try {
      await unlink(target);
    } catch (error) {
      if (!isAbsent(error)) throw error;
      return this.#layout.assertRootExists();
    }
    await this.#sync(path.dirname(target));
  }

  /** Runs `fill` on a new temporary file and moves it into place. On any failure no temporary file stays. */
  async #write(
    zone: Zone,
    key: string,
    flags: number,
    fill: (fd: number) => Promise<void>,
    signal?: AbortSignal,
  ): Promise<void> {
    const target = this.#layout.pathFor(zone, key);
    await this.#ready();
    const temp = this.#layout.newTempPath(key);
    let fd = await openFd(temp, flags, 0o644);
    try {
      await fill(fd);
      const written = fd;
      fd = -1;
      fs.closeSync(written);
      signal?.throwIfAborted();
      await this.#moveIntoPlace(temp, target);
    } catch (error) {
      if (fd >= 0) closeQuietly(fd);
      await unlink(temp).catch(() => undefined);
      throw error;
    }
  }

  /** Durable when it resolves: the folder is synced, and its parents if it is new. */
  async #moveIntoPlace(temp: string, target: string): Promise<void> {
    const folder = path.dirname(target);
    try {
      await renamePath(temp, target);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      await access(this.#layout.root);
      await mkdir(folder, { recursive: true });
      for (const at of this.#upToRoot(folder)) this.#synced.delete(at);
      await renamePath(temp, target);
    }
    await this.#sync(folder);
    if (!this.#synced.has(folder)) await this.#syncParents(folder);
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

  async #linkOrCopy(source: string, temp: string): Promise<void> {
    try {
      await link(source, temp);
    } catch (error) {
      if (isAbsent(error)) throw noSuchObject();
      // The file system has no hard links, or this file has too many: a copy takes space, but works as well.
      await this.#space.reserve((await stat(source)).size);
      await copyFile(source, temp, fs.constants.COPYFILE_EXCL);
      const fd = await openFd(temp, O_RDONLY);
      await fsyncFd(fd).finally(() => closeQuietly(fd));
    }
  }
}
