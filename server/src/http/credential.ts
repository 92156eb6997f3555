// Which credential counts: an API key in the Authorization header, else the cookie, else a Bearer token. The first one
// present decides, even if it is invalid.
import type { IncomingHttpHeaders } from 'node:http';
import { unauthorized } from '../features/credentials/credentials.service.ts';
import { deviceSeconds } from '../kernel/crypto/device-cookie.ts';
import { looksLikeApiKey } from '../kernel/crypto/secret.ts';

export interface PresentedCredential {
  readonly value: string;
  readonly byCookie: boolean;
}

export function findCredential(headers: IncomingHttpHeaders): PresentedCredential | null {
  const bearer = parseBearer(headers.authorization);
  if (bearer !== null && looksLikeApiKey(bearer)) return { value: bearer, byCookie: false };
  const cookie = readCookie(headers.cookie, 'token');
  // Simple cookie jars keep an empty cookie after logout: it is no credential.
  if (cookie) {
    if (looksLikeApiKey(cookie)) throw unauthorized();
    return { value: cookie, byCookie: true };
  }
  return bearer === null ? null : { value: bearer, byCookie: false };
}

function parseBearer(authorization: string | undefined): string | null {
  if (authorization === undefined) return null;
  // Fast path for the usual spelling.
  if (/^Bearer \S+$/.test(authorization)) return authorization.slice(7);
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? null;
}

export function readCookie(header: string | undefined, name: string): string | null {
  if (header === undefined) return null;
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    if (equals > 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return null;
}

/** Identifies a browser that has logged in before. */
export const deviceCookieName = 'pakhus_device';

export const deviceCookie = (value: string, secure: boolean): string =>
  `${deviceCookieName}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${deviceSeconds}${secure ? '; Secure' : ''}`;

export function sessionCookie(token: string | null, maxAgeSeconds: number, secure: boolean): string {
  const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${token === null ? 0 : maxAgeSeconds}`;
  return `token=${token ?? ''}; ${attributes}${secure ? '; Secure' : ''}`;
}
