// The signed URLs of the disk store, both ends: whoever holds one may read one private object until it
// expires, delivered as the signed type and disposition and no other.
import { hmacSha256, sameText } from '../../kernel/secret.ts';

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
  const signature = signatureOf(secret, key, expires, contentType, contentDisposition);
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
  // As text, so that one spelling only is right: base64url decoding would forgive padding and stray characters.
  if (!sameText(signature, signatureOf(secret, key, expires, type, disposition))) return null;
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
): string {
  const text = JSON.stringify(['pakhus download 1', key, expires, type, disposition]);
  return hmacSha256(secret, text, 'base64url');
}

function parseQuery(query: string): Record<string, string> | null {
  const fields: Record<string, string> = Object.create(null);
  for (const [name, value] of new URLSearchParams(query)) {
    if (name in fields) return null;
    fields[name] = value;
  }
  return fields;
}
