// Looks up the addresses of a host. Uses DNS alone and never blocks a thread: tenants choose the names, and a name server of
// theirs may not answer.
import { lookup, Resolver } from 'node:dns/promises';
import { OutboundFault } from './faults.ts';

/** All addresses, IPv4 first. Throws an OutboundFault if there is none. */
export type HostLookup = (host: string) => Promise<readonly string[]>;

const answerTimeoutMs = 2_000;
const triesMax = 2;

/** `servers` instead of those of the system. */
export function createDnsLookup(servers?: readonly string[]): HostLookup {
  const resolver = new Resolver({ timeout: answerTimeoutMs, tries: triesMax });
  if (servers) resolver.setServers(servers);
  return async (host) => {
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (found.length === 0) throw unknownHost(answers.find(({ status }) => status === 'rejected'));
    return found;
  };
}

/** With /etc/hosts and everything else the system knows: for development, where names of the local network count. */
export const systemLookup: HostLookup = async (host) => {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch (error) {
    throw unknownHost(error);
  }
};

const unknownHost = (cause: unknown) => new OutboundFault('The host name does not resolve', { cause });
