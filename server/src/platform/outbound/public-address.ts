// Tells public addresses from all others. Whatever is reserved, local or wraps another address counts as not public.
import { BlockList, isIP } from 'node:net';

/** IANA's registry of special addresses, and services for virtual machines that answer on public ones. */
const reserved4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  // Shared between a provider and its customers; one cloud has its metadata here.
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  // Link-local, with the metadata of most clouds.
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/** Exceptions within the public part of IPv6: protocols (with Teredo), documentation, 6to4. */
const reserved6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];

/** The only part of IPv6 that is handed out. Loopback, local, mapped and translated addresses are outside of it. */
const global6 = ['2000::/3'];

const toBlockList = (family: 'ipv4' | 'ipv6', subnets: readonly string[]): BlockList => {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [network = '', bits] = subnet.split('/');
    list.addSubnet(network, Number(bits), family);
  }
  return list;
};

const isReserved4 = toBlockList('ipv4', reserved4);
const isReserved6 = toBlockList('ipv6', reserved6);
const isGlobal6 = toBlockList('ipv6', global6);

/** False for anything that is not an address, and for addresses with a zone. */
export function isPublicAddress(address: string): boolean {
  const family = address.includes('%') ? 0 : isIP(address);
  if (family === 4) return !isReserved4.check(address, 'ipv4');
  if (family === 6) return isGlobal6.check(address, 'ipv6') && !isReserved6.check(address, 'ipv6');
  return false;
}
