// Secrets that the service makes or compares: API keys, random tokens, derived keys.
import { hash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

export interface NewApiKey {
  /** Shown once. */
  readonly plain: string;
  readonly hash: Buffer;
  /** Identifies a key to its owner, but cannot be used as one. */
  readonly prefix: string;
}

const apiKeyPattern = /^pak_[0-9a-f]{64}$/;

export const looksLikeApiKey = (credential: string): boolean => credential.startsWith('pak_');

export const isApiKey = (credential: string): boolean => apiKeyPattern.test(credential);

export function newApiKey(): NewApiKey {
  const plain = `pak_${randomBytes(32).toString('hex')}`;
  return { plain, hash: sha256(plain), prefix: plain.slice(0, 12) };
}

export const sha256 = (of: string | Buffer): Buffer => hash('sha256', of, 'buffer');

export const randomToken = (bytes: number): string => randomBytes(bytes).toString('base64url');

/** A generated password of 120 bits, short enough to type. */
export const madeUpPassword = (): string => randomToken(15);

/** Derives an independent key for each purpose. */
export const deriveKey = (secret: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, 'pakhus', purpose, 32));

/** Compares in constant time. */
export function sameText(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
