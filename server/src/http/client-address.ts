// The client address of a request, with or without trusted proxies in front.
import type { IncomingHttpHeaders } from 'node:http';
import { isIP, SocketAddress } from 'node:net';

const addressLengthMax = 64;

/**
 * The first X-Forwarded-For entry, else X-Real-IP, else the socket. Clients can forge entries on the left: with `hops`
 * trusted proxies, the entry that the outermost proxy added counts instead, and with 0 hops the socket.
 */
export function clientAddress(
  headers: IncomingHttpHeaders,
  socketAddress: string | undefined,
  hops: number | null,
): string {
  const fromHeader = forwardedAddress(headers, hops);
  return (withoutPort(fromHeader) || socketAddress || 'unknown').slice(0, addressLengthMax);
}

/** The canonical form of an address, or null for any other text: clients can send anything in a header. */
export function toIpAddress(text: string): string | null {
  const family = isIP(text);
  if (family !== 6) return family === 4 ? text : null;
  const { address } = new SocketAddress({ address: text.split('%')[0] ?? '', family: 'ipv6' });
  return mappedIPv4(address) ?? address;
}

const mappedIPv4 = (address: string): string | undefined =>
  /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];

/**
 * The unit to limit: an IPv4 address, or an IPv6 /64 network, since one client has all of its 2^64 addresses.
 */
export function toNetwork(address: string): string {
  const plain = toIpAddress(address) ?? address;
  if (isIP(plain) !== 6) return plain;
  const [before = '', after] = plain.split('::');
  const head = before === '' ? [] : before.split(':');
  const tail = after === undefined || after === '' ? [] : after.split(':');
  const zeros = after === undefined ? 0 : 8 - head.length - tail.length;
  const groups = [...head, ...Array<string>(zeros).fill('0'), ...tail];
  return `${groups.slice(0, 4).join(':')}::/64`;
}

/** Some proxies append the client's port, which differs for every connection. */
const withoutPort = (address: string): string =>
  /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$|^\[([\da-fA-F:.]+)\](?::\d{1,5})?$/
    .exec(address)
    ?.slice(1)
    .find(Boolean) ?? address;

function forwardedAddress(headers: IncomingHttpHeaders, hops: number | null): string {
  const { 'x-forwarded-for': forwardedFor, 'x-real-ip': realIp = '' } = headers;
  const forwarded = forwardedFor === undefined ? [] : parseEntries(String(forwardedFor));
  if (hops === null) return forwarded[0] ?? String(realIp).trim();
  return forwarded[forwarded.length - hops] ?? '';
}

const parseEntries = (list: string): string[] =>
  list
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);
