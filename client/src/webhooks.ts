// @pakhus/client/webhooks: signs webhooks and checks their signatures, as Standard Webhooks 1.0 describes it.
import { type HeaderReader, PakhusError } from './error.ts';

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

type HeaderSource = HeaderReader | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface SignOptions {
  /** Stays the same when the webhook is sent again. */
  readonly id: string;
  /** In milliseconds. The clock by default. */
  readonly now?: number;
}

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
  const signed = toSigned(id, timestamp, text);
  for (const one of [secret].flat()) {
    const key = await importKey(one);
    // Compares in constant time.
    for (const signature of signatures)
      if (await crypto.subtle.verify('HMAC', key, fromBase64(signature.slice(version.length)), signed))
        return JSON.parse(text);
  }
  throw refused('The webhook was not signed with this secret');
}

/** The headers of a webhook, to test a receiver. With several secrets, it has a signature of each. */
export async function signWebhook(
  body: string,
  secret: string | readonly string[],
  { id, now = Date.now() }: SignOptions,
): Promise<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>> {
  const timestamp = String(Math.floor(now / 1000));
  const signed = toSigned(id, timestamp, body);
  const signatures = [secret].flat().map(async (one) => {
    const bytes = new Uint8Array(await crypto.subtle.sign('HMAC', await importKey(one), signed));
    return version + btoa(String.fromCharCode(...bytes));
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': (await Promise.all(signatures)).join(' '),
  };
}

const toSigned = (id: string, timestamp: string, text: string) =>
  new TextEncoder().encode(`${id}.${timestamp}.${text}`);

const refused = (message: string) => new PakhusError('INVALID_SIGNATURE', message);

function readHeader(headers: HeaderSource, name: string): string {
  if (isReader(headers)) return headers.get(name) ?? '';
  // Node writes names in small letters, other frameworks as they came.
  const value = headers[Object.keys(headers).find((key) => key.toLowerCase() === name) ?? name];
  return (typeof value === 'string' ? value : value?.[0]) ?? '';
}

const isReader = (headers: HeaderSource): headers is HeaderReader => typeof headers.get === 'function';

function importKey(secret: string): Promise<CryptoKey> {
  const bytes = fromBase64(secret.startsWith(prefix) ? secret.slice(prefix.length) : secret);
  if (bytes.length === 0) throw new PakhusError('INVALID_ARGUMENT', 'The secret must be base64, as whsec_…');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);
}

/** Empty if it is not base64. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array(0);
  }
}
