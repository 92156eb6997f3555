// Keeps a floor of free space on the disk of the objects: what shares it, such as the embedded database, must never
// find it full because of uploads.
import { statfs } from 'node:fs/promises';
import { outage } from '../../../kernel/error.ts';

export interface DiskSpace {
  /** Throws STORAGE_UNAVAILABLE where writing so many bytes would leave less than the floor. */
  reserve(bytes: number): Promise<void>;
}

/** Others write to the disk as well; what this process writes is subtracted at once. */
const freshMs = 500;
/** An upload that is refused has to wait for somebody to make room. */
const retryAfterSeconds = 30;

const defaultFloor = { bytes: 1 << 30, shareOfDisk: 0.05 };

/** Without a floor given, it is 1 GiB, but at most 5 % of the disk. */
export function createDiskSpace(folder: string, floorBytes: number | null): DiskSpace {
  let spendable = 0;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;

  const read = async () => {
    const { bavail, blocks, bsize } = await statfs(folder);
    const floor = floorBytes ?? Math.min(defaultFloor.bytes, blocks * bsize * defaultFloor.shareOfDisk);
    spendable = bavail * bsize - floor;
    readAt = performance.now();
  };
  const refresh = () => {
    reading ??= read().finally(() => {
      reading = null;
    });
    return reading;
  };

  return {
    async reserve(bytes) {
      if (floorBytes === 0) return;
      if (performance.now() - readAt > freshMs) await refresh();
      if (bytes > spendable) throw diskFull();
      spendable -= bytes;
    },
  };
}

const diskFull = () =>
  outage(
    'storage',
    'The disk of the object store is nearly full: try again later',
    undefined,
    retryAfterSeconds,
  );
