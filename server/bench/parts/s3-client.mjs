// Our S3 client compared with @aws-sdk/client-s3, against a server that stores nothing. See docs/adr/0008-s3-client.md.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { createS3Store } from '../../dist/platform/objects/s3/s3-store.js';
import { startS3Sink } from '../support/s3-sink.mjs';
import { compare } from './support.mjs';

// The server runs in another process, so that its CPU time does not count.
if (process.send) {
  process.send(await startS3Sink());
  process.on('disconnect', () => process.exit());
} else await main();

async function main() {
  const sink = fork(fileURLToPath(import.meta.url));
  const [{ S3_ENDPOINT: endpoint, S3_BUCKET: bucket, ...secrets }] = await once(sink, 'message');
  const credentials = {
    accessKeyId: secrets.S3_ACCESS_KEY_ID,
    secretAccessKey: secrets.S3_SECRET_ACCESS_KEY,
  };
  const shared = { endpoint, region: 'us-east-1', forcePathStyle: true };
  const ours = createS3Store({ ...shared, ...credentials, bucket, clock: Date.now });
  const sdk = new S3Client({ ...shared, credentials, requestChecksumCalculation: 'WHEN_REQUIRED' });
  const meta = { contentType: 'image/png', contentDisposition: 'attachment; filename="a.png"' };
  const body = Buffer.alloc(10 * 1024, 'x');
  const key = '0f4e1c9e-0000-4000-8000-000000000000/0f4e1c9e-0000-4000-8000-000000000001';
  const command = { Bucket: bucket, Key: key, Body: body, ContentType: meta.contentType };
  await compare(
    'PUT of 10 KiB, 16 at a time',
    {
      ours: (count) => inParallel(count, () => ours.put('private', key, body, meta)),
      '@aws-sdk/client-s3': (count) => inParallel(count, () => sdk.send(new PutObjectCommand(command))),
    },
    { count: 800, rounds: 6 },
  );
  const presign = async (count) => {
    for (let n = 0; n < count; n += 1)
      ours.downloadUrl('private', key, { ...meta, expiresInSeconds: 900, origin: '' });
  };
  await compare('presigned GET', { ours: presign }, { count: 20_000 });
  await ours.close();
  sdk.destroy();
  sink.disconnect();
}

async function inParallel(count, work) {
  let left = count;
  const loop = async () => {
    while (left-- > 0) await work();
  };
  await Promise.all(Array.from({ length: 16 }, loop));
}
