// Notices a server that has gone without a word. A network that swallows packets closes no connection, and the
// system itself gives up on one only after a quarter of an hour: until then every statement would hang. A slow
// statement is no silence, so before a connection is given up, a new one is tried.
import type { Duplex } from 'node:stream';
import pg from 'pg';
import type { Logger } from '../log.ts';

/** One connection. Between a question and its answer the server has the word. */
export interface Line {
  asked(): void;
  answered(): void;
}

export interface SilenceWatch {
  /** `patienceMs` ends a silence however alive the server is: for lines where nothing may take long. */
  watch(stream: Duplex, patienceMs?: number): Line;
  stop(): void;
}

const checkMs = 1_000;
const suspiciousMs = 5_000;

export function watchForSilence(server: pg.ClientConfig, log: Logger): SilenceWatch {
  const lines = new Set<WatchedLine>();
  const giveUp = (lost: readonly WatchedLine[]) => {
    if (lost.length === 0) return;
    log.warn({ connections: lost.length }, 'the database is silent, its connections are given up');
    for (const { stream } of lost) stream.destroy(new Error('the connection was silent'));
  };
  const check = async () => {
    giveUp([...lines].filter((line) => line.isSilentFor(line.patienceMs)));
    const silent = [...lines].filter((line) => line.isSilentFor(suspiciousMs));
    if (silent.length === 0 || (await answers(server))) return;
    giveUp(silent.filter((line) => line.isSilentFor(suspiciousMs)));
  };
  let checking = false;
  const timer = setInterval(() => {
    if (checking) return;
    checking = true;
    void check().finally(() => {
      checking = false;
    });
  }, checkMs).unref();

  return {
    watch(stream, patienceMs = Number.POSITIVE_INFINITY) {
      const line = new WatchedLine(stream, patienceMs);
      lines.add(line);
      stream.once('close', () => lines.delete(line));
      return line;
    },
    stop: () => clearInterval(timer),
  };
}

class WatchedLine implements Line {
  readonly stream: Duplex;
  readonly patienceMs: number;
  #waiting = 0;
  #heardAt = 0;

  constructor(stream: Duplex, patienceMs: number) {
    this.stream = stream;
    this.patienceMs = patienceMs;
  }

  asked(): void {
    if (this.#waiting === 0) this.#heardAt = Date.now();
    this.#waiting += 1;
  }

  answered(): void {
    this.#waiting -= 1;
    this.#heardAt = Date.now();
  }

  isSilentFor(ms: number): boolean {
    return this.#waiting > 0 && Date.now() - this.#heardAt >= ms;
  }
}

/** A refusal is an answer, too. */
async function answers(server: pg.ClientConfig): Promise<boolean> {
  const client = new pg.Client(server);
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch (error) {
    return error instanceof pg.DatabaseError;
  } finally {
    void client.end().catch(() => undefined);
  }
}
