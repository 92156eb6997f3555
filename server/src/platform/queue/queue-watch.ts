// Looks for jobs that nobody is told of: retries that are due, jobs of a signal that was lost, and jobs whose worker has
// died. One read for all queues, because an idle service should cost next to nothing.
import type PgBoss from 'pg-boss';
import type { Database } from '../db/postgres.ts';
import { sql } from '../db/sql.ts';
import type { Logger } from '../log.ts';

/** How often, while there is work, and otherwise. */
const lookMs = { busy: 2_000, idle: 5_000 };
/** How often pg-boss looks for lost jobs and archives finished ones. */
const upkeepMs = { busy: 5_000, idle: 15_000 };
/** Also after a start: the process before may have died with jobs in its hands. */
const busyMs = 60_000;

const findDue = sql`
  select exists (select from pgboss.job where state < 'active' and start_after <= now()) as due`;

export class QueueWatch {
  readonly #boss: PgBoss;
  readonly #db: Database;
  readonly #log: Logger;
  readonly #wakeAll: () => void;
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> | null = null;
  #isStopping = false;
  #busyUntil = performance.now() + busyMs;
  #upkeepAt = 0;

  constructor(boss: PgBoss, db: Database, log: Logger, wakeAll: () => void) {
    this.#boss = boss;
    this.#db = db;
    this.#log = log;
    this.#wakeAll = wakeAll;
  }

  start(): void {
    if (!this.#timer) this.#lookLater();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#looking;
  }

  #lookLater(): void {
    if (this.#isStopping) return;
    this.#timer = setTimeout(() => {
      this.#looking = this.#look()
        .catch((error: unknown) => this.#log.warn({ err: error }, 'queue error, retrying'))
        .finally(() => this.#lookLater());
    }, this.#paceOf(lookMs)).unref();
  }

  #paceOf(pace: { readonly busy: number; readonly idle: number }): number {
    return performance.now() < this.#busyUntil ? pace.busy : pace.idle;
  }

  async #look(): Promise<void> {
    // Not `read`, which uses all its connections in turn and would keep them open.
    const [found] = await this.#db.query<{ due: boolean }>(findDue, 'background');
    const now = performance.now();
    if (found?.due) {
      this.#busyUntil = now + busyMs;
      this.#wakeAll();
    }
    if (now < this.#upkeepAt) return;
    this.#upkeepAt = now + this.#paceOf(upkeepMs);
    await this.#boss.maintain();
  }
}
