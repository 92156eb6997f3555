// @pakhus/client/webhooks: checks that a webhook comes from Pakhus, as Standard Webhooks 1.0 describes it.
import { PakhusError } from './error.ts';

export interface WebhookEvent {
  readonly id: string;
  readonly type: string;
  readonly created_at: string;
  readonly project_id: string;
  readonly user_id: string | null;
  readonly data: unknown;
}

export interface VerifyOptions {
  /** How old a webhook may be, and how far ahead the sender's clock; 300 by default. */
  readonly toleranceSeconds?: number;
  /** In milliseconds. The clock by default. */
  readonly now?: number;
}

type HeaderSource = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

const prefix = 'whsec_';
const version = 'v1,';

/**
 * Resolves to the event, or rejects with INVALID_SIGNATURE. `body` is the text or the bytes as they arrived: JSON that was parsed and
 * written again is not the same. With several secrets, any may have signed, as while one is being replaced.
 */
export async function verifyWebhook(
  body: string | Uint8Array<ArrayBuffer>,
  headers: HeaderSource,
  secret: string | readonly string[],
  { toleranceSeconds = 300, now = Date.now() }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const id = readHeader(headers, 'webhook-id');
  const timestamp = readHeader(headers, 'webhook-timestamp');
  const signatures = readHeader(headers, 'webhook-signature')
    .split(' ')
    .filter((one) => one.startsWith(version));
  if (!id || !/^\d{1,12}$/.test(timestamp) || signatures.length === 0)
    throw refused('The webhook headers are missing or malformed');
  if (Math.abs(now / 1000 - Number(timestamp)) > toleranceSeconds)
    throw refused('The webhook is too old, or a clock is wrong');
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  for (const one of [secret].flat()) {
    const key = await importKey(one);
    // Compares in constant time.
    for (const signature of signatures)
      if (await crypto.subtle.verify('HMAC', key, fromBase64(signature.slice(version.length)), signed))
        return JSON.parse(text);
  }
  throw refused('The webhook was not signed with this secret');
}

const refused = (message: string) => new PakhusError('INVALID_SIGNATURE', message);

function readHeader(headers: HeaderSource, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  return (typeof value === 'string' ? value : value?.[0]) ?? '';
}

function importKey(secret: string): Promise<CryptoKey> {
  const bytes = fromBase64(secret.startsWith(prefix) ? secret.slice(prefix.length) : secret);
  if (bytes.length === 0) throw new PakhusError('INVALID_ARGUMENT', 'The secret must be base64, as whsec_…');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

/** Empty if it is not base64. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array(0);
  }
}
