// Hashes the whole body of an upload, for a client that sent a Content-Digest: it may cover the form or just the file.
import { createHash } from 'node:crypto';
import type { Call } from '../../contract/call.ts';
import { BufferedHash } from '../../platform/hashing/buffered-hash.ts';
import type { Hashing } from '../../platform/hashing/stream-hash.ts';
import type { BodyGate } from './files.gate.ts';

export interface BodyHash {
  /** Call once the form has been read. */
  digest(): Promise<Buffer>;
  close(): void;
}

/** Call before the form is read. Null without a Content-Digest. */
export function hashBody(
  { raw, headers }: Pick<Call, 'raw' | 'headers'>,
  isSmall: boolean,
  hashing: Hashing,
  gate: BodyGate,
): BodyHash | null {
  if (headers['content-digest'] === undefined) return null;
  if (isSmall) {
    const hash = createHash('sha256');
    raw.on('data', (chunk: Buffer) => hash.update(chunk));
    return { digest: async () => hash.digest(), close: () => undefined };
  }
  const hash = new BufferedHash(hashing.open('sha256'));
  const onData = (chunk: Buffer) => {
    if (hash.write(chunk)) return;
    gate.hold('hash');
    void hash.drained().then(() => gate.release('hash'));
  };
  raw.on('data', onData);
  return {
    digest: () => hash.digest(),
    close: () => {
      raw.off('data', onData);
      gate.release('hash');
      hash.close();
    },
  };
}
