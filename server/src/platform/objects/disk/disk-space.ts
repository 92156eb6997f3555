// Keeps some space free on the disk of the objects: uploads must not fill it for others, such as the embedded database.
import { statfs } from 'node:fs/promises';
import { outage } from '../../../kernel/error.ts';

export interface DiskSpace {
  /** Throws STORAGE_UNAVAILABLE if writing so many bytes would leave less than the floor. */
  reserve(bytes: number): Promise<void>;
}

/** How long a reading is used. Writes of this process are subtracted at once; others write as well. */
const freshMs = 500;
/** Long, because somebody has to free space first. */
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
