// Requests to addresses that tenants name. Nothing else in the service makes them. A host is looked up once for a connection,
// its addresses are checked, and the connection goes to one of exactly those; there is no proxy and no redirect.
import { withTimeout } from '../../kernel/async/time-limit.ts';
import { FairSemaphore } from '../concurrency/fair-semaphore.ts';
import { Connections } from './connections.ts';
import type { OutboundAnswer, OutboundRequest } from './exchange.ts';
import { OutboundAborted, OutboundFault } from './faults.ts';
import { createDnsLookup, type HostLookup, systemLookup } from './host-lookup.ts';
import { parseTarget, refuseUnlessPublic, type Target } from './target.ts';

export interface Outbound {
  /** Throws an OutboundRefusal if the URL leads to a place that is not allowed. `owner` bounds lookups. */
  check(url: string, owner: string): Promise<void>;
  /** A single POST within the time limit. Throws an OutboundRefusal, an OutboundFault or an OutboundAborted. */
  post(request: OutboundRequest): Promise<OutboundAnswer>;
  close(): Promise<void>;
}

export interface OutboundOptions {
  readonly allowPrivate: boolean;
  /** From the lookup to the answer. */
  readonly timeoutMs?: number;
  /** Name servers, instead of those of the system. */
  readonly dnsServers?: readonly string[];
  /** Certificates to trust, instead of the public ones. */
  readonly ca?: string;
}

const defaultTimeoutMs = 10_000;
/** A connection tries them one after another. */
const addressesMax = 4;
/** A request of the API waits no longer for a name server. */
const checkMsMax = 2_000;
/** Of POSTs and PUTs that name a host, which a hostile name server may keep waiting. */
const lookupBounds = { permits: 64, permitsPerOwner: 4, waitMaxMs: 5_000 };

export const createOutbound = (options: OutboundOptions): Outbound => new PinnedOutbound(options);

class PinnedOutbound implements Outbound {
  readonly #allowPrivate: boolean;
  readonly #timeoutMs: number;
  readonly #lookup: HostLookup;
  readonly #lookups = new FairSemaphore('lookups of host names', lookupBounds);
  readonly #connections: Connections;

  constructor({ allowPrivate, timeoutMs = defaultTimeoutMs, dnsServers, ca }: OutboundOptions) {
    this.#allowPrivate = allowPrivate;
    this.#timeoutMs = timeoutMs;
    this.#lookup = allowPrivate && !dnsServers ? systemLookup : createDnsLookup(dnsServers);
    this.#connections = new Connections(ca);
  }

  async check(url: string, owner: string): Promise<void> {
    const target = parseTarget(url, this.#allowPrivate);
    // Anything goes, and a receiver may be started later.
    if (this.#allowPrivate) return;
    try {
      await this.#lookups.during(owner, () => withTimeout(checkMsMax, this.#addressesOf(target)));
    } catch (error) {
      // A name that does not resolve now may do so later. Every connection looks it up again.
      if (!(error instanceof OutboundFault)) throw error;
    }
  }

  async post(request: OutboundRequest): Promise<OutboundAnswer> {
    const target = parseTarget(request.url, this.#allowPrivate);
    const ending = new AbortController();
    const timer = setTimeout(() => ending.abort(this.#tooLate()), this.#timeoutMs);
    const stop = () => ending.abort(new OutboundAborted('The process stops'));
    request.signal?.addEventListener('abort', stop);
    if (request.signal?.aborted) stop();
    try {
      return await this.#connections.post(request, target, ending.signal, () =>
        endedBy(ending.signal, this.#addressesOf(target)),
      );
    } finally {
      clearTimeout(timer);
      request.signal?.removeEventListener('abort', stop);
    }
  }

  close(): Promise<void> {
    return this.#connections.close();
  }

  /** Those that may be connected to. */
  async #addressesOf({ host, isAddress }: Target): Promise<readonly string[]> {
    const found = isAddress ? [host] : await this.#lookup(host);
    return (this.#allowPrivate ? found : refuseUnlessPublic(found)).slice(0, addressesMax);
  }

  #tooLate(): OutboundFault {
    return new OutboundFault(`No complete answer within ${this.#timeoutMs / 1000} seconds`);
  }
}

/** Settles like `work`, or rejects as soon as the signal is aborted. */
async function endedBy<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  let end: () => void = () => undefined;
  const ended = new Promise<never>((_, reject) => {
    end = () => reject(signal.reason as Error);
  });
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  try {
    return await Promise.race([work, ended]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}
