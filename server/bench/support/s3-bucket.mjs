// Buckets on a real S3 server, for benches that a sink cannot answer.
import { randomUUID } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3';

/** Resolves to the environment of a Pakhus that stores there, and to how to remove it. Null without TEST_S3_ENDPOINT. */
export async function makeBucket() {
  const { TEST_S3_ENDPOINT: endpoint, TEST_S3_ACCESS_KEY_ID, TEST_S3_SECRET_ACCESS_KEY } = process.env;
  if (!endpoint) return null;
  const credentials = { accessKeyId: TEST_S3_ACCESS_KEY_ID, secretAccessKey: TEST_S3_SECRET_ACCESS_KEY };
  const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials });
  const Bucket = `bench-${randomUUID()}`;
  await client.send(new CreateBucketCommand({ Bucket }));
  const environment = {
    S3_ENDPOINT: endpoint,
    S3_REGION: 'us-east-1',
    S3_BUCKET: Bucket,
    S3_ACCESS_KEY_ID: credentials.accessKeyId,
    S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    S3_FORCE_PATH_STYLE: 'true',
  };
  return { environment, remove: () => empty(client, Bucket).finally(() => client.destroy()) };
}

async function empty(client, Bucket) {
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
  for (const { Key, UploadId } of Uploads)
    await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
  for (;;) {
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket }));
    if (Contents.length === 0) break;
    for (const { Key } of Contents) await client.send(new DeleteObjectCommand({ Bucket, Key }));
  }
  await client.send(new DeleteBucketCommand({ Bucket }));
}
