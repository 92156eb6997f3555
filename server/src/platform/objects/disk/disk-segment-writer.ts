// Writes a body behind the recorded bytes of a segment, and reports what has become durable meanwhile.
import { unlink } from 'node:fs/promises';
import { allEnded } from '../../../kernel/async/settled.ts';
import type { AppendOptions, StagedProgress } from '../staged-objects.ts';
import { guardDisk } from './disk-errors.ts';
import { fdatasyncFd, ftruncateFd } from './disk-files.ts';
import { createPieceWriter, type WritePiece } from './disk-pieces.ts';
import type { OpenSegment } from './disk-segments.ts';
import { sumBytes, toState } from './disk-staged-state.ts';
import type { DiskResources } from './disk-writer.ts';

/** What a crash can cost a client at most, and how much is synced at a time. */
const reportEveryBytes = 16 << 20;
/** A sync is started this often while the body still arrives, so that the last one, which the client waits for, is short. */
const flushEveryBytes = 2 << 20;

export class SegmentWriter {
  readonly #resources: DiskResources;
  readonly #segment: OpenSegment;
  readonly #options: AppendOptions;
  readonly #writePiece: WritePiece;
  /** The length of the segment, with what is still being written. */
  #bytes: number;
  /** The length that states refer to, recorded or not; null if none refers to the segment. */
  #reported: number | null;
  #nextReportAt: number;
  #report = Promise.resolve();
  /** The sync in flight. The system reports a failed write only once, so its outcome must not be lost. */
  #flush: Promise<void> | null = null;
  #nextFlushAt: number;
  #flushFailure: { readonly error: unknown } | null = null;

  constructor(resources: DiskResources, segment: OpenSegment, options: AppendOptions) {
    this.#resources = resources;
    this.#segment = segment;
    this.#options = options;
    this.#writePiece = createPieceWriter(segment.fd, resources.space, segment.bytes, options.hash);
    this.#bytes = segment.bytes;
    this.#reported = segment.isNew ? null : segment.bytes;
    this.#nextReportAt = segment.bytes + reportEveryBytes;
    this.#nextFlushAt = segment.bytes + flushEveryBytes;
  }

  /** Waits for a report that is due, so that the hash has got exactly the bytes that are reported. */
  readonly write: WritePiece = (piece) => {
    this.#bytes += piece.length;
    if (this.#bytes - this.#segment.bytes > this.#options.bytesMax)
      throw new Error(`The body holds more than ${this.#options.bytesMax} bytes`);
    const end = this.#bytes;
    const written = this.#report.then(() => guardDisk('append', () => this.#writePiece(piece)));
    if (end < this.#nextReportAt) return written.then(() => this.#flushAt(end));
    this.#nextReportAt = this.#bytes + reportEveryBytes;
    this.#report = written.then(async () => this.#options.onDurable(await this.#makeDurable(end)));
    return this.#report;
  };

  /** Call it when all has been written. */
  finish(): Promise<StagedProgress> {
    return this.#makeDurable(this.#bytes);
  }

  /** Drops what was not reported, so that the next call can continue the segment. */
  async abandon(): Promise<void> {
    await this.#flush;
    const { fd, file } = this.#segment;
    const dropped =
      this.#reported === null
        ? unlink(this.#resources.layout.tempPath(file))
        : ftruncateFd(fd, this.#reported);
    // If that fails, the next call starts a new segment, and the sweep removes this one.
    await dropped.catch(() => undefined);
  }

  #flushAt(end: number): void {
    if (this.#flush || end < this.#nextFlushAt) return;
    this.#nextFlushAt = end + flushEveryBytes;
    this.#flush = fdatasyncFd(this.#segment.fd)
      .catch((error: unknown) => {
        this.#flushFailure ??= { error };
      })
      .finally(() => {
        this.#flush = null;
      });
  }

  async #sync(): Promise<void> {
    await this.#flush;
    if (this.#flushFailure) throw this.#flushFailure.error;
    await fdatasyncFd(this.#segment.fd);
  }

  async #makeDurable(bytes: number): Promise<StagedProgress> {
    const { file, before, replaced } = this.#segment;
    const { layout, places } = this.#resources;
    const isEntryDurable = this.#reported !== null;
    await guardDisk('append', () =>
      allEnded([this.#sync(), ...(isEntryDurable ? [] : [places.sync(layout.tmp)])]),
    );
    this.#reported = bytes;
    const segments = [...before, { file, bytes }];
    return { state: toState({ segments, replaced }), bytes: sumBytes(segments), parts: [] };
  }
}
