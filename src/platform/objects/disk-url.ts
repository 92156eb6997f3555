// The signed URLs of the disk store, both ends: whoever holds one may read one private object until it
// expires, delivered as the signed type and disposition and no other.
import { createHmac, timingSafeEqual } from 'node:crypto';

export interface DownloadClaims {
  readonly key: string;
  readonly contentType: string;
  readonly contentDisposition: string;
  readonly expiresAt: Date;
}

/** As a framework parsed it (a repeated name is then an array, and refused), or raw. */
export type DownloadQuery = string | Readonly<Record<string, unknown>>;

const names = ['disposition', 'expires', 'signature', 'type'] as const;

export function signDownloadQuery(
  secret: Buffer | string,
  key: string,
  expiresAtSeconds: number,
  contentType: string,
  contentDisposition: string,
): string {
  const expires = String(expiresAtSeconds);
  const signature = signatureOf(secret, key, expires, contentType, contentDisposition).toString('base64url');
  const type = encodeURIComponent(contentType);
  const disposition = encodeURIComponent(contentDisposition);
  return `expires=${expires}&type=${type}&disposition=${disposition}&signature=${signature}`;
}

/** The claims of a genuine URL that has not expired; null for any other, without saying why. */
export function verifyDownloadUrl(
  secret: Buffer | string,
  key: string,
  query: DownloadQuery,
  nowMs: number,
): DownloadClaims | null {
  const fields = typeof query === 'string' ? parseQuery(query) : query;
  if (!fields || Object.keys(fields).sort().join() !== names.join()) return null;
  const { expires, type, disposition, signature } = fields;
  if (typeof expires !== 'string' || !/^[1-9]\d{0,14}$/.test(expires)) return null;
  if (typeof type !== 'string' || typeof disposition !== 'string' || typeof signature !== 'string')
    return null;
  // One spelling only: base64url decoding would forgive padding and stray characters.
  if (!/^[A-Za-z0-9_-]{43}$/.test(signature)) return null;
  const expected = signatureOf(secret, key, expires, type, disposition);
  const given = Buffer.from(signature, 'base64url');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  if (given.toString('base64url') !== signature) return null;
  const expiresAtMs = Number(expires) * 1000;
  if (nowMs >= expiresAtMs) return null;
  return { key, contentType: type, contentDisposition: disposition, expiresAt: new Date(expiresAtMs) };
}

// JSON keeps the fields apart, so that no two claims share a text.
function signatureOf(
  secret: Buffer | string,
  key: string,
  expires: string,
  type: string,
  disposition: string,
): Buffer {
  const text = JSON.stringify(['pakhus download 1', key, expires, type, disposition]);
  return createHmac('sha256', secret).update(text).digest();
}

function parseQuery(query: string): Record<string, string> | null {
  const fields: Record<string, string> = Object.create(null);
  for (const [name, value] of new URLSearchParams(query)) {
    if (name in fields) return null;
    fields[name] = value;
  }
  return fields;
}
