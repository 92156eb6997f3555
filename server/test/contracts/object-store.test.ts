// Runs the object-store suite on every adapter.
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CreateMultipartUploadCommand } from '@aws-sdk/client-s3';
import { createDiskStore } from '../../src/platform/objects/disk/disk-store.ts';
import { createDownloadSigner } from '../../src/platform/objects/disk/disk-url.ts';
import { createS3Store } from '../../src/platform/objects/s3/s3-store.ts';
import { readAll } from '../support/bytes.ts';
import { dist } from '../support/dist.ts';
import { makeBuckets, type S3Server, testS3Server } from '../support/s3-server.ts';
import { type Download, leftKey, objectStoreContract, type StoreUnderTest } from './object-store.suite.ts';

objectStoreContract('disk', makeDisk);

const server = testS3Server();
if (server) objectStoreContract('s3', () => makeS3(server));
else console.log('SKIPPED s3 object store: TEST_S3_ENDPOINT is not set');

async function makeDisk(): Promise<StoreUnderTest> {
  const root = await mkdtemp(path.join(tmpdir(), 'pakhus-objects-'));
  const tmp = path.join(root, 'tmp');
  const signingSecret = randomBytes(32);
  let shiftMs = 0;
  const store = createDiskStore({
    root,
    signingSecret,
    urlPath: '/api/v1/objects',
    clock: () => Date.now() + shiftMs,
    readWorkerPath: path.join(dist, 'platform/objects/disk/disk-read-worker.js'),
  });

  // Stands for the route that serves these URLs.
  async function follow(address: string): Promise<Download> {
    const url = new URL(address);
    const key = url.pathname.slice('/api/v1/objects/'.length);
    const claims = createDownloadSigner(signingSecret).verify(key, url.search.slice(1), Date.now());
    if (!claims) return { status: 403, body: Buffer.alloc(0), contentType: null, contentDisposition: null };
    return { status: 200, body: await readAll(await store.get('private', claims.key)), ...claims };
  }

  return {
    store,
    partBytes: 1 << 20,
    unfinished: async () => (await readdir(tmp)).length,
    leaveUnfinished: () => writeFile(path.join(tmp, `${leftKey.replace('/', '+')}~1-1`), 'half'),
    follow,
    shiftClock: (ms) => {
      shiftMs = ms;
    },
    remove: () => rm(root, { recursive: true }),
  };
}

async function makeS3(at: S3Server): Promise<StoreUnderTest> {
  const buckets = await makeBuckets(at);
  const partBytes = 5 << 20;
  let shiftMs = 0;
  const store = createS3Store({
    ...buckets.options,
    partBytes,
    copyPartBytes: partBytes,
    clock: () => Date.now() + shiftMs,
  });
  return {
    store,
    partBytes,
    unfinished: () => buckets.unfinishedUploads(),
    async leaveUnfinished() {
      const upload = { Bucket: buckets.publicBucket, Key: leftKey };
      await buckets.sdk.send(new CreateMultipartUploadCommand(upload));
    },
    async follow(url) {
      const reply = await fetch(url);
      return {
        status: reply.status,
        body: Buffer.from(await reply.arrayBuffer()),
        contentType: reply.headers.get('content-type'),
        contentDisposition: reply.headers.get('content-disposition'),
      };
    },
    shiftClock: (ms) => {
      shiftMs = ms;
    },
    async remove() {
      await store.close();
      await buckets.remove();
    },
  };
}
