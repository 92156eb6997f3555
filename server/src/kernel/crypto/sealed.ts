// Secrets that must be read again are sealed with AES-256-GCM. The id of the key lies beside the sealed bytes,
// so that a key can be replaced while what the old one sealed is still readable.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { createMac } from './mac.ts';

export interface Sealed {
  readonly keyId: string;
  readonly bytes: Buffer;
}

export interface Sealer {
  /** What is sealed now is sealed with this key. */
  readonly keyId: string;
  /** `purpose` must be the same at opening: what is sealed for one account opens for no other. */
  seal(plain: string, purpose: string): Sealed;
  /** Null when no known key opens it. */
  open(sealed: Sealed, purpose: string): string | null;
}

const algorithm = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** `previous` keys open what they have sealed, and seal nothing any more. */
export function createSealer(present: Buffer, previous: readonly Buffer[]): Sealer {
  const keys = new Map([...previous, present].map((key) => [keyIdOf(key), key]));
  const keyId = keyIdOf(present);
  return {
    keyId,
    seal: (plain, purpose) => ({ keyId, bytes: encrypt(present, plain, purpose) }),
    open(sealed, purpose) {
      const key = keys.get(sealed.keyId);
      return key === undefined ? null : decrypt(key, sealed.bytes, purpose);
    },
  };
}

/** Tells keys apart without telling anything about them. */
const keyIdOf = (key: Buffer): string => createMac(key)('the id of this key', 'hex').slice(0, 16);

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
