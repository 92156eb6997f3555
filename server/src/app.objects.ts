// Opens the configured object store: an S3 bucket, or the disk below DATA_DIR.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Undo } from './app.undo.ts';
import type { Deps } from './contract/deps.ts';
import type { Settings } from './contract/settings.ts';
import { apiPrefix } from './http/route-table.ts';
import { type Clock, systemClock } from './kernel/clock.ts';
import type { Database } from './platform/db/postgres.ts';
import { sql } from './platform/db/sql.ts';
import type { Hashing } from './platform/hashing/stream-hash.ts';
import type { Logger } from './platform/log.ts';
import { createPartSigner } from './platform/objects/disk/disk-part-url.ts';
import { createDiskStore } from './platform/objects/disk/disk-store.ts';
import { createDownloadSigner } from './platform/objects/disk/disk-url.ts';
import type { ObjectStore } from './platform/objects/object-store.ts';

export interface StoreTools {
  readonly hashing: Hashing;
  /** Called while an upload waits for memory that others hold. */
  readonly onShortage?: () => void;
  /** Where the built files are, if this runs from source. */
  readonly builtFolder?: string | undefined;
}

export async function openObjects(
  settings: Settings,
  downloadSecret: Buffer,
  clock: Clock,
  tools: StoreTools,
  undo: Undo[],
): Promise<ObjectStore> {
  const objects = await createConfiguredStore(settings, downloadSecret, clock, tools);
  undo.push(() => objects.close());
  await objects.check();
  return objects;
}

/** The store without a look at whether it can be used. */
export const createConfiguredStore = async (
  settings: Settings,
  downloadSecret: Buffer,
  clock: Clock,
  tools: StoreTools,
): Promise<ObjectStore> =>
  settings.S3_BUCKET === null
    ? openDiskStore(settings, downloadSecret, clock, tools)
    : openS3Store(settings, settings.S3_BUCKET, tools);

/** Opens the disk below DATA_DIR and the S3 store together, to copy from one to the other. */
export async function openBothStores(
  settings: Settings,
  hashing: Hashing,
  undo: Undo[],
): Promise<{ readonly disk: ObjectStore; readonly s3: ObjectStore }> {
  if (settings.S3_BUCKET === null)
    throw new Error('S3_BUCKET is not set: set the S3_ variables to the store to copy to');
  const folder = resolve(objectsFolder(settings));
  if (!existsSync(folder))
    throw new Error(`There are no objects in ${folder}: set DATA_DIR as for the service`);
  // Any secret will do: copying signs no URLs.
  const disk = openDiskStore(settings, Buffer.alloc(32), systemClock, { hashing });
  const s3 = await openS3Store(settings, settings.S3_BUCKET, { hashing });
  undo.push(() => s3.close());
  await s3.check();
  return { disk, s3 };
}

/** If the disk of the objects is not mounted, the store would create an empty folder in its place without a word. */
export async function warnOfMissingObjects(db: Database, settings: Settings, log: Logger): Promise<void> {
  const folder = objectsFolder(settings);
  if (settings.S3_BUCKET !== null || existsSync(folder)) return;
  const [file] = await db.query(sql`select from files limit 1`);
  if (file)
    log.warn({ folder }, 'the database has files, but their folder does not exist: is its disk mounted?');
}

/** Accepts URLs signed with any of the secrets. */
export function createDownloadVerifier(secrets: readonly Buffer[], clock: Clock): Deps['verifyDownload'] {
  const signers = secrets.map(createDownloadSigner);
  return (key, query) => {
    for (const signer of signers) {
      const claims = signer.verify(key, query, clock());
      if (claims) return claims;
    }
    return null;
  };
}

/** The same for the URLs of parts. */
export function createPartVerifier(secrets: readonly Buffer[], clock: Clock): Deps['verifyPart'] {
  const signers = secrets.map(createPartSigner);
  return (key, number, query) => {
    for (const signer of signers) {
      const signed = signer.verify(key, number, query, clock());
      if (signed) return signed;
    }
    return null;
  };
}

const objectsFolder = ({ DATA_DIR }: Settings): string => join(DATA_DIR, 'objects');

const openDiskStore = (
  settings: Settings,
  signingSecret: Buffer,
  clock: Clock,
  { builtFolder }: StoreTools,
): ObjectStore =>
  createDiskStore({
    root: objectsFolder(settings),
    signingSecret,
    urlPath: `${apiPrefix}/objects`,
    clock,
    freeBytesMin: settings.DISK_FREE_BYTES_MIN,
    readWorkerPath: builtFolder && join(builtFolder, 'platform/objects/disk/disk-read-worker.js'),
  });

async function openS3Store(
  settings: Settings,
  bucket: string,
  { hashing, onShortage }: StoreTools,
): Promise<ObjectStore> {
  const { createS3Store } = await import('./platform/objects/s3/s3-store.ts');
  return createS3Store({
    ...(settings.S3_ENDPOINT === null ? {} : { endpoint: settings.S3_ENDPOINT }),
    ...(settings.S3_PUBLIC_ENDPOINT === null ? {} : { publicEndpoint: settings.S3_PUBLIC_ENDPOINT }),
    ...(settings.S3_PUBLIC_BUCKET === null ? {} : { publicBucket: settings.S3_PUBLIC_BUCKET }),
    region: settings.S3_REGION,
    bucket,
    accessKeyId: settings.S3_ACCESS_KEY_ID ?? '',
    secretAccessKey: settings.S3_SECRET_ACCESS_KEY ?? '',
    forcePathStyle: settings.S3_FORCE_PATH_STYLE,
    clock: systemClock,
    hashing,
    onShortage,
  });
}
