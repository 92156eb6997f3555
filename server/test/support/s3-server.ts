// The real S3 server of the tests, if TEST_S3_ENDPOINT names one, and the AWS SDK as an independent reader. Every test file
// creates its own buckets, so that all can run on one server at once.
import { randomUUID } from 'node:crypto';
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3';
import { createS3Store, type S3StoreOptions } from '../../src/platform/objects/s3/s3-store.ts';

/** For sweeps that may delete everything. */
export const nobodyWrites = async (): Promise<boolean> => false;

export interface S3Server {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface S3Buckets {
  readonly bucket: string;
  readonly publicBucket: string;
  readonly sdk: S3Client;
  /** Options of a store on these buckets. */
  readonly options: S3StoreOptions;
  /** Read through the SDK. */
  unfinishedUploads(): Promise<number>;
  read(bucket: string, key: string): Promise<Buffer>;
  remove(): Promise<void>;
}

/** Undefined if TEST_S3_ENDPOINT is not set. */
export function testS3Server(): S3Server | undefined {
  const { TEST_S3_ENDPOINT, TEST_S3_ACCESS_KEY_ID, TEST_S3_SECRET_ACCESS_KEY } = process.env;
  if (!TEST_S3_ENDPOINT) return undefined;
  return {
    endpoint: TEST_S3_ENDPOINT,
    accessKeyId: TEST_S3_ACCESS_KEY_ID ?? '',
    secretAccessKey: TEST_S3_SECRET_ACCESS_KEY ?? '',
  };
}

export async function makeBuckets(server: S3Server): Promise<S3Buckets> {
  const sdk = new S3Client({
    endpoint: server.endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: server.accessKeyId, secretAccessKey: server.secretAccessKey },
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  const name = randomUUID();
  const bucket = `private-${name}`;
  const publicBucket = `public-${name}`;
  const both = [bucket, publicBucket];
  for (const Bucket of both) await sdk.send(new CreateBucketCommand({ Bucket }));
  const options: S3StoreOptions = {
    ...server,
    region: 'us-east-1',
    bucket,
    publicBucket,
    forcePathStyle: true,
    clock: Date.now,
  };

  return {
    bucket,
    publicBucket,
    sdk,
    options,
    async unfinishedUploads() {
      const replies = await Promise.all(
        both.map((Bucket) => sdk.send(new ListMultipartUploadsCommand({ Bucket }))),
      );
      return replies.reduce((sum, reply) => sum + (reply.Uploads?.length ?? 0), 0);
    },
    async read(Bucket, Key) {
      const reply = await sdk.send(new GetObjectCommand({ Bucket, Key }));
      return Buffer.from((await reply.Body?.transformToByteArray()) ?? []);
    },
    async remove() {
      const store = createS3Store(options);
      await store.sweepUnfinished(new Date(Date.now() + 86_400_000), nobodyWrites);
      for (const Bucket of both) {
        for (let more = true; more; ) {
          const page = await sdk.send(new ListObjectsV2Command({ Bucket }));
          const keys = (page.Contents ?? []).map((object) => object.Key ?? '');
          await store.deleteMany(Bucket === bucket ? 'private' : 'public', keys);
          more = page.IsTruncated === true;
        }
        await sdk.send(new DeleteBucketCommand({ Bucket }));
      }
      await store.close();
      sdk.destroy();
    },
  };
}
