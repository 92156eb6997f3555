// Watches every connection. A network that swallows packets closes no connection, a server that was replaced may keep
// its own open for hours, and a process of the server may be stuck: until the system gives up, after a quarter of an
// hour or never, every statement would hang. A slow statement is no silence, so before a silent connection is given up
// we open a new one and ask the server there whether it knows the process that the silent one talks to.
import type { Duplex } from 'node:stream';
import pg from 'pg';
import { withTimeout } from '../../kernel/async/time-limit.ts';
import type { Logger } from '../log.ts';
import type { CurrentServer, DatabaseTiming, Session } from './session.ts';

/** One connection. Between a question and its answer the server has the word. */
export interface Line {
  asked(): void;
  answered(): void;
  /** How long it may be stuck from now on while the server still knows it. */
  mayBeStuckFor(milliseconds: number): void;
}

export interface LineOptions {
  readonly session: Session;
  /** Closes it after this much silence, whatever the server says: for lines where nothing may take long. */
  readonly silenceMsMax?: number;
  /** Called when it has been silent for `slowMs`, again and again while it stays so. */
  readonly onSlow?: () => void;
  /** Called once: it has reached its age, or another server has taken over. */
  readonly onOld?: () => void;
}

export interface SilenceWatch {
  watch(stream: Duplex, options: LineOptions): Line;
  /** Calls `late` after so long, unless the function that it returns is called first. */
  after(milliseconds: number, late: () => void): () => void;
  stop(): void;
}

export function watchForSilence(
  server: pg.ClientConfig,
  timing: DatabaseTiming,
  current: CurrentServer,
  log: Logger,
): SilenceWatch {
  const lines = new Set<WatchedLine>();
  const deadlines = new Set<Deadline>();
  const giveUp = (lost: readonly WatchedLine[], reason: string) => {
    if (lost.length === 0) return;
    log.warn({ connections: lost.length, reason }, 'database connections are given up');
    for (const { stream } of lost) stream.destroy(new Error(`the connection was silent: ${reason}`));
  };
  const check = () => {
    const now = Date.now();
    for (const deadline of deadlines) {
      if (deadline.at > now) continue;
      deadlines.delete(deadline);
      deadline.late();
    }
    for (const line of lines) {
      if (line.isSilentFor(timing.slowMs)) line.options.onSlow?.();
      if (now >= line.oldAt || !current.is(line.options.session)) line.growOld();
    }
    giveUp(
      [...lines].filter((line) => line.isSilentFor(line.options.silenceMsMax ?? Number.POSITIVE_INFINITY)),
      'no answer in time',
    );
  };
  const judge = async () => {
    const silent = [...lines].filter((line) => line.isSilentFor(timing.suspiciousMs));
    if (silent.length === 0) return;
    const verdict = await askServer(server, silent, timing);
    const stillSilent = silent.filter((line) => line.isSilentFor(timing.suspiciousMs));
    if (verdict === 'refused') return;
    if (verdict === 'silent') return giveUp(stillSilent, 'the server is silent');
    giveUp(
      stillSilent.filter((line) => !verdict.has(nameOf(line.options.session))),
      'the server does not know them',
    );
    giveUp(
      stillSilent.filter((line) => verdict.get(nameOf(line.options.session)) === 'at work' && line.isStuck()),
      'stuck for too long',
    );
  };
  let judging = false;
  const timer = setInterval(() => {
    check();
    if (judging) return;
    judging = true;
    void judge().finally(() => {
      judging = false;
    });
  }, timing.checkMs).unref();

  return {
    watch(stream, options) {
      const line = new WatchedLine(stream, options, timing);
      lines.add(line);
      stream.once('close', () => lines.delete(line));
      return line;
    },
    after(milliseconds, late) {
      const deadline = { at: Date.now() + milliseconds, late };
      deadlines.add(deadline);
      return () => deadlines.delete(deadline);
    },
    stop: () => clearInterval(timer),
  };
}

interface Deadline {
  readonly at: number;
  readonly late: () => void;
}

class WatchedLine implements Line {
  readonly stream: Duplex;
  readonly options: LineOptions;
  readonly oldAt: number;
  #isOld = false;
  #waiting = 0;
  #heardAt = 0;
  #stuckMsMax: number;

  constructor(stream: Duplex, options: LineOptions, { ageMs, abandonMs }: DatabaseTiming) {
    this.stream = stream;
    this.options = options;
    this.#stuckMsMax = abandonMs;
    // Ahead of its age, so that there is time to open the next one; not all of them at once.
    this.oldAt = Date.now() + ageMs * (0.6 + 0.2 * Math.random());
  }

  asked(): void {
    if (this.#waiting === 0) this.#heardAt = Date.now();
    this.#waiting += 1;
  }

  answered(): void {
    this.#waiting -= 1;
    this.#heardAt = Date.now();
  }

  mayBeStuckFor(milliseconds: number): void {
    this.#stuckMsMax = milliseconds;
  }

  isSilentFor(ms: number): boolean {
    return this.#waiting > 0 && Date.now() - this.#heardAt >= ms;
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

const nameOf = ({ pid, startedAt }: Session): string => `${pid} ${startedAt}`;

/** A commit that waits for a standby is not stuck: it ends when the standby is back, and holds up nobody. */
type Activity = 'at work' | 'waits for a standby';

interface Backend {
  readonly pid: number;
  readonly started_at: string;
  readonly wait_event: string | null;
}

/** Which of the lines the server knows, and what they do there. A server that lets nobody in knows nothing. */
async function askServer(
  server: pg.ClientConfig,
  lines: readonly WatchedLine[],
  { connectMs }: DatabaseTiming,
): Promise<Map<string, Activity> | 'refused' | 'silent'> {
  const client = new pg.Client(server);
  client.on('error', () => undefined);
  let verdict: Map<string, Activity> | 'refused' | 'silent' = 'silent';
  const ask = async () => {
    await client.connect();
    const { rows } = await client.query<Backend>(
      `select pid, extract(epoch from backend_start)::text as started_at, wait_event
       from pg_stat_activity where pid = any($1::int[])`,
      [lines.map(({ options }) => options.session.pid)],
    );
    verdict = new Map(
      rows.map((row) => [nameOf({ ...row, startedAt: row.started_at, server: '' }), activityOf(row)]),
    );
  };
  const asked = ask().catch((error: unknown) => {
    if (error instanceof pg.DatabaseError) verdict = 'refused';
  });
  await withTimeout(connectMs, asked);
  void client.end().catch(() => undefined);
  return verdict;
}

const activityOf = ({ wait_event }: Backend): Activity =>
  wait_event === 'SyncRep' ? 'waits for a standby' : 'at work';
