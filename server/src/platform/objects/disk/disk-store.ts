// Objects as plain files below one folder. Types and dispositions are not kept here: the file's row has them and the
// signed URL carries them.
import fs from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { outage } from '../../../kernel/error.ts';
import { createBodyReader } from '../body-reader.ts';
import { assertKey, assertRange } from '../object-key.ts';
import type {
  Body,
  CopyTarget,
  DownloadUrlOptions,
  ObjectBody,
  ObjectInfo,
  ObjectMeta,
  ObjectRange,
  ObjectStore,
  PutOptions,
  Zone,
} from '../object-store.ts';
import type { StagedObjects } from '../staged-objects.ts';
import { absentAs, guardDisk, isAbsent } from './disk-errors.ts';
import { openForRead, readFaultsAsOutages, toObjectInfo, walk } from './disk-files.ts';
import { DiskLayout } from './disk-layout.ts';
import { DiskPlaces } from './disk-places.ts';
import { DiskReadThread } from './disk-read-thread.ts';
import { DiskSlabs } from './disk-slabs.ts';
import { createDiskSpace } from './disk-space.ts';
import { createDiskStaging } from './disk-staging.ts';
import { createDownloadSigner, type DownloadSigner } from './disk-url.ts';
import { DiskWriter } from './disk-writer.ts';

export interface DiskStoreOptions {
  readonly root: string;
  readonly signingSecret: Buffer | string;
  /** Where the service serves signed URLs, e.g. '/api/v1/objects'. */
  readonly urlPath: string;
  readonly clock: () => number;
  /** Free space that is left to others; null means 1 GiB, but at most 5 % of the disk. */
  readonly freeBytesMin?: number | null;
  /** The built disk-read-worker.js; where the build puts it unless a test runs from source. */
  readonly readWorkerPath?: string | undefined;
}

/** A reader that stalls holds two read buffers: the more readers there are, the smaller each buffer is. */
const readBytes = { inAll: 32 << 20, most: 256 << 10, least: 16 << 10 };
/** Of the four threads for disk access, half are left to requests. */
const deletesAtOnce = 2;

export const createDiskStore = (options: DiskStoreOptions): ObjectStore => new DiskStore(options);

class DiskStore implements ObjectStore {
  readonly kind = 'disk';
  readonly separatesPublic = true;
  readonly urlOrigins = [];
  readonly staged: StagedObjects;
  readonly #options: DiskStoreOptions;
  readonly #layout: DiskLayout;
  readonly #writer: DiskWriter;
  readonly #signer: DownloadSigner;
  readonly #readThread: DiskReadThread;
  #readers = 0;

  constructor(options: DiskStoreOptions) {
    this.#options = options;
    this.#layout = new DiskLayout(options.root);
    const resources = {
      layout: this.#layout,
      places: new DiskPlaces(this.#layout),
      slabs: new DiskSlabs(),
      space: createDiskSpace(this.#layout.root, options.freeBytesMin ?? null),
    };
    this.#writer = new DiskWriter(resources);
    this.#signer = createDownloadSigner(options.signingSecret);
    this.#readThread = new DiskReadThread(options.readWorkerPath);
    this.staged = createDiskStaging(resources, options);
  }

  async put(zone: Zone, key: string, body: Body, _meta: ObjectMeta, options: PutOptions = {}): Promise<void> {
    const { signal } = options;
    if (Buffer.isBuffer(body)) {
      signal?.throwIfAborted();
      const isCallers = () => signal?.aborted === true;
      return guardDisk('put', () => this.#writer.putBuffer(zone, key, body, signal), isCallers);
    }
    const reader = createBodyReader(body, signal);
    try {
      return await this.#writer.putStream(zone, key, reader, options);
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      reader.close();
    }
  }

  get(zone: Zone, key: string, range?: ObjectRange, signal?: AbortSignal): Promise<ObjectBody> {
    const read = async () => {
      signal?.throwIfAborted();
      if (range) assertRange(range);
      const { fd, bytes, etag } = await openForRead(this.#layout.pathFor(zone, key), range?.etag);
      this.#readers += 1;
      const share = readBytes.inAll / this.#readers;
      const stream = fs.createReadStream('', {
        fd,
        fs: readFaultsAsOutages(range ? Math.min(range.end + 1, bytes) - range.start : bytes),
        highWaterMark: Math.max(readBytes.least, Math.min(readBytes.most, share)) | 0,
        ...(range ? { start: range.start, end: range.end } : {}),
        ...(signal ? { signal } : {}),
      });
      stream.once('close', () => {
        this.#readers -= 1;
      });
      return Object.assign(stream, { object: { bytes, etag } });
    };
    return guardDisk('get', read, () => signal?.aborted === true);
  }

  read(zone: Zone, key: string, into: Buffer, signal?: AbortSignal): Promise<void> {
    const read = async () => {
      signal?.throwIfAborted();
      await this.#readThread.read(this.#layout.pathFor(zone, key), into);
    };
    return guardDisk('get', read, () => signal?.aborted === true);
  }

  head(zone: Zone, key: string): Promise<ObjectInfo | null> {
    return guardDisk('head', async () => {
      try {
        const stats = await stat(this.#layout.pathFor(zone, key), { bigint: true });
        return stats.isFile() ? toObjectInfo(stats) : null;
      } catch (error) {
        if (!isAbsent(error)) throw error;
        await this.#layout.assertRootExists();
        return null;
      }
    });
  }

  delete(zone: Zone, key: string): Promise<void> {
    return guardDisk('delete', () => this.#writer.remove(this.#layout.pathFor(zone, key)));
  }

  async deleteMany(zone: Zone, keys: readonly string[]): Promise<string[]> {
    const targets = keys.map((key) => ({ key, target: this.#layout.pathFor(zone, key) }));
    const failed: string[] = [];
    const work = async () => {
      for (let next = targets.pop(); next; next = targets.pop()) {
        const { key, target } = next;
        await this.#writer.remove(target).catch(() => failed.push(key));
      }
    };
    await Promise.all(Array.from({ length: deletesAtOnce }, work));
    return failed;
  }

  copy(from: Zone, to: Zone, key: string, as?: CopyTarget): Promise<void> {
    return guardDisk('copy', () => this.#writer.copy(from, to, key, as?.key ?? key));
  }

  downloadUrl(_zone: Zone, key: string, options: DownloadUrlOptions): string {
    assertKey(key);
    const { origin, expiresInSeconds, contentType, contentDisposition } = options;
    const expiresAtSeconds = Math.floor(this.#options.clock() / 1000) + expiresInSeconds;
    const query = this.#signer.sign(key, expiresAtSeconds, contentType, contentDisposition);
    return `${origin}${this.#options.urlPath}/${key}?${query}`;
  }

  async *list(zone: Zone, prefix = ''): AsyncGenerator<string> {
    for await (const file of walk(this.#layout.zones[zone])) {
      const key = this.#layout.keyAt(zone, file);
      if (key?.startsWith(prefix)) yield key;
    }
  }

  sweepUnfinished(olderThan: Date, isUnderWay: (key: string) => Promise<boolean>): Promise<number> {
    return guardDisk('sweep', async () => {
      let swept = 0;
      for (const name of await readdir(this.#layout.tmp).catch(absentAs<string[]>([]))) {
        const file = path.join(this.#layout.tmp, name);
        // ctime, because a link made for a copy has the mtime of its source.
        const changed = await stat(file).catch(absentAs(null));
        if (!changed || changed.ctimeMs >= olderThan.getTime()) continue;
        if (await isUnderWay(this.#layout.keyOfTemp(name))) continue;
        await rm(file, { recursive: true, force: true });
        swept += 1;
      }
      return swept;
    });
  }

  async check(): Promise<void> {
    try {
      await this.#layout.assertUsable();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw outage('storage', `The object folder ${this.#layout.root} cannot be used: ${why}`, error);
    }
  }

  close(): Promise<void> {
    return this.#readThread.close();
  }
}
