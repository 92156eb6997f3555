// AWS Signature Version 4 for S3: signed headers, presigned GETs and PUTs. Pure, except for one cached signing key.
import { createHmac, hash } from 'node:crypto';
import { isoOf } from '../clock.ts';
import { encodeRfc3986 } from '../text/percent.ts';
import { createMac, type Mac } from './mac.ts';

export const unsignedPayload = 'UNSIGNED-PAYLOAD';
export const emptyPayloadHash = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

export interface SigningKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

export interface SignRequest {
  readonly method: string;
  /** The Host header as it will be sent, with its port where that is not the default. */
  readonly host: string;
  /** Already encoded, as `encodePath` makes it. */
  readonly path: string;
  /** Already encoded and sorted, as `encodeQuery` makes it; without the question mark. */
  readonly query: string;
  /** Lower-case names. All of them are signed; the host and the x-amz- pair are added. */
  readonly headers: Readonly<Record<string, string>>;
  readonly payloadHash: string;
  readonly nowMs: number;
}

export interface PresignGet {
  readonly host: string;
  readonly path: string;
  /**
   * Already encoded and sorted; may be empty. All names must begin with a lower-case letter, so that they sort behind
   * the X-Amz- ones.
   */
  readonly query: string;
  readonly expiresInSeconds: number;
  readonly nowMs: number;
}

export interface PresignPut extends PresignGet {
  readonly bytes: number;
}

export interface Signer {
  /** The headers to send: the given ones, x-amz-date, x-amz-content-sha256 and authorization. */
  sign(request: SignRequest): Record<string, string>;
  /** The whole query string of a GET that needs no header but Host. */
  presign(request: PresignGet): string;
  /** The whole query string of a PUT whose body has exactly `bytes`. */
  presignPut(request: PresignPut): string;
}

/** Everything that is constant for a day. */
interface Day {
  readonly day: string;
  readonly scope: string;
  /** Encoded. */
  readonly credential: string;
  readonly mac: Mac;
}

/** S3 encodes each segment once and leaves the slashes. */
export function encodePath(path: string): string {
  // Fast path: our own keys need no encoding.
  if (/^[A-Za-z0-9._~/-]*$/.test(path)) return path;
  return path.split('/').map(encodeRfc3986).join('/');
}

/** Pairs sorted by their encoded names, and by value among equal names. */
export function encodeQuery(pairs: readonly (readonly [string, string])[]): string {
  const encoded = pairs.map(([name, value]): [string, string] => [encodeRfc3986(name), encodeRfc3986(value)]);
  encoded.sort((a, b) => compare(a[0], b[0]) || compare(a[1], b[1]));
  return encoded.map(([name, value]) => `${name}=${value}`).join('&');
}

export function createSigner(key: SigningKey): Signer {
  let cached: Day | undefined;

  function findDay(stamp: string): Day {
    const day = stamp.slice(0, 8);
    if (cached?.day !== day) {
      const scope = `${day}/${key.region}/s3/aws4_request`;
      const credential = encodeRfc3986(`${key.accessKeyId}/${scope}`);
      cached = { day, scope, credential, mac: createMac(deriveKey(key, day)) };
    }
    return cached;
  }

  function signText(canonical: string, stamp: string, { scope, mac }: Day): string {
    const toSign = `AWS4-HMAC-SHA256\n${stamp}\n${scope}\n${sha256Hex(canonical)}`;
    return mac(toSign, 'hex');
  }

  return {
    sign(request) {
      const stamp = amzStamp(request.nowMs);
      const day = findDay(stamp);
      const headers: Record<string, string> = {
        ...request.headers,
        'x-amz-content-sha256': request.payloadHash,
        'x-amz-date': stamp,
      };
      const signed: Record<string, string> = { ...headers, host: request.host };
      const names = Object.keys(signed).sort();
      const lines = names.map((name) => `${name}:${collapse(signed[name] ?? '')}\n`).join('');
      const list = names.join(';');
      const canonical = `${request.method}\n${request.path}\n${request.query}\n${lines}\n${list}\n${request.payloadHash}`;
      const signature = signText(canonical, stamp, day);
      headers.authorization = `AWS4-HMAC-SHA256 Credential=${key.accessKeyId}/${day.scope},SignedHeaders=${list},Signature=${signature}`;
      return headers;
    },

    presign(request) {
      const stamp = amzStamp(request.nowMs);
      const day = findDay(stamp);
      // In the order in which they are signed: upper case before lower case.
      const amz = `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${day.credential}&X-Amz-Date=${stamp}&X-Amz-Expires=${request.expiresInSeconds}&X-Amz-SignedHeaders=host`;
      const query = request.query === '' ? amz : `${amz}&${request.query}`;
      const canonical = `GET\n${request.path}\n${query}\nhost:${request.host}\n\nhost\n${unsignedPayload}`;
      return `${query}&X-Amz-Signature=${signText(canonical, stamp, day)}`;
    },

    // Not shared with `presign`, which is hot: variables in place of its literals cost 3 % of it.
    presignPut(request) {
      const stamp = amzStamp(request.nowMs);
      const day = findDay(stamp);
      const amz = `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${day.credential}&X-Amz-Date=${stamp}&X-Amz-Expires=${request.expiresInSeconds}&X-Amz-SignedHeaders=content-length%3Bhost`;
      const query = request.query === '' ? amz : `${amz}&${request.query}`;
      const headers = `content-length:${request.bytes}\nhost:${request.host}\n`;
      const canonical = `PUT\n${request.path}\n${query}\n${headers}\ncontent-length;host\n${unsignedPayload}`;
      return `${query}&X-Amz-Signature=${signText(canonical, stamp, day)}`;
    },
  };
}

export function sha256Hex(data: string | Buffer): string {
  return hash('sha256', data);
}

function deriveKey(key: SigningKey, day: string): Buffer {
  const steps = [day, key.region, 's3', 'aws4_request'];
  const seed = Buffer.from(`AWS4${key.secretAccessKey}`);
  return steps.reduce((secret, step) => createHmac('sha256', secret).update(step).digest(), seed);
}

let lastStamp = { second: -1, text: '' };

/** Like 20130524T000000Z. The last one is cached: under load, many signatures fall into one second. */
function amzStamp(nowMs: number): string {
  const second = Math.floor(nowMs / 1000);
  if (lastStamp.second !== second) {
    const iso = isoOf(nowMs);
    const time = `${iso.slice(11, 13)}${iso.slice(14, 16)}${iso.slice(17, 19)}`;
    lastStamp = { second, text: `${iso.slice(0, 4)}${iso.slice(5, 7)}${iso.slice(8, 10)}T${time}Z` };
  }
  return lastStamp.text;
}

/** AWS signs header values trimmed and with runs of spaces collapsed. */
function collapse(value: string): string {
  return value.trim().replace(/ {2,}/g, ' ');
}

// By code unit, never by locale: the server sorts bytes.
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
