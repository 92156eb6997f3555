// Runs the suite of staged objects on every adapter.
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PakhusError } from '../../src/kernel/error.ts';
import { createPartSigner } from '../../src/platform/objects/disk/disk-part-url.ts';
import { createDiskStore } from '../../src/platform/objects/disk/disk-store.ts';
import { type StagedStoresUnderTest, stagedObjectsContract } from './staged-objects.suite.ts';

stagedObjectsContract('disk', makeDisk);

async function makeDisk(): Promise<StagedStoresUnderTest> {
  const root = await mkdtemp(path.join(tmpdir(), 'pakhus-staged-'));
  const signingSecret = randomBytes(32);
  let shiftMs = 0;
  const clock = () => Date.now() + shiftMs;
  const options = { root, signingSecret, urlPath: '/api/v1/objects', clock };
  const store = createDiskStore(options);

  // Stands for the route that takes these parts.
  async function sendPart(address: string, body: Buffer) {
    const url = new URL(address);
    const [, key = '', number] = /^\/api\/v1\/objects\/(.+)\/parts\/(\d+)$/.exec(url.pathname) ?? [];
    const signer = createPartSigner(signingSecret);
    const claims = signer.verify(key, Number(number), url.search.slice(1), Date.now());
    if (!claims) return { status: 403, etag: '' };
    try {
      const etag = await store.staged.putPart?.(key, Number(number), claims.bytes, body);
      return { status: 200, etag: etag ?? '' };
    } catch (error) {
      if (error instanceof PakhusError) return { status: error.status, etag: '' };
      throw error;
    }
  }

  return {
    store,
    other: createDiskStore(options),
    unfinished: async () => (await readdir(path.join(root, 'tmp'))).length,
    sendPart,
    shiftClock: (ms) => {
      shiftMs = ms;
    },
    remove: () => rm(root, { recursive: true }),
  };
}
