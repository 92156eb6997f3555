// The temporary files that hold an unfinished object. Only the process that made a segment writes to it, one call at a
// time, and only behind the end of the file: a fenced process that still writes cannot change recorded bytes.
import fs from 'node:fs';
import { unlink } from 'node:fs/promises';
import path from 'node:path';
import { ignore, isAbsent, lostBytes } from './disk-errors.ts';
import { closeQuietly, fsyncFd, ftruncateFd, openFd } from './disk-files.ts';
import { copyPieces, createPieceWriter } from './disk-pieces.ts';
import { createFlags } from './disk-places.ts';
import { findMergeStart, type Segment, sumBytes } from './disk-staged-state.ts';
import type { DiskResources } from './disk-writer.ts';

const { O_RDONLY, O_WRONLY } = fs.constants;
/** Bounds the files of a client that alternates between processes byte by byte. */
const segmentsMax = 64;

/** A segment that this call alone may write to. */
export interface OpenSegment {
  readonly fd: number;
  readonly file: string;
  readonly bytes: number;
  readonly isNew: boolean;
  readonly before: readonly Segment[];
  /** Files whose bytes this segment has taken over. */
  readonly replaced: readonly string[];
  close(): void;
}

export class DiskSegments {
  readonly #resources: DiskResources;
  readonly #busy = new Set<string>();

  constructor(resources: DiskResources) {
    this.#resources = resources;
  }

  /** Continues the last segment if this process may, or starts a new one. Rejects if recorded bytes are lost. */
  async open(key: string, segments: readonly Segment[], signal?: AbortSignal): Promise<OpenSegment> {
    return (await this.#continueLast(segments)) ?? (await this.#start(key, segments, signal));
  }

  /**
   * Moves the only segment to `target`. Resolves to false if another process made it, or a call of this one still writes to
   * it: then its bytes must be copied.
   */
  async moveTo(target: string, segment: Segment): Promise<boolean> {
    if (!this.#claim(segment.file)) return false;
    try {
      const { fd, bytes } = await this.#openRecorded(segment, O_WRONLY);
      try {
        if (bytes > segment.bytes) await ftruncateFd(fd, segment.bytes).then(() => fsyncFd(fd));
      } finally {
        closeQuietly(fd);
      }
      await this.#resources.places.move(this.#resources.layout.tempPath(segment.file), target);
      return true;
    } finally {
      this.#busy.delete(segment.file);
    }
  }

  /** Not durable yet. */
  async copyTo(fd: number, segments: readonly Segment[], signal?: AbortSignal): Promise<void> {
    const { slabs, space } = this.#resources;
    const write = createPieceWriter(fd, space);
    for (const segment of segments) {
      const source = await this.#openRecorded(segment, O_RDONLY);
      const writeUnlessAborted = (piece: Buffer) => {
        signal?.throwIfAborted();
        return write(piece);
      };
      await copyPieces(slabs, source.fd, segment.bytes, writeUnlessAborted, lostBytes).finally(() =>
        closeQuietly(source.fd),
      );
    }
  }

  async remove(files: readonly string[]): Promise<void> {
    for (const file of files) await unlink(this.#resources.layout.tempPath(file)).catch(ignore('ENOENT'));
  }

  #claim(file: string): boolean {
    if (this.#busy.has(file) || !this.#resources.layout.isOwnTemp(file)) return false;
    this.#busy.add(file);
    return true;
  }

  async #continueLast(segments: readonly Segment[]): Promise<OpenSegment | null> {
    const last = segments.at(-1);
    if (!last || !this.#claim(last.file)) return null;
    try {
      const { fd, bytes } = await this.#openRecorded(last, O_WRONLY);
      const before = segments.slice(0, -1);
      // A longer file holds bytes of a later call, perhaps recorded by now: the caller's state may be out of date.
      if (bytes === last.bytes) return this.#toOpen({ ...last, fd, before, replaced: [], isNew: false });
      closeQuietly(fd);
    } catch (error) {
      this.#busy.delete(last.file);
      throw error;
    }
    this.#busy.delete(last.file);
    return null;
  }

  async #start(key: string, segments: readonly Segment[], signal?: AbortSignal): Promise<OpenSegment> {
    const { layout, places } = this.#resources;
    await places.ready();
    for (const segment of segments) closeQuietly((await this.#openRecorded(segment, O_RDONLY)).fd);
    const kept = segments.length < segmentsMax ? segments.length : findMergeStart(segments);
    const merged = segments.slice(kept);
    const temp = layout.newTempPath(key);
    const fd = await openFd(temp, createFlags, 0o644);
    try {
      await this.copyTo(fd, merged, signal);
    } catch (error) {
      closeQuietly(fd);
      await unlink(temp).catch(() => undefined);
      throw error;
    }
    const file = path.basename(temp);
    this.#busy.add(file);
    const [before, replaced] = [segments.slice(0, kept), merged.map((segment) => segment.file)];
    return this.#toOpen({ fd, file, bytes: sumBytes(merged), before, replaced, isNew: true });
  }

  #toOpen(segment: Omit<OpenSegment, 'close'>): OpenSegment {
    const close = () => {
      closeQuietly(segment.fd);
      this.#busy.delete(segment.file);
    };
    return { ...segment, close };
  }

  /** Resolves to the length of the file, which is at least what was recorded. */
  async #openRecorded(segment: Segment, flags: number): Promise<{ fd: number; bytes: number }> {
    const { layout } = this.#resources;
    try {
      const fd = await openFd(layout.tempPath(segment.file), flags);
      const bytes = fs.fstatSync(fd).size;
      if (bytes >= segment.bytes) return { fd, bytes };
      closeQuietly(fd);
    } catch (error) {
      if (!isAbsent(error)) throw error;
      await layout.assertRootExists();
    }
    throw lostBytes();
  }
}
