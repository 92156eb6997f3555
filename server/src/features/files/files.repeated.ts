// What an upload with an Idempotency-Key is compared by: the fields of its form and the sha256 of its file.
import type { Call } from '../../contract/call.ts';
import type { Deps } from '../../contract/deps.ts';
import { sha256 } from '../../kernel/crypto/secret.ts';
import type { PartSink } from '../../kernel/form/form-parser.ts';
import { canonicalJson } from '../../kernel/text/canonical-json.ts';
import { type FormFields, type FormShape, readForm } from '../../platform/forms/form-reader.ts';
import { hashedPart, openFileHash } from './files.body-hash.ts';
import { refuseSize } from './files.checks.ts';
import type { BodyGate } from './files.gate.ts';
import type { UploadPermit } from './files.permit.ts';

export const digestForm = (fields: FormFields, file: Buffer): Buffer =>
  sha256(canonicalJson([Object.fromEntries(fields), file.toString('hex')]));

const anyRoom = { user: Number.POSITIVE_INFINITY, space: Number.POSITIVE_INFINITY };

/** Reads a form whose answer is kept, and stores nothing: the user may have no room for it a second time. */
export async function digestRepeated(
  { hashing, settings: { MAX_UPLOAD_BYTES } }: Deps,
  shape: FormShape,
  { raw }: Call,
  permit: UploadPermit,
): Promise<Buffer> {
  if (!permit.isBuffered) await permit.waitForPlace();
  const hash = openFileHash(hashing, permit);
  try {
    let counter: ByteCounter | null = null;
    const takeFile = (_part: unknown, cutShort: () => void) => {
      counter = new ByteCounter(permit.gate, MAX_UPLOAD_BYTES, cutShort);
      return hashedPart(hash, counter);
    };
    const fields = await readForm(raw, shape, takeFile, permit.signal);
    refuseSize((counter as ByteCounter | null)?.bytes ?? 0, 0, MAX_UPLOAD_BYTES, anyRoom);
    return digestForm(fields, await hash.digest());
  } finally {
    hash.close();
  }
}

/** Takes the bytes of a file that is not stored. */
class ByteCounter implements PartSink {
  readonly #gate: BodyGate;
  readonly #bytesMax: number;
  readonly #cutShort: () => void;
  bytes = 0;

  constructor(gate: BodyGate, bytesMax: number, cutShort: () => void) {
    this.#gate = gate;
    this.#bytesMax = bytesMax;
    this.#cutShort = cutShort;
  }

  write(chunk: Buffer): void {
    this.bytes += chunk.length;
    this.#gate.count(chunk.length);
    if (this.bytes > this.#bytesMax) this.#cutShort();
  }

  end(): void {}
}
