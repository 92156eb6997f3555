// Encrypts secrets that must be read again, with AES-256-GCM. The key id is stored with the bytes, so that a key can be
// replaced while older secrets stay readable.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { createMac } from './mac.ts';

export interface Sealed {
  readonly keyId: string;
  readonly bytes: Buffer;
}

export interface Sealer {
  /** The key that new secrets are sealed with. */
  readonly keyId: string;
  /** `purpose` is authenticated: a secret sealed for one account cannot be opened for another. */
  seal(plain: string, purpose: string): Sealed;
  /** Null when no known key opens it. */
  open(sealed: Sealed, purpose: string): string | null;
}

const algorithm = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** `previous` keys only open. */
export function createSealer(present: Buffer, previous: readonly Buffer[]): Sealer {
  const keys = new Map([...previous, present].map((key) => [toKeyId(key), key]));
  const keyId = toKeyId(present);
  return {
    keyId,
    seal: (plain, purpose) => ({ keyId, bytes: encrypt(present, plain, purpose) }),
    open(sealed, purpose) {
      const key = keys.get(sealed.keyId);
      return key === undefined ? null : decrypt(key, sealed.bytes, purpose);
    },
  };
}

/** Identifies a key without revealing anything about it. */
const toKeyId = (key: Buffer): string => createMac(key)('the id of this key', 'hex').slice(0, 16);

function encrypt(key: Buffer, plain: string, purpose: string): Buffer {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(algorithm, key, iv).setAAD(Buffer.from(purpose));
  return Buffer.concat([iv, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(key: Buffer, bytes: Buffer, purpose: string): string | null {
  if (bytes.length < ivBytes + tagBytes) return null;
  try {
    const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes })
      .setAAD(Buffer.from(purpose))
      .setAuthTag(bytes.subarray(-tagBytes));
    return Buffer.concat([decipher.update(bytes.subarray(ivBytes, -tagBytes)), decipher.final()]).toString();
  } catch {
    return null;
  }
}
