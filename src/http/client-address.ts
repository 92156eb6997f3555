// Where a request comes from, as the proxies in front say it.
import type { IncomingHttpHeaders } from 'node:http';

const addressLengthMax = 64;

/**
 * The first X-Forwarded-For entry, X-Real-IP, then the socket. Entries from the left can be forged; with
 * `hops` trusted proxies the entry that the outermost of them added is taken instead.
 */
export function clientAddress(
  headers: IncomingHttpHeaders,
  socketAddress: string | undefined,
  hops: number | null,
): string {
  const forwarded = String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);
  const fromProxy = hops === null ? forwarded[0] : forwarded.at(-hops);
  const fromHeader = fromProxy ?? (hops === null ? String(headers['x-real-ip'] ?? '').trim() : '');
  return (fromHeader || socketAddress || 'unknown').slice(0, addressLengthMax);
}
