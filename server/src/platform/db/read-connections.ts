// Connections that reads share. They are pipelined, which halves the cost of a read, but a slow read delays those
// behind it. So nothing that waits for a row lock runs here, and a connection that stops answering gets no new reads.
import pg from 'pg';
import { atEndOfIteration } from '../../kernel/async/event-loop.ts';
import type { Logger } from '../log.ts';
import type { ConnectionWatch, WatchedConnection } from './connection-watch.ts';
import { explainOutage } from './outage.ts';
import { PreparedReads } from './prepared-read.ts';
import { type CurrentServer, type DatabaseTiming, prepareSession, type Session } from './session.ts';
import type { Sql } from './sql.ts';

interface ReadConnectionDeps {
  readonly config: pg.ClientConfig;
  readonly timing: DatabaseTiming;
  readonly watch: ConnectionWatch;
  readonly server: CurrentServer;
  readonly log: Logger;
}

/** A fixed number of read connections, used in turn. */
export class ReadConnections {
  readonly #slots: readonly ReadSlot[];
  #slot: ReadSlot;
  #next = 0;
  #isChosen = false;

  constructor(count: number, deps: ReadConnectionDeps) {
    this.#slots = Array.from({ length: count }, () => new ReadSlot(deps));
    this.#slot = this.#slots[0] as ReadSlot;
  }

  /** Reads of one event loop iteration share a connection, and so one write to its socket. */
  read(statement: Sql): Promise<unknown[]> {
    if (!this.#isChosen) this.#choose();
    return this.#slot.read(statement);
  }

  async close(): Promise<void> {
    await Promise.all(this.#slots.map((slot) => slot.close()));
  }

  #choose(): void {
    this.#isChosen = true;
    this.#next = (this.#next + 1) % this.#slots.length;
    this.#slot = this.#slots[this.#next] as ReadSlot;
    atEndOfIteration(this.#release);
  }

  readonly #release = (): void => {
    this.#isChosen = false;
  };
}

interface ReadConnection {
  readonly client: pg.Client;
  readonly reads: PreparedReads;
}

/**
 * The server has to give up before we do. Otherwise a read that waits for an operator's table lock would keep its
 * connection while we open new ones, until the server has none left.
 */
const timeoutSettings = ({ readMs }: DatabaseTiming): string =>
  `set lock_timeout = ${Math.ceil(readMs / 4)}; set statement_timeout = ${Math.ceil(readMs * 0.8)}`;

/** One connection at a time: opened on first use, replaced when it is lost, old or slow. */
class ReadSlot {
  readonly #deps: ReadConnectionDeps;
  #opening: Promise<ReadConnection> | null = null;
  #current: ReadConnection | null = null;
  /** Gets no more reads but still owes answers. One at most, or a slow server would get ever more connections. */
  #overtaken: ReadConnection | null = null;

  constructor(deps: ReadConnectionDeps) {
    this.#deps = deps;
  }

  // Not async: the extra promise would cost more than this method.
  read(statement: Sql): Promise<unknown[]> {
    if (this.#current) return this.#current.reads.read(statement);
    return this.#open().then(({ reads }) => reads.read(statement));
  }

  async close(): Promise<void> {
    const last = await (this.#opening?.catch(() => null) ?? this.#current);
    await last?.client.end().catch(() => undefined);
  }

  #open(): Promise<ReadConnection> {
    this.#opening ??= this.#connect()
      .then((connection) => {
        this.#current = connection;
        return connection;
      })
      .finally(() => {
        this.#opening = null;
      });
    return this.#opening;
  }

  async #connect(): Promise<ReadConnection> {
    const { config, timing, server, log } = this.#deps;
    const client = new pg.Client({ ...config, pipeline: true } as pg.ClientConfig);
    client.on('error', (error) => {
      log.warn({ err: error }, 'a database connection was lost');
      this.#forget(client);
    });
    client.on('end', () => this.#forget(client));
    try {
      await client.connect();
      const session = await prepareSession(client, timeoutSettings(timing), timing);
      server.reached(session);
      const watched = this.#watch(client, session);
      return { client, reads: new PreparedReads(client, watched) };
    } catch (error) {
      client.connection.stream.destroy();
      throw explainOutage(error);
    }
  }

  #watch(client: pg.Client, session: Session): WatchedConnection {
    return this.#deps.watch.add(client.connection.stream, {
      session,
      silenceMsMax: this.#deps.timing.readMs,
      onSlow: () => this.#overtake(client),
      onOld: () => void this.#replace(client),
    });
  }

  #forget(client: pg.Client): void {
    if (this.#current?.client === client) this.#current = null;
    if (this.#overtaken?.client === client) this.#overtaken = null;
  }

  #overtake(client: pg.Client): void {
    if (this.#current?.client !== client || this.#overtaken) return;
    this.#overtaken = this.#current;
    this.#current = null;
    // Ends after it has answered what it was asked.
    void client.end().catch(() => undefined);
  }

  /** The old connection serves reads until the new one is open; then it answers what it was asked and ends. */
  async #replace(client: pg.Client): Promise<void> {
    if (this.#current?.client !== client) return;
    await this.#open().catch(() => undefined);
    this.#forget(client);
    void client.end().catch(() => undefined);
  }
}
