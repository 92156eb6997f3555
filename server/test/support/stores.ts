// Runs a suite on every object store: always on disk, and on S3 if there is a server.
import { join } from 'node:path';
import { createDiskStore } from '../../src/platform/objects/disk/disk-store.ts';
import type { ObjectStore } from '../../src/platform/objects/object-store.ts';
import type { TestPakhus } from './pakhus.ts';
import { startTestPakhus } from './pakhus.ts';
import { makeBuckets, type S3Buckets, type S3Server, testS3Server } from './s3-server.ts';

export interface OpenStore {
  /** Variables that select this store. */
  readonly environment: Record<string, string>;
  readonly buckets: S3Buckets | null;
  close(): Promise<void>;
}

export interface StoreChoice {
  readonly name: 'disk' | 's3';
  open(): Promise<OpenStore>;
}

export interface PakhusOnStore extends TestPakhus {
  readonly buckets: S3Buckets | null;
}

/** Prints one line if there is no S3 server to run the suite on. */
export function storesFor(suite: string): readonly StoreChoice[] {
  const server = testS3Server();
  if (server) return [onDisk, onS3(server)];
  console.log(`SKIPPED ${suite} on s3: TEST_S3_ENDPOINT is not set`);
  return [onDisk];
}

export async function startOn(
  store: StoreChoice,
  environment: Record<string, string> = {},
): Promise<PakhusOnStore> {
  const opened = await store.open();
  const service = await startTestPakhus({ ...opened.environment, ...environment });
  return {
    ...service,
    buckets: opened.buckets,
    stop: async () => {
      await service.stop();
      await opened.close();
    },
  };
}

const onDisk: StoreChoice = {
  name: 'disk',
  open: async () => ({ environment: {}, buckets: null, close: async () => undefined }),
};

const onS3 = (server: S3Server): StoreChoice => ({
  name: 's3',
  async open() {
    const buckets = await makeBuckets(server);
    return {
      environment: {
        S3_ENDPOINT: server.endpoint,
        S3_REGION: 'us-east-1',
        S3_BUCKET: buckets.bucket,
        S3_PUBLIC_BUCKET: buckets.publicBucket,
        S3_ACCESS_KEY_ID: server.accessKeyId,
        S3_SECRET_ACCESS_KEY: server.secretAccessKey,
        S3_FORCE_PATH_STYLE: 'true',
      },
      buckets,
      close: () => buckets.remove(),
    };
  },
});

/** The objects of a service that keeps them in `dataDir`, for reading and listing. */
export const diskStoreIn = (dataDir: string): ObjectStore =>
  createDiskStore({
    root: join(dataDir, 'objects'),
    signingSecret: 'not used',
    urlPath: '/unused',
    clock: Date.now,
  });

/** The keys in both zones, sorted. */
export async function keysIn(store: ObjectStore): Promise<string[]> {
  const keys: string[] = [];
  for (const zone of ['private', 'public'] as const) for await (const key of store.list(zone)) keys.push(key);
  return keys.sort();
}
