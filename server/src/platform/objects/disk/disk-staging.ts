// Objects that arrive in several requests, on disk: in segments that this service appends to, or in parts that clients send.
import { stat } from 'node:fs/promises';
import { assertKey } from '../object-key.ts';
import type { Body } from '../object-store.ts';
import type {
  AppendOptions,
  CompleteOptions,
  PartUrlOptions,
  StagedObject,
  StagedObjects,
  StagedProgress,
  StagedState,
} from '../staged-objects.ts';
import { absentAs, guardDisk } from './disk-errors.ts';
import { fdatasyncFd } from './disk-files.ts';
import { DiskPartFiles } from './disk-part-files.ts';
import { partBytesFor } from './disk-part-list.ts';
import { createPartSigner } from './disk-part-url.ts';
import { createPieceReader } from './disk-pieces.ts';
import { createFlags } from './disk-places.ts';
import { SegmentWriter } from './disk-segment-writer.ts';
import { DiskSegments } from './disk-segments.ts';
import { writeThroughSlabs } from './disk-slabs.ts';
import { directState, isDirect, parseSegments, type SegmentedState, sumBytes } from './disk-staged-state.ts';
import type { DiskResources } from './disk-writer.ts';

export interface DiskStagingOptions {
  readonly signingSecret: Buffer | string;
  /** Where the service takes parts, below the key of the object. */
  readonly urlPath: string;
  readonly clock: () => number;
}

export function createDiskStaging(resources: DiskResources, options: DiskStagingOptions): StagedObjects {
  const signer = createPartSigner(options.signingSecret);
  const staging = new DiskStaging(resources);
  return {
    append: (...args) => staging.append(...args),
    beginDirect: async ({ key }) => {
      assertKey(key);
      return directState;
    },
    partBytesFor,
    partUrl({ key }, { number, bytes, expiresInSeconds, origin }: PartUrlOptions) {
      assertKey(key);
      const expiresAtSeconds = Math.floor(options.clock() / 1000) + expiresInSeconds;
      const query = signer.sign(key, number, bytes, expiresAtSeconds);
      return `${origin}${options.urlPath}/${key}/parts/${number}?${query}`;
    },
    putPart: (key, number, bytes, body, given = {}) => staging.parts.put(key, number, bytes, body, given),
    complete: (...args) => staging.complete(...args),
    discard: (object) => guardDisk('discard', () => staging.removeUnfinished(object)),
  };
}

class DiskStaging {
  readonly parts: DiskPartFiles;
  readonly #resources: DiskResources;
  readonly #segments: DiskSegments;

  constructor(resources: DiskResources) {
    this.#resources = resources;
    this.#segments = new DiskSegments(resources);
    this.parts = new DiskPartFiles(resources);
  }

  async append(
    object: StagedObject,
    from: number,
    body: Body,
    options: AppendOptions,
  ): Promise<StagedProgress> {
    const { slabs } = this.#resources;
    const { signal } = options;
    const reader = createPieceReader(body, signal);
    const slab = slabs.take();
    try {
      const { segments, replaced } = this.#parse(object, from);
      const first = await reader.fill(slab);
      if (first.length === 0) return { state: object.state, bytes: from, parts: [] };
      // Recorded by now, since this state is.
      await guardDisk('append', () => this.#segments.remove(replaced));
      const write = (writer: SegmentWriter) =>
        writeThroughSlabs(slabs, reader, slab, first, writer.write).then(() => writer.finish());
      return await this.#withSegment(object.key, segments, options, write);
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      slabs.giveBack(slab);
      reader.close();
    }
  }

  async complete(object: StagedObject, { bytes, parts, signal }: CompleteOptions): Promise<void> {
    const target = this.#resources.layout.pathFor(object.zone, object.key);
    const isPlaced = () => this.#isPlaced(target, bytes);
    const place = () =>
      isDirect(object.state)
        ? this.parts.joinTo(target, object.key, bytes, parts, signal)
        : this.#placeSegments(target, object, bytes, signal);
    const completeOnce = async () => {
      if (await isPlaced()) return;
      try {
        await place();
      } catch (error) {
        // Another call may have completed the object meanwhile, and removed what this one was reading.
        if (!(await isPlaced().catch(() => false))) throw error;
      }
    };
    await guardDisk('complete', completeOnce, () => signal?.aborted === true);
    await this.removeUnfinished(object).catch(() => undefined);
  }

  async removeUnfinished(object: StagedObject): Promise<void> {
    if (isDirect(object.state)) return this.parts.remove(object.key);
    const { segments, replaced } = this.#parse(object);
    await this.#segments.remove([...segments.map(({ file }) => file), ...replaced]);
  }

  async #withSegment(
    key: string,
    segments: SegmentedState['segments'],
    options: AppendOptions,
    write: (writer: SegmentWriter) => Promise<StagedProgress>,
  ): Promise<StagedProgress> {
    const { signal } = options;
    const open = () => this.#segments.open(key, segments, signal);
    const segment = await guardDisk('append', open, () => signal?.aborted === true);
    const writer = new SegmentWriter(this.#resources, segment, options);
    try {
      return await write(writer);
    } catch (error) {
      await writer.abandon();
      throw error;
    } finally {
      segment.close();
    }
  }

  /** Also makes the entry durable: the process that placed the object may have been killed before that. */
  async #isPlaced(target: string, bytes: number): Promise<boolean> {
    const found = await stat(target).catch(absentAs(null));
    if (!found?.isFile() || found.size !== bytes) return false;
    await this.#resources.places.syncEntry(target);
    return true;
  }

  async #placeSegments(
    target: string,
    object: StagedObject,
    bytes: number,
    signal?: AbortSignal,
  ): Promise<void> {
    const { segments } = this.#parse(object, bytes);
    const [only] = segments;
    if (only && segments.length === 1 && (await this.#segments.moveTo(target, only))) return;
    const fill = async (fd: number) => {
      await this.#segments.copyTo(fd, segments, signal);
      await fdatasyncFd(fd);
    };
    await this.#resources.places.create(target, object.key, createFlags, fill, signal);
  }

  /** `bytes` is how many the caller has recorded; another sum is a bug. */
  #parse(
    { zone, key, state }: { zone: StagedObject['zone']; key: string; state: StagedState },
    bytes?: number,
  ) {
    const { layout } = this.#resources;
    layout.pathFor(zone, key);
    if (isDirect(state)) throw new Error('Clients send the parts of this object');
    const parsed = parseSegments(state, (file) => layout.keyOfTemp(file) === key);
    const found = sumBytes(parsed.segments);
    if (bytes !== undefined && found !== bytes)
      throw new Error(`The state holds ${found} bytes instead of ${bytes}`);
    return parsed;
  }
}
