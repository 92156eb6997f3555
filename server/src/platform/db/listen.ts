// Listens for notifications: one connection for all channels, which is reopened when it is lost or old.
import pg from 'pg';
import { type Deferred, deferred } from '../../kernel/async/deferred.ts';
import { withTimeout } from '../../kernel/async/time-limit.ts';
import { createTurns } from '../../kernel/async/turns.ts';
import type { Logger } from '../log.ts';
import type { ConnectionWatch, WatchedConnection } from './connection-watch.ts';
import { type CurrentServer, type DatabaseTiming, prepareSession } from './session.ts';

interface ListenDeps {
  readonly config: pg.ClientConfig;
  readonly timing: DatabaseTiming;
  readonly watch: ConnectionWatch;
  readonly server: CurrentServer;
  readonly log: Logger;
}

type Hear = (payload: string) => void;

const listenAgainMs = 1_000;

export class Listening {
  readonly #deps: ListenDeps;
  readonly #hearers = new Map<string, Set<Hear>>();
  /** Nobody adds a channel while the next connection is being opened, which might lack it. */
  readonly #inTurn = createTurns();
  #current: ListeningConnection | null = null;
  #isKept = false;

  constructor(deps: ListenDeps) {
    this.#deps = deps;
  }

  /** Resolves to the function that stops listening. The last one closes the connection. */
  async listen(channel: string, hear: Hear): Promise<() => Promise<void>> {
    const hearers = this.#hearers.get(channel) ?? new Set();
    this.#hearers.set(channel, hearers.add(hear));
    const stop = async () => {
      hearers.delete(hear);
      if (hearers.size === 0 && this.#hearers.get(channel) === hearers) this.#hearers.delete(channel);
      if (this.#hearers.size === 0) await this.#current?.end();
    };
    try {
      await this.#inTurn(() => this.#reach(channel));
    } catch (error) {
      await stop();
      throw error;
    }
    return stop;
  }

  async #reach(channel: string): Promise<void> {
    await this.#renew();
    await this.#current?.add(channel);
    if (this.#isKept) return;
    this.#isKept = true;
    void this.#keep();
  }

  async #keep(): Promise<void> {
    while (this.#hearers.size > 0) {
      if (this.#current) await this.#current.isOver;
      else await new Promise((resolve) => setTimeout(resolve, listenAgainMs).unref());
      await this.#inTurn(() => this.#renew()).catch(() => undefined);
    }
    this.#isKept = false;
  }

  /** Opens a connection, unless there is one that is not lost or old. */
  async #renew(): Promise<void> {
    const before = this.#current;
    if (this.#hearers.size === 0 || (before && !before.wasOver)) return;
    try {
      this.#current = null;
      this.#current = await this.#open();
      // A connection opened while the service stops would keep the process alive.
      if (this.#hearers.size === 0) await this.#current.end();
    } finally {
      // Only now: this one still receives what is sent while the next one is being opened.
      await before?.end();
    }
  }

  #open(): Promise<ListeningConnection> {
    return openListening(this.#deps, [...this.#hearers.keys()], (channel, payload) => {
      for (const hear of this.#hearers.get(channel) ?? []) hear(payload);
    });
  }
}

/** A silent server does not confirm the end of a connection. */
const endTimeoutMs = 3_000;

class ListeningConnection {
  readonly #client: pg.Client;
  readonly #watched: WatchedConnection;
  readonly #channels: Set<string>;
  readonly #over: Deferred<void>;
  wasOver = false;

  constructor(
    client: pg.Client,
    watched: WatchedConnection,
    channels: readonly string[],
    over: Deferred<void>,
  ) {
    this.#client = client;
    this.#watched = watched;
    this.#channels = new Set(channels);
    this.#over = over;
    void over.promise.then(() => {
      this.wasOver = true;
    });
  }

  /** Resolves when the connection is lost or has reached its age. */
  get isOver(): Promise<void> {
    return this.#over.promise;
  }

  async add(channel: string): Promise<void> {
    if (this.#channels.has(channel)) return;
    await this.#ask(listenTo([channel]));
    this.#channels.add(channel);
  }

  /** Nothing else is ever sent here, so without this silence would mean nothing. */
  giveSign(): void {
    this.#ask('select 1').catch(() => undefined);
  }

  async end(): Promise<void> {
    this.wasOver = true;
    await withTimeout(
      endTimeoutMs,
      this.#client.end().catch(() => undefined),
    );
  }

  async #ask(statement: string): Promise<void> {
    this.#watched.sent();
    try {
      await this.#client.query(statement);
    } finally {
      this.#watched.answered();
    }
  }
}

const listenTo = (channels: readonly string[]): string =>
  channels.map((channel) => `listen ${channel}`).join('; ');

async function openListening(
  { config, timing, watch, server, log }: ListenDeps,
  channels: readonly string[],
  hear: (channel: string, payload: string) => void,
): Promise<ListeningConnection> {
  const client = new pg.Client(config);
  const over = deferred<void>();
  client.on('error', (error) => log.warn({ err: error }, 'the listening database connection was lost'));
  client.on('notification', ({ channel, payload = '' }) => hear(channel, payload));
  client.on('end', () => over.resolve());
  try {
    await client.connect();
    const session = await prepareSession(client, listenTo(channels), timing);
    server.reached(session);
    const watched = watch.add(client.connection.stream, {
      session,
      silenceMsMax: timing.readMs,
      onOld: () => over.resolve(),
    });
    const connection = new ListeningConnection(client, watched, channels, over);
    const asking = setInterval(() => connection.giveSign(), timing.suspiciousMs).unref();
    client.on('end', () => clearInterval(asking));
    return connection;
  } catch (error) {
    // A connection that may not listen, as to a standby, would stay open forever.
    client.connection.stream.destroy();
    throw error;
  }
}
