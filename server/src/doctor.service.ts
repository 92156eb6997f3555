// Checks whether the service is running here, whether PUBLIC_URL leads to it, and what a proxy tells it about clients.
import { BlockList, isIPv4 } from 'node:net';
import type { Settings } from './contract/settings.ts';
import type { Report } from './doctor.findings.ts';
import { apiPrefix } from './http/route-table.ts';
import { reasonOf } from './kernel/error.ts';

const requestMs = 5_000;
/** Fewer say nothing about the addresses of clients. */
const clientsMin = 20;

type Health =
  | { readonly version: string; readonly status: string }
  /** Something else answers, or nobody. */
  | { readonly problem: string };

/** `clients` are the addresses of recent requests. */
export async function examineService(
  settings: Settings,
  report: Report,
  version: string,
  clients: readonly string[],
): Promise<void> {
  if (settings.ROLE === 'worker') {
    report.skipped('ROLE is worker: this process does not listen');
    return;
  }
  const here = localAddress(settings);
  const local = here === null ? null : await askHealth(here);
  judgeLocal(here, local, version, report);
  await judgePublic(settings, local, version, report);
  judgeProxy(settings, here, clients, report);
}

/** Null if the port is chosen at the start. */
function localAddress({ HOST, PORT }: Settings): string | null {
  if (PORT === 0) return null;
  const host = /^(0\.0\.0\.0|::|\[::\])$/.test(HOST) ? '127.0.0.1' : HOST;
  return `http://${host.includes(':') ? `[${host}]` : host}:${PORT}`;
}

async function askHealth(origin: string): Promise<Health> {
  try {
    const reply = await fetch(`${origin}${apiPrefix}/health`, { signal: AbortSignal.timeout(requestMs) });
    const body = (await reply.json().catch(() => null)) as Record<string, unknown> | null;
    if (typeof body?.version === 'string' && typeof body.status === 'string' && body.checks)
      return { version: body.version, status: body.status };
    return { problem: `something else answers, with ${reply.status}` };
  } catch (error) {
    return { problem: reasonOf((error as Error).cause ?? error) };
  }
}

function judgeLocal(here: string | null, local: Health | null, version: string, report: Report): void {
  if (local === null) report.skipped('PORT is 0: whether the service is running cannot be seen');
  else if ('problem' in local) report.skipped(`not running at ${here} (${local.problem})`);
  else if (local.status !== 'ok')
    report.warning(`running at ${here}, but ${local.status}`, `see ${here}${apiPrefix}/health and the log`);
  else if (local.version !== version)
    report.warning(`running at ${here}, version ${local.version}, but ${version} is installed`, 'restart it');
  else report.ok(`running at ${here}, version ${version}`);
}

async function judgePublic(
  { PUBLIC_URL }: Settings,
  local: Health | null,
  version: string,
  report: Report,
): Promise<void> {
  if (PUBLIC_URL === null) {
    report.skipped('PUBLIC_URL is not set: links follow the Host header of each request');
    return;
  }
  const outside = await askHealth(PUBLIC_URL);
  const isRunning = local !== null && 'version' in local;
  if ('version' in outside && outside.version === (isRunning ? local.version : version))
    report.ok(`PUBLIC_URL leads to a Pakhus of version ${outside.version}`);
  else if ('version' in outside)
    report.warning(
      `PUBLIC_URL leads to a Pakhus of version ${outside.version}`,
      'check that it is this one, and that no instance was forgotten in an upgrade',
    );
  else if (isRunning)
    report.failed(
      `PUBLIC_URL does not lead to this service (${outside.problem})`,
      'check the name in the DNS, the proxy and its certificate, and that it passes /api/v1 on unchanged',
    );
  else
    report.warning(
      `PUBLIC_URL cannot be checked (${outside.problem})`,
      'start the service, then run this again',
    );
}

const privateNetworks = new BlockList();
for (const [network, prefix] of [
  ['10.0.0.0', 8],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const)
  privateNetworks.addSubnet(network, prefix);

/** Nobody tells how many proxies there are: judged by the addresses and by what the service saw of its clients. */
function judgeProxy(
  { PUBLIC_URL, TRUST_PROXY_HOPS }: Settings,
  here: string | null,
  clients: readonly string[],
  report: Report,
): void {
  if (PUBLIC_URL === null) return;
  const isProxied = here === null || new URL(PUBLIC_URL).origin !== here;
  const [only, ...others] = new Set(clients);
  const looksLikeProxy =
    clients.length >= clientsMin && only !== undefined && others.length === 0 && isPrivate(only);
  if (TRUST_PROXY_HOPS === null)
    report.warning(
      'TRUST_PROXY_HOPS is not set, so clients can forge their address',
      'set it to the number of proxies in front, usually 1, or to 0 without one',
    );
  else if (isProxied && TRUST_PROXY_HOPS === 0)
    report.warning(
      'PUBLIC_URL looks as if there were a proxy, but TRUST_PROXY_HOPS is 0: all clients would share its address',
      'set it to the number of proxies in front',
    );
  else if (isProxied && looksLikeProxy)
    report.warning(
      `the last ${clients.length} audited requests all came from ${only}, probably a proxy`,
      'let every proxy add to X-Forwarded-For, and set TRUST_PROXY_HOPS to their number',
    );
  else if (!isProxied && TRUST_PROXY_HOPS > 0)
    report.warning(
      `PUBLIC_URL is the address of the service itself, but TRUST_PROXY_HOPS is ${TRUST_PROXY_HOPS}: clients can forge their address`,
      'set it to 0',
    );
  else report.ok(`TRUST_PROXY_HOPS=${TRUST_PROXY_HOPS} fits what can be seen from here`);
}

const isPrivate = (address: string): boolean => isIPv4(address) && privateNetworks.check(address);
