// Connections to receivers, each pinned to addresses that were checked before it was opened. One that has answered is kept for
// the sender's next request, for a while, and a bounded number of them.
import { isIP } from 'node:net';
import type { Client } from 'undici';
import { exchange, type OutboundAnswer, type OutboundRequest } from './exchange.ts';
import { isClosedByPeer, toFault } from './faults.ts';
import type { Target } from './target.ts';

interface Connection {
  readonly client: Client;
  readonly openedAtMs: number;
  idleSinceMs: number;
}

/** The host is looked up again after this time, so that a move of the receiver is noticed. */
const ageMsMax = 60_000;
const idleMsMax = 10_000;
const idleMax = 500;
const sweepMs = 5_000;
/** An address that does not answer leaves time for the next one. */
const addressTimeoutMs = 2_000;

type FindAddresses = () => Promise<readonly string[]>;

export class Connections {
  readonly #ca: string | undefined;
  /** By sender and origin; the one used last comes last. */
  readonly #idle = new Map<string, Connection[]>();
  readonly #sweeping: NodeJS.Timeout;
  #idleCount = 0;

  constructor(ca: string | undefined) {
    this.#ca = ca;
    this.#sweeping = setInterval(() => this.#sweep(), sweepMs).unref();
  }

  async post(
    request: OutboundRequest,
    target: Target,
    signal: AbortSignal,
    findAddresses: FindAddresses,
  ): Promise<OutboundAnswer> {
    const key = `${request.sender} ${target.origin}`;
    const kept = this.#takeIdle(key);
    if (kept) {
      try {
        return await this.#send(key, kept, request, target, signal);
      } catch (error) {
        // The receiver has closed the connection while it was idle: that says nothing about the request.
        if (signal.aborted || !isClosedByPeer(error)) throw toOutcome(error, signal);
      }
    }
    try {
      const connection = await this.#open(target, await findAddresses());
      return await this.#send(key, connection, request, target, signal);
    } catch (error) {
      throw toOutcome(error, signal);
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeping);
    const open = [...this.#idle.values()].flat();
    this.#idle.clear();
    await Promise.all(open.map(({ client }) => client.destroy()));
  }

  async #open(target: Target, addresses: readonly string[]): Promise<Connection> {
    // Most services never send a webhook, and start faster without it.
    const { Client } = await import('undici');
    const checked = addresses.map((address) => ({ address, family: isIP(address) }));
    const [first] = checked as [(typeof checked)[number]];
    const client = new Client(target.origin, {
      pipelining: 1,
      keepAliveTimeout: idleMsMax,
      keepAliveMaxTimeout: idleMsMax,
      // The whole request has one time limit.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: {
        rejectUnauthorized: true,
        autoSelectFamily: true,
        autoSelectFamilyAttemptTimeout: addressTimeoutMs,
        ...(this.#ca === undefined ? {} : { ca: this.#ca }),
        // Instead of a second lookup, which could be answered differently.
        lookup: (_host, options, found) =>
          options.all ? found(null, checked) : found(null, first.address, first.family),
      },
    });
    return { client, openedAtMs: Date.now(), idleSinceMs: 0 };
  }

  async #send(
    key: string,
    connection: Connection,
    request: OutboundRequest,
    target: Target,
    signal: AbortSignal,
  ): Promise<OutboundAnswer> {
    try {
      const { isComplete, ...answer } = await exchange(connection.client, request, target, signal);
      if (isComplete) this.#keep(key, connection);
      else void connection.client.destroy();
      return answer;
    } catch (error) {
      void connection.client.destroy();
      throw error;
    }
  }

  #takeIdle(key: string): Connection | null {
    const ofKey = this.#idle.get(key);
    const connection = ofKey?.pop();
    if (!connection) return null;
    if (ofKey?.length === 0) this.#idle.delete(key);
    this.#idleCount -= 1;
    if (isUsable(connection)) return connection;
    void connection.client.destroy();
    return null;
  }

  #keep(key: string, connection: Connection): void {
    connection.idleSinceMs = Date.now();
    const ofKey = this.#idle.get(key) ?? [];
    this.#idle.delete(key);
    this.#idle.set(key, ofKey);
    ofKey.push(connection);
    this.#idleCount += 1;
    if (this.#idleCount <= idleMax) return;
    const [oldest] = this.#idle.values();
    this.#drop(oldest?.shift());
  }

  #sweep(): void {
    for (const [key, connections] of this.#idle) {
      while (connections[0] && !isUsable(connections[0])) this.#drop(connections.shift());
      if (connections.length === 0) this.#idle.delete(key);
    }
  }

  #drop(connection: Connection | undefined): void {
    if (!connection) return;
    this.#idleCount -= 1;
    void connection.client.destroy();
  }
}

const isUsable = ({ openedAtMs, idleSinceMs }: Connection): boolean => {
  const now = Date.now();
  return now - openedAtMs < ageMsMax && now - idleSinceMs < idleMsMax;
};

const toOutcome = (error: unknown, signal: AbortSignal): unknown => {
  if (signal.aborted) return signal.reason;
  return (error as Error).name.startsWith('Outbound') ? error : toFault(error);
};
