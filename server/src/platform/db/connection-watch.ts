// Watches every connection for silence. A network that drops packets closes no connection, a replaced server may keep
// its connections open for hours, and a server process may be stuck: every statement would hang until the operating
// system gives up, after 15 minutes or never. A slow statement is not silence, so before a connection is given up we
// open a new one and ask the server whether it still knows the process behind the silent one.
import type { Duplex } from 'node:stream';
import pg from 'pg';
import { withTimeout } from '../../kernel/async/time-limit.ts';
import type { Logger } from '../log.ts';
import type { CurrentServer, DatabaseTiming, Session } from './session.ts';

export interface WatchedConnection {
  /** A statement was sent; from now on the server owes an answer. */
  sent(): void;
  answered(): void;
  /** How long it may be stuck from now on while the server still knows it. */
  allowStuckFor(milliseconds: number): void;
}

export interface WatchOptions {
  readonly session: Session;
  /** Closes the connection after this much silence, whatever the server says: for connections without slow work. */
  readonly silenceMsMax?: number;
  /** Called repeatedly while the connection has been silent for `slowMs` or longer. */
  readonly onSlow?: () => void;
  /** Called once, when the connection has reached its age or another server has taken over. */
  readonly onOld?: () => void;
}

export class ConnectionWatch {
  readonly #config: pg.ClientConfig;
  readonly #timing: DatabaseTiming;
  readonly #current: CurrentServer;
  readonly #log: Logger;
  readonly #connections = new Set<Watched>();
  readonly #deadlines = new Set<Deadline>();
  readonly #timer: NodeJS.Timeout;
  #isJudging = false;

  constructor(config: pg.ClientConfig, timing: DatabaseTiming, current: CurrentServer, log: Logger) {
    this.#config = config;
    this.#timing = timing;
    this.#current = current;
    this.#log = log;
    this.#timer = setInterval(() => this.#tick(), timing.checkMs).unref();
  }

  add(stream: Duplex, options: WatchOptions): WatchedConnection {
    const watched = new Watched(stream, options, this.#timing);
    this.#connections.add(watched);
    stream.once('close', () => this.#connections.delete(watched));
    return watched;
  }

  /**
   * Calls `onTimeout` after so long, unless the function that it returns is called first. Accurate to `checkMs`: one
   * shared timer is much cheaper than one per statement.
   */
  after(milliseconds: number, onTimeout: () => void): () => void {
    const deadline = { at: Date.now() + milliseconds, onTimeout };
    this.#deadlines.add(deadline);
    return () => this.#deadlines.delete(deadline);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    this.#check();
    if (this.#isJudging) return;
    this.#isJudging = true;
    void this.#judge().finally(() => {
      this.#isJudging = false;
    });
  }

  #check(): void {
    const now = Date.now();
    for (const deadline of this.#deadlines) {
      if (deadline.at > now) continue;
      this.#deadlines.delete(deadline);
      deadline.onTimeout();
    }
    for (const watched of this.#connections) {
      if (watched.isSilentFor(this.#timing.slowMs)) watched.options.onSlow?.();
      if (now >= watched.oldAt || !this.#current.is(watched.options.session)) watched.growOld();
    }
    this.#giveUp(
      [...this.#connections].filter((watched) =>
        watched.isSilentFor(watched.options.silenceMsMax ?? Number.POSITIVE_INFINITY),
      ),
      'no answer in time',
    );
  }

  async #judge(): Promise<void> {
    const isSuspicious = (watched: Watched) => watched.isSilentFor(this.#timing.suspiciousMs);
    const silent = [...this.#connections].filter(isSuspicious);
    if (silent.length === 0) return;
    const verdict = await askServer(this.#config, silent, this.#timing);
    if (verdict === 'refused') return;
    const stillSilent = silent.filter(isSuspicious);
    if (verdict === 'silent') return this.#giveUp(stillSilent, 'the server is silent');
    const activity = ({ options }: Watched) => verdict.get(toBackendName(options.session));
    this.#giveUp(
      stillSilent.filter((watched) => activity(watched) === undefined),
      'the server does not know them',
    );
    this.#giveUp(
      stillSilent.filter((watched) => activity(watched) === 'working' && watched.isStuck()),
      'stuck for too long',
    );
  }

  #giveUp(lost: readonly Watched[], reason: string): void {
    if (lost.length === 0) return;
    this.#log.warn({ connections: lost.length, reason }, 'database connections are given up');
    for (const { stream } of lost) stream.destroy(new Error(`the connection was silent: ${reason}`));
  }
}

interface Deadline {
  readonly at: number;
  readonly onTimeout: () => void;
}

class Watched implements WatchedConnection {
  readonly stream: Duplex;
  readonly options: WatchOptions;
  readonly oldAt: number;
  #isOld = false;
  #unanswered = 0;
  #heardAt = 0;
  #stuckMsMax: number;

  constructor(stream: Duplex, options: WatchOptions, { ageMs, abandonMs }: DatabaseTiming) {
    this.stream = stream;
    this.options = options;
    this.#stuckMsMax = abandonMs;
    // Before its maximum age, to leave time for opening the next one; with jitter, so that not all expire at once.
    this.oldAt = Date.now() + ageMs * (0.6 + 0.2 * Math.random());
  }

  sent(): void {
    if (this.#unanswered === 0) this.#heardAt = Date.now();
    this.#unanswered += 1;
  }

  answered(): void {
    this.#unanswered -= 1;
    this.#heardAt = Date.now();
  }

  allowStuckFor(milliseconds: number): void {
    this.#stuckMsMax = milliseconds;
  }

  isSilentFor(ms: number): boolean {
    return this.#unanswered > 0 && Date.now() - this.#heardAt >= ms;
  }

  isStuck(): boolean {
    return this.isSilentFor(this.#stuckMsMax);
  }

  growOld(): void {
    if (this.#isOld) return;
    this.#isOld = true;
    this.options.onOld?.();
  }
}

const toBackendName = ({ pid, startedAt }: Pick<Session, 'pid' | 'startedAt'>): string =>
  `${pid} ${startedAt}`;

/** A commit that waits for a standby is not stuck: it ends when the standby is back, and holds up nobody. */
type Activity = 'working' | 'waiting for a standby';

type Verdict = ReadonlyMap<string, Activity> | 'refused' | 'silent';

interface Backend {
  readonly pid: number;
  readonly started_at: string;
  readonly wait_event: string | null;
}

/** Which of the connections the server knows, and what they do there. `refused`: the server accepts no connections. */
async function askServer(
  config: pg.ClientConfig,
  connections: readonly Watched[],
  { connectMs }: DatabaseTiming,
): Promise<Verdict> {
  const client = new pg.Client(config);
  client.on('error', () => undefined);
  const ask = async (): Promise<Verdict> => {
    await client.connect();
    const { rows } = await client.query<Backend>(
      `select pid, extract(epoch from backend_start)::text as started_at, wait_event
       from pg_stat_activity where pid = any($1::int[])`,
      [connections.map(({ options }) => options.session.pid)],
    );
    return new Map(
      rows.map((row) => [toBackendName({ pid: row.pid, startedAt: row.started_at }), toActivity(row)]),
    );
  };
  const asked = ask().catch((error: unknown) =>
    error instanceof pg.DatabaseError ? ('refused' as const) : ('silent' as const),
  );
  const verdict = await withTimeout(connectMs, asked, () => 'silent' as const);
  void client.end().catch(() => undefined);
  return verdict;
}

const toActivity = ({ wait_event }: Backend): Activity =>
  wait_event === 'SyncRep' ? 'waiting for a standby' : 'working';
