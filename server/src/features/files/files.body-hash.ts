// Hashes beside the path of the bytes: of the whole body, for a client that sent a Content-Digest, which may cover the form
// or just the file; of the file, for a client that sent an Idempotency-Key; and of a part of it, for one that sent its checksum.
import type { Call } from '../../contract/call.ts';
import type { PartSink } from '../../kernel/form/form-parser.ts';
import { BufferedHash } from '../../platform/hashing/buffered-hash.ts';
import { createDigest } from '../../platform/hashing/digest.ts';
import type { HashAlgorithm, Hashing, StreamHash } from '../../platform/hashing/stream-hash.ts';
import type { BodyGate, Holder } from './files.gate.ts';
import type { UploadPermit } from './files.permit.ts';

export interface SideHash {
  write(chunk: Buffer): void;
  /** Call after the last chunk. */
  digest(): Promise<Buffer>;
  close(): void;
}

/** Of a small body at once; of a large one in a thread, and the body waits for it. */
export function openSideHash(
  hashing: Hashing,
  { isBuffered, gate }: UploadPermit,
  holder: Holder,
  algorithm: HashAlgorithm = 'sha256',
): SideHash {
  return isBuffered ? openInline(algorithm) : openInThread(hashing.open(algorithm), gate, holder);
}

function openInline(algorithm: HashAlgorithm): SideHash {
  const hash = createDigest(algorithm);
  return {
    write: (chunk) => void hash.update(chunk),
    digest: async () => hash.digest(),
    close: () => undefined,
  };
}

function openInThread(inThread: StreamHash, gate: BodyGate, holder: Holder): SideHash {
  const hash = new BufferedHash(inThread);
  return {
    write: (chunk) => {
      if (hash.write(chunk)) return;
      gate.hold(holder);
      void hash.drained().then(() => gate.release(holder));
    },
    digest: () => hash.digest(),
    close: () => {
      gate.release(holder);
      hash.close();
    },
  };
}

/** Call before the form is read. Null without a Content-Digest. */
export function hashBody(
  { raw, headers }: Pick<Call, 'raw' | 'headers'>,
  hashing: Hashing,
  permit: UploadPermit,
): SideHash | null {
  if (headers['content-digest'] === undefined) return null;
  const hash = openSideHash(hashing, permit, 'body hash');
  const onData = (chunk: Buffer) => hash.write(chunk);
  raw.on('data', onData);
  return {
    ...hash,
    close: () => {
      raw.off('data', onData);
      hash.close();
    },
  };
}

export const openFileHash = (hashing: Hashing, permit: UploadPermit): SideHash =>
  openSideHash(hashing, permit, 'file hash');

/** Passes everything on to `sink`, and hashes it. */
export const hashedPart = (hash: SideHash, sink: PartSink): PartSink => ({
  write: (chunk) => {
    hash.write(chunk);
    sink.write(chunk);
  },
  end: () => sink.end(),
});
