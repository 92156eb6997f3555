// Where requests of this process wait for images, which workers in any process make; and where uses are gathered before they are
// written. The database notifies every process of every image that has ended.
import type { VariantDesk, VariantKey, VariantWait } from '../../contract/variant.ts';
import { deferred } from '../../kernel/async/deferred.ts';
import { withTimeout } from '../../kernel/async/time-limit.ts';
import type { Database } from '../../platform/db/postgres.ts';
import type { Logger } from '../../platform/log.ts';
import { channel, markUsed, toPayload } from './variants.images.sql.ts';

/** A waiting request takes a socket and some kilobytes. */
const waitsMax = 1_000;
const waitsOfProjectMax = 250;
const writeUsesAfterMs = 2_000;
const usesMax = 10_000;

type Wake = () => void;

const usualWaitMsMax = 5_000;

export const createVariantDesk = (db: Database, log: Logger, waitMsMax = usualWaitMsMax): VariantDesk =>
  new ProcessDesk(db, log, waitMsMax);

class ProcessDesk implements VariantDesk {
  readonly waitMsMax: number;
  readonly counts = { made: 0, failed: 0, evicted: 0 };
  readonly #db: Database;
  readonly #log: Logger;
  readonly #waits = new Map<string, Set<Wake>>();
  readonly #ofProject = new Map<string, number>();
  readonly #requests = new Map<string, Promise<void>>();
  readonly #uses = new Map<string, VariantKey>();
  #all = 0;
  #closing = false;
  #writing: NodeJS.Timeout | null = null;
  #listening: Promise<() => Promise<void>> | null = null;

  constructor(db: Database, log: Logger, waitMsMax: number) {
    this.waitMsMax = waitMsMax;
    this.#db = db;
    this.#log = log;
  }

  wait(key: VariantKey): VariantWait | null {
    const own = this.#ofProject.get(key.projectId) ?? 0;
    if (this.#closing || this.#all >= waitsMax || own >= waitsOfProjectMax) return null;
    this.#all += 1;
    this.#ofProject.set(key.projectId, own + 1);
    this.#listen();
    let rung = deferred<void>();
    const wake = () => rung.resolve();
    this.#add(toPayload(key), wake);
    return {
      next: async (timeoutMs) => {
        if (!this.#closing) await withTimeout(timeoutMs, rung.promise);
        rung = deferred();
        return !this.#closing;
      },
      end: () => this.#leave(key, wake),
    };
  }

  async together(key: VariantKey, request: () => Promise<void>): Promise<void> {
    const payload = toPayload(key);
    const underWay = this.#requests.get(payload) ?? request().finally(() => this.#requests.delete(payload));
    this.#requests.set(payload, underWay);
    await underWay;
  }

  noteUse(key: VariantKey): void {
    if (this.#closing || this.#uses.size >= usesMax) return;
    this.#uses.set(toPayload(key), key);
    this.#writing ??= setTimeout(() => void this.#writeUses(), writeUsesAfterMs).unref();
  }

  async close(): Promise<void> {
    this.#closing = true;
    for (const wakes of this.#waits.values()) for (const wake of wakes) wake();
    if (this.#writing) clearTimeout(this.#writing);
    await this.#writeUses();
    const stopListening = await this.#listening?.catch(() => null);
    await stopListening?.();
    this.#listening = null;
  }

  #add(payload: string, wake: Wake): void {
    const wakes = this.#waits.get(payload) ?? new Set();
    this.#waits.set(payload, wakes.add(wake));
  }

  #leave(key: VariantKey, wake: Wake): void {
    const payload = toPayload(key);
    const wakes = this.#waits.get(payload);
    wakes?.delete(wake);
    if (wakes?.size === 0) this.#waits.delete(payload);
    this.#all -= 1;
    const left = (this.#ofProject.get(key.projectId) ?? 1) - 1;
    if (left === 0) this.#ofProject.delete(key.projectId);
    else this.#ofProject.set(key.projectId, left);
  }

  /** From the first wait on: a connection that few processes need. Without it, requests look once in a while. */
  #listen(): void {
    if (this.#listening) return;
    this.#listening = this.#db.listen(channel, (payload) => {
      for (const wake of this.#waits.get(payload) ?? []) wake();
    });
    this.#listening.catch(() => {
      this.#listening = null;
    });
  }

  async #writeUses(): Promise<void> {
    this.#writing = null;
    const keys = [...this.#uses.values()];
    this.#uses.clear();
    if (keys.length === 0) return;
    await this.#db
      .query(markUsed(keys), 'background')
      .catch((error: unknown) => this.#log.warn({ err: error }, 'could not record the use of variants'));
  }
}
