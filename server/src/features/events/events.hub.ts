// Tells readers of the feed when to read. The database notifies every process of every commit with events, on one connection.
// A notification only says that it is worth looking: what a reader gets comes from the rows.
import type { EventHub, EventPage, EventPosition, FeedEvent } from '../../contract/event.ts';
import { microBatch } from '../../kernel/async/micro-batch.ts';
import { quoted } from '../../kernel/text/json.ts';
import type { Database } from '../../platform/db/postgres.ts';
import type { Logger } from '../../platform/log.ts';
import { Announcer } from './events.announcer.ts';
import { type EventRow, listEvents } from './events.sql.ts';

/** As named in db/functions. */
const channel = 'pakhus_events';
/** Commits that follow each other closely are read together. */
const gatherMs = 10;
/** An event that is committed but not settled waits for an older transaction. */
const settleMsMin = 20;
const settleMsMax = 1_000;
/** For notifications that got lost with their connection. */
const pollMs = 15_000;

type Wake = () => void;

interface Reading {
  readonly after: EventPosition;
  readonly limit: number;
}

export const createEventHub = (db: Database, log: Logger): EventHub => new ProcessHub(db, log);

class ProcessHub implements EventHub {
  readonly #db: Database;
  readonly #log: Logger;
  readonly #subscribers = new Map<string, Set<Wake>>();
  readonly #subscribersToAll = new Set<(projectId: string | null) => void>();
  /** Projects that will be woken soon. */
  readonly #timers = new Map<string, NodeJS.Timeout>();
  /** How long to wait before looking again for events that are not settled: longer while there is no progress. */
  readonly #settleMs = new Map<string, number>();
  readonly #announcer: Announcer;
  #listening: Promise<() => Promise<void>> | null = null;
  #poll: NodeJS.Timeout | null = null;
  isClosing = false;

  constructor(db: Database, log: Logger) {
    this.#db = db;
    this.#log = log;
    this.#announcer = new Announcer(db, log);
  }

  read(projectId: string, after: EventPosition, limit: number): Promise<EventPage> {
    return this.#readTogether({ after, limit }, `${projectId} ${toKey(after)} ${limit}`);
  }

  subscribe(projectId: string, wake: Wake): () => void {
    const ofProject = this.#subscribers.get(projectId) ?? new Set();
    this.#subscribers.set(projectId, ofProject.add(wake));
    this.#start();
    return () => {
      ofProject.delete(wake);
      if (ofProject.size === 0 && this.#subscribers.get(projectId) === ofProject)
        this.#subscribers.delete(projectId);
    };
  }

  subscribeToAll(wake: (projectId: string | null) => void): () => void {
    this.#subscribersToAll.add(wake);
    this.#start();
    return () => void this.#subscribersToAll.delete(wake);
  }

  announce(projectId: string): void {
    this.#announcer.announce(projectId);
  }

  async close(): Promise<void> {
    this.isClosing = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    if (this.#poll) clearInterval(this.#poll);
    this.#wakeAll();
    await this.#announcer.close();
    const stopListening = await this.#listening?.catch(() => null);
    await stopListening?.();
  }

  /** Readers at the same position share a page: after their first event, all of a project are. */
  readonly #readTogether = microBatch<Reading, EventPage, string>(
    async (readings, key) => {
      const projectId = key.slice(0, key.indexOf(' '));
      const { after, limit } = readings[0] as Reading;
      const page = await this.#readPage(projectId, after, limit);
      return readings.map(() => page);
    },
    { gather: 'iteration' },
  );

  async #readPage(projectId: string, after: EventPosition, limit: number): Promise<EventPage> {
    const rows = await this.#db.read<EventRow>(listEvents(projectId, after, limit));
    const settled = rows.filter((row) => row.settled);
    if (settled.length > 0) this.#settleMs.delete(projectId);
    if (settled.length < rows.length) this.#lookAgain(projectId);
    const last = settled.at(-1);
    return {
      events: settled.map((row) => toEvent(projectId, row)),
      position: last ? { xid: last.xid, number: last.number, since: stillSince(after, last.xid) } : after,
      pending: settled.length < rows.length,
      // Either it is full, or it has ended because of its size.
      more: last !== undefined && last === rows.at(-1) && (last.found === limit || last.found > rows.length),
    };
  }

  #lookAgain(projectId: string): void {
    const waitMs = this.#settleMs.get(projectId) ?? settleMsMin;
    this.#settleMs.set(projectId, Math.min(waitMs * 2, settleMsMax));
    this.#wakeIn(projectId, waitMs);
  }

  /** From the first reader on: a connection that not every process needs. */
  #start(): void {
    if (this.#listening || this.isClosing) return;
    this.#poll ??= setInterval(() => this.#wakeAll(), pollMs).unref();
    this.#listening = this.#db.listen(channel, (projectId) => this.#hear(projectId));
    this.#listening.catch((error: unknown) => {
      this.#listening = null;
      this.#log.warn({ err: error }, 'cannot listen for events, polling for them');
    });
  }

  #hear(projectId: string): void {
    if (this.#subscribers.has(projectId) || this.#subscribersToAll.size > 0)
      this.#wakeIn(projectId, gatherMs);
  }

  #wakeIn(projectId: string, milliseconds: number): void {
    if (this.#timers.has(projectId) || this.isClosing) return;
    const timer = setTimeout(() => {
      this.#timers.delete(projectId);
      this.#wake(projectId);
    }, milliseconds);
    this.#timers.set(projectId, timer.unref());
  }

  #wake(projectId: string): void {
    for (const wake of this.#subscribers.get(projectId) ?? []) wake();
    for (const wake of this.#subscribersToAll) wake(projectId);
  }

  #wakeAll(): void {
    // Also retries to listen, if that has failed.
    this.#start();
    for (const wakes of this.#subscribers.values()) for (const wake of wakes) wake();
    for (const wake of this.#subscribersToAll) wake(null);
  }
}

const toKey = ({ xid, number, since }: EventPosition): string => `${xid} ${number} ${since ?? ''}`;

/** Later transactions than the snapshot knows need no comparison with it. */
function stillSince({ since }: EventPosition, xid: string): string | null {
  const xmax = since?.split(':')[1];
  return xmax !== undefined && BigInt(xid) < BigInt(xmax) ? (since as string) : null;
}

function toEvent(projectId: string, row: EventRow): FeedEvent {
  const { xid, number, id, type, user_id, created_at, data } = row;
  const json =
    `{"id":"${id}","type":${quoted(type)},"created_at":"${created_at}","project_id":"${projectId}",` +
    `"user_id":${user_id === null ? 'null' : `"${user_id}"`},"data":${data}}`;
  return { xid, number, id, type, created_at, json };
}
