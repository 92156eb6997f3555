// Where a request to an address named by a tenant may go, as far as the URL alone tells. The URL parser has turned decimal,
// octal and hexadecimal forms, and digits of other scripts, into plain addresses before anything is judged.
import { isIP } from 'node:net';
import { OutboundRefusal } from './faults.ts';
import { isPublicAddress } from './public-address.ts';

export interface Target {
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly isAddress: boolean;
}

export const urlCharsMax = 2048;

/** Names that never lead outside: those of this machine, of local networks and of clouds. */
const insideNames =
  /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|lan|home\.arpa|in-addr\.arpa|ip6\.arpa)$/;

/** Throws an OutboundRefusal that completes the sentence "The URL …". */
export function parseTarget(text: string, allowPrivate: boolean): Target {
  const url = URL.canParse(text) && text.length <= urlCharsMax ? new URL(text) : null;
  if (!url) throw new OutboundRefusal(`must be a URL of at most ${urlCharsMax} characters`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new OutboundRefusal('must begin with https:// or http://');
  if (url.username || url.password) throw new OutboundRefusal('must not contain a user name or password');
  // A name may end in a dot, which would hide it from the checks and from the certificate.
  url.hostname = url.hostname.replace(/\.+$/, '');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isAddress = isIP(host) !== 0;
  if (!allowPrivate) refuseInside(host, isAddress);
  return { origin: url.origin, path: `${url.pathname}${url.search}`, host, isAddress };
}

function refuseInside(host: string, isAddress: boolean): void {
  if (isAddress) refuseUnlessPublic([host]);
  else if (!host.includes('.') || insideNames.test(host))
    throw new OutboundRefusal('must name a public host, not one of a local network');
}

/** The public ones of the addresses of a host; throws if there is none. */
export function refuseUnlessPublic(addresses: readonly string[]): readonly string[] {
  const allowed = addresses.filter(isPublicAddress);
  if (allowed.length === 0)
    throw new OutboundRefusal('must lead to a public address, not to a local or reserved one');
  return allowed;
}
