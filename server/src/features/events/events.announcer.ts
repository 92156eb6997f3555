// Notifies the hubs of all processes of events whose own transaction did not. A transaction that notifies holds a lock of the whole
// database until its commit is on disk; a statement that does nothing else holds it for a moment.
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../platform/db/postgres.ts';
import type { Logger } from '../../platform/log.ts';
import { notifyOf } from './events.sql.ts';

/** The first commit is announced at once; those that follow within this time share the next notification. */
const pauseMs = 100;

export class Announcer {
  readonly #db: Database;
  readonly #log: Logger;
  readonly #projects = new Set<string>();
  readonly #closing = new AbortController();
  #working: Promise<void> | null = null;

  constructor(db: Database, log: Logger) {
    this.#db = db;
    this.#log = log;
  }

  announce(projectId: string): void {
    this.#projects.add(projectId);
    this.#working ??= this.#work();
  }

  /** What was announced is still sent. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#working;
  }

  async #work(): Promise<void> {
    while (this.#projects.size > 0) {
      const projects = [...this.#projects];
      this.#projects.clear();
      await this.#notify(projects);
      await delay(pauseMs, undefined, { signal: this.#closing.signal }).catch(() => undefined);
    }
    this.#working = null;
  }

  async #notify(projects: readonly string[]): Promise<void> {
    try {
      await this.#db.query(notifyOf(projects));
    } catch (error) {
      this.#log.warn({ err: error }, 'could not announce events, readers will find them by themselves');
    }
  }
}
