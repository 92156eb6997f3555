// Signs and verifies the download URLs of the disk store. A URL gives read access to one object until it expires, with
// the signed type and disposition.
import { createMac } from '../../../kernel/crypto/mac.ts';
import { sameText } from '../../../kernel/crypto/secret.ts';

export interface DownloadClaims {
  readonly key: string;
  readonly contentType: string;
  readonly contentDisposition: string;
  readonly expiresAt: Date;
}

/** Parsed by a framework (a repeated name is an array, and refused), or raw. */
export type DownloadQuery = string | Readonly<Record<string, unknown>>;

const names = ['disposition', 'expires', 'signature', 'type'] as const;

export interface DownloadSigner {
  /** The query of the URL of an object. */
  sign(key: string, expiresAtSeconds: number, contentType: string, contentDisposition: string): string;
  /** The claims of a genuine URL that has not expired; otherwise null, without a reason. */
  verify(key: string, query: DownloadQuery, nowMs: number): DownloadClaims | null;
}

export function createDownloadSigner(secret: Buffer | string): DownloadSigner {
  const mac = createMac(secret);
  // Encoded, so that no field can contain a separator and no two claims have the same text.
  const toClaims = (expires: string, type: string, disposition: string): string =>
    `expires=${expires}&type=${encodeURIComponent(type)}&disposition=${encodeURIComponent(disposition)}`;
  const computeSignature = (key: string, claims: string): string =>
    mac(`pakhus download 2 ${key}?${claims}`, 'base64url');
  return {
    sign(key, expiresAtSeconds, contentType, contentDisposition) {
      const claims = toClaims(String(expiresAtSeconds), contentType, contentDisposition);
      return `${claims}&signature=${computeSignature(key, claims)}`;
    },

    verify(key, query, nowMs) {
      const fields = typeof query === 'string' ? parseQuery(query) : query;
      if (!fields || Object.keys(fields).sort().join() !== names.join()) return null;
      const { expires, type, disposition, signature } = fields;
      if (typeof expires !== 'string' || !/^[1-9]\d{0,14}$/.test(expires)) return null;
      if (!isText(type) || !isText(disposition) || !isText(signature)) return null;
      // Compares text, because base64url decoding ignores padding and stray characters.
      if (!sameText(signature, computeSignature(key, toClaims(expires, type, disposition)))) return null;
      const expiresAtMs = Number(expires) * 1000;
      if (nowMs >= expiresAtMs) return null;
      return { key, contentType: type, contentDisposition: disposition, expiresAt: new Date(expiresAtMs) };
    },
  };
}

/** Well-formed text, which can be encoded again. */
const isText = (value: unknown): value is string => typeof value === 'string' && value.isWellFormed();

/** Null if a name is repeated. */
export function parseQuery(query: string): Record<string, string> | null {
  const fields: Record<string, string> = Object.create(null);
  for (const [name, value] of new URLSearchParams(query)) {
    if (name in fields) return null;
    fields[name] = value;
  }
  return fields;
}
