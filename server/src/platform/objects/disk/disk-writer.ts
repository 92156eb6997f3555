// Writes objects durably: into a temporary file, which is renamed to its place once it is complete.
import fs from 'node:fs';
import { copyFile, link, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { allEnded } from '../../../kernel/async/settled.ts';
import type { StreamHash } from '../../hashing/stream-hash.ts';
import { type BodyReader, notingFaults } from '../body-reader.ts';
import type { PutOptions, Zone } from '../object-store.ts';
import { guardDisk, isAbsent, noSuchObject } from './disk-errors.ts';
import { closeQuietly, fsyncFd, openFd, writeAll } from './disk-files.ts';
import type { DiskLayout } from './disk-layout.ts';
import { createPieceWriter } from './disk-pieces.ts';
import { createFlags, type DiskPlaces } from './disk-places.ts';
import { type DiskSlabs, writeThroughSlabs } from './disk-slabs.ts';
import type { DiskSpace } from './disk-space.ts';
import { WriteBack } from './disk-write-back.ts';

const { O_DSYNC, O_RDONLY } = fs.constants;

/** What all writes to one folder share. */
export interface DiskResources {
  readonly layout: DiskLayout;
  readonly places: DiskPlaces;
  readonly slabs: DiskSlabs;
  readonly space: DiskSpace;
}

export class DiskWriter {
  readonly #layout: DiskLayout;
  readonly #places: DiskPlaces;
  readonly #slabs: DiskSlabs;
  readonly #space: DiskSpace;

  constructor({ layout, places, slabs, space }: DiskResources) {
    this.#layout = layout;
    this.#places = places;
    this.#slabs = slabs;
    this.#space = space;
  }

  // O_DSYNC makes the write itself durable: one call fewer than write and fdatasync.
  putBuffer(zone: Zone, key: string, body: Buffer, signal?: AbortSignal): Promise<void> {
    const fill = async (fd: number) => {
      await this.#space.reserve(body.length);
      await writeAll(fd, body);
    };
    return this.#places.create(this.#layout.pathFor(zone, key), key, createFlags | O_DSYNC, fill, signal);
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
      const writePiece = createPieceWriter(fd, this.#space, 0, hash);
      const writeBack = new WriteBack(fd);
      const write = async (piece: Buffer) => {
        await writePiece(piece);
        writeBack.note(piece.length);
      };
      try {
        await writeThroughSlabs(this.#slabs, noting, slab, first, write);
        await writeBack.finish();
      } finally {
        await writeBack.settled();
      }
    };
    const write = async () =>
      this.#places.create(this.#layout.pathFor(zone, key), key, createFlags, fill, signal);
    return guardDisk('put', write, () => hasBodyFailed);
  }

  async copy(from: Zone, to: Zone, key: string, newKey: string): Promise<void> {
    await this.#places.ready();
    const temp = this.#layout.newTempPath(newKey);
    try {
      await this.#linkOrCopy(this.#layout.pathFor(from, key), temp);
      await this.#places.move(temp, this.#layout.pathFor(to, newKey));
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
    await this.#places.sync(path.dirname(target));
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
