// Locks that end with their process: advisory locks of PostgreSQL, all held on one connection. They only keep others from
// doing the same work at the same time; what must not happen twice needs a constraint as well, because a lost connection
// loses its locks.
import { createHash } from 'node:crypto';
import pg from 'pg';
import { withTimeout } from '../../kernel/async/time-limit.ts';
import type { Logger } from '../log.ts';
import type { ConnectionWatch, WatchedConnection } from './connection-watch.ts';
import { explainOutage, unanswered } from './outage.ts';
import { type CurrentServer, type DatabaseTiming, prepareSession } from './session.ts';

interface LockDeps {
  readonly config: pg.ClientConfig;
  readonly timing: DatabaseTiming;
  readonly watch: ConnectionWatch;
  readonly server: CurrentServer;
  readonly log: Logger;
}

/** Resolves when others can have the lock. Never rejects. */
export type Unlock = () => Promise<void>;

export class SessionLocks {
  readonly #deps: LockDeps;
  /** Within one session a lock can be taken twice, so this process keeps its own account. */
  readonly #names = new Set<string>();
  #connection: Promise<LockConnection> | null = null;

  constructor(deps: LockDeps) {
    this.#deps = deps;
  }

  /** Null if somebody else has the lock. */
  async tryLock(name: string): Promise<Unlock | null> {
    if (this.#names.has(name)) return null;
    this.#names.add(name);
    try {
      const connection = await this.#connect();
      const id = toLockId(name);
      if (await connection.tryLock(id))
        return async () => {
          await connection.unlock(id);
          this.#names.delete(name);
        };
    } catch (error) {
      this.#names.delete(name);
      throw explainOutage(error);
    }
    this.#names.delete(name);
    return null;
  }

  async close(): Promise<void> {
    await (await this.#connection?.catch(() => null))?.end();
  }

  #connect(): Promise<LockConnection> {
    if (this.#connection) return this.#connection;
    const opening = LockConnection.open(this.#deps, () => {
      if (this.#connection === opening) this.#connection = null;
    });
    this.#connection = opening;
    opening.catch(() => {
      if (this.#connection === opening) this.#connection = null;
    });
    return opening;
  }
}

/** Two names with the same id would only exclude each other. */
const toLockId = (name: string): string =>
  createHash('sha256').update(name).digest().readBigInt64BE().toString();

class LockConnection {
  readonly #client: pg.Client;
  readonly #watched: WatchedConnection;
  readonly #timeoutMs: number;
  #held = 0;
  #isOld = false;

  /** `onOver` is called when it is lost or old, so that it gets no new locks. */
  static async open(deps: LockDeps, onOver: () => void): Promise<LockConnection> {
    const { config, timing, watch, server, log } = deps;
    const client = new pg.Client({ ...config, pipeline: true } as pg.ClientConfig);
    client.on('error', (error) => log.warn({ err: error }, 'the database connection for locks was lost'));
    client.on('end', onOver);
    try {
      await client.connect();
      const session = await prepareSession(client, `set statement_timeout = ${timing.readMs}`, timing);
      server.reached(session);
      const watched = watch.add(client.connection.stream, {
        session,
        silenceMsMax: timing.readMs,
        onOld: () => {
          onOver();
          connection.retire();
        },
      });
      const connection = new LockConnection(client, watched, timing.readMs);
      return connection;
    } catch (error) {
      client.connection.stream.destroy();
      throw error;
    }
  }

  private constructor(client: pg.Client, watched: WatchedConnection, timeoutMs: number) {
    this.#client = client;
    this.#watched = watched;
    this.#timeoutMs = timeoutMs;
  }

  async tryLock(id: string): Promise<boolean> {
    this.#held += 1;
    const isMine = await this.#ask('select pg_try_advisory_lock($1) as done', id).catch((error: unknown) => {
      this.#letGo();
      throw error;
    });
    if (!isMine) this.#letGo();
    return isMine;
  }

  /** If the connection is lost, so is the lock. */
  async unlock(id: string): Promise<void> {
    await this.#ask('select pg_advisory_unlock($1) as done', id).catch(() => undefined);
    this.#letGo();
  }

  /** Ends it after its last lock. */
  retire(): void {
    this.#isOld = true;
    if (this.#held === 0) void this.end();
  }

  end(): Promise<void> {
    return withTimeout(
      this.#timeoutMs,
      this.#client.end().catch(() => undefined),
    );
  }

  #letGo(): void {
    this.#held -= 1;
    if (this.#isOld && this.#held === 0) void this.end();
  }

  async #ask(text: string, id: string): Promise<boolean> {
    this.#watched.sent();
    try {
      const asked = this.#client.query<{ done: boolean }>(text, [id]);
      const { rows } = await withTimeout(this.#timeoutMs, asked, () => {
        throw unanswered(new Error('no answer about a lock'));
      });
      return rows[0]?.done ?? false;
    } finally {
      this.#watched.answered();
    }
  }
}
