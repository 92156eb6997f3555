// Brings an object to the disk of an image worker.
import { createWriteStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Deps } from '../../contract/deps.ts';
import { BufferedHash } from '../../platform/hashing/buffered-hash.ts';
import { type ContentDigest, splitContentDigest } from '../../platform/hashing/digest.ts';
import type { Zone } from '../../platform/objects/object-store.ts';

/** Resolves to the digest of the downloaded object. */
export async function downloadObject(
  deps: Deps,
  zone: Zone,
  key: string,
  path: string,
  signal: AbortSignal,
): Promise<ContentDigest> {
  const body = await deps.objects.get(zone, key, undefined, signal);
  const hash = new BufferedHash(deps.hashing.open('content'));
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (hash.write(chunk)) done(null, chunk);
      else void hash.drained().then(() => done(null, chunk));
    },
  });
  try {
    await pipeline(body, meter, createWriteStream(path), { signal });
    return splitContentDigest(await hash.digest());
  } finally {
    hash.close();
  }
}
