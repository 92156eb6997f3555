// Where a request comes from, as the proxies in front say it.
import type { IncomingHttpHeaders } from 'node:http';
import { isIP, SocketAddress } from 'node:net';

const addressLengthMax = 64;

/**
 * The first X-Forwarded-For entry, X-Real-IP, then the socket. Entries from the left can be forged; with
 * `hops` trusted proxies the entry that the outermost of them added is taken instead; with none of them, the socket.
 */
export function clientAddress(
  headers: IncomingHttpHeaders,
  socketAddress: string | undefined,
  hops: number | null,
): string {
  const fromHeader = forwardedAddress(headers, hops);
  return (withoutPort(fromHeader) || socketAddress || 'unknown').slice(0, addressLengthMax);
}

/** An address in its one usual form, or null for any other text: headers are the client's to write. */
export function ipAddressOf(text: string): string | null {
  const family = isIP(text);
  if (family !== 6) return family === 4 ? text : null;
  const { address } = new SocketAddress({ address: text.split('%')[0] ?? '', family: 'ipv6' });
  return mappedIPv4(address) ?? address;
}

const mappedIPv4 = (address: string): string | undefined =>
  /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];

/**
 * The network that an address is in, for bounds that must not grow with what one client can have: an IPv4 address is
 * one, and of IPv6 a client has all 2^64 addresses of its network.
 */
export function networkOf(address: string): string {
  const plain = ipAddressOf(address) ?? address;
  if (isIP(plain) !== 6) return plain;
  const [before = '', after] = plain.split('::');
  const head = before === '' ? [] : before.split(':');
  const tail = after === undefined || after === '' ? [] : after.split(':');
  const zeros = after === undefined ? 0 : 8 - head.length - tail.length;
  const groups = [...head, ...Array<string>(zeros).fill('0'), ...tail];
  return `${groups.slice(0, 4).join(':')}::/64`;
}

/** Some proxies add the port that the client happened to use: every connection would be a client of its own. */
const withoutPort = (address: string): string =>
  /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$|^\[([\da-fA-F:.]+)\](?::\d{1,5})?$/
    .exec(address)
    ?.slice(1)
    .find(Boolean) ?? address;

function forwardedAddress(headers: IncomingHttpHeaders, hops: number | null): string {
  const { 'x-forwarded-for': forwardedFor, 'x-real-ip': realIp = '' } = headers;
  const forwarded = forwardedFor === undefined ? [] : entriesOf(String(forwardedFor));
  if (hops === null) return forwarded[0] ?? String(realIp).trim();
  return forwarded[forwarded.length - hops] ?? '';
}

const entriesOf = (list: string): string[] =>
  list
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);
