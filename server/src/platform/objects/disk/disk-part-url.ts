// Signs and verifies the URLs that clients PUT parts to. A URL stores one part, of exactly the signed length, until it
// expires.
import { createMac } from '../../../kernel/crypto/mac.ts';
import { sameText } from '../../../kernel/crypto/secret.ts';
import { type DownloadQuery, parseQuery } from './disk-url.ts';

const names = ['expires', 'signature', 'size'] as const;

export interface PartSigner {
  /** The query of the URL of a part. */
  sign(key: string, number: number, bytes: number, expiresAtSeconds: number): string;
  /** The length that the part must have; null, without a reason, if the URL is not genuine or has expired. */
  verify(key: string, number: number, query: DownloadQuery, nowMs: number): { readonly bytes: number } | null;
}

export function createPartSigner(secret: Buffer | string): PartSigner {
  const mac = createMac(secret);
  const toClaims = (expires: string, size: string): string => `expires=${expires}&size=${size}`;
  const computeSignature = (key: string, number: number, claims: string): string =>
    mac(`pakhus part 1 ${key} ${number}?${claims}`, 'base64url');
  return {
    sign(key, number, bytes, expiresAtSeconds) {
      const claims = toClaims(String(expiresAtSeconds), String(bytes));
      return `${claims}&signature=${computeSignature(key, number, claims)}`;
    },

    verify(key, number, query, nowMs) {
      const fields = typeof query === 'string' ? parseQuery(query) : query;
      if (!fields || Object.keys(fields).sort().join() !== names.join()) return null;
      const { expires, size, signature } = fields;
      if (!isCount(expires) || !isCount(size) || typeof signature !== 'string') return null;
      // Compares text, because base64url decoding ignores padding and stray characters.
      if (!sameText(signature, computeSignature(key, number, toClaims(expires, size)))) return null;
      return nowMs < Number(expires) * 1000 ? { bytes: Number(size) } : null;
    },
  };
}

const isCount = (value: unknown): value is string =>
  typeof value === 'string' && /^[1-9]\d{0,14}$/.test(value);
