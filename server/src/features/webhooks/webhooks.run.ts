// Delivers to one webhook for as long as there is something to deliver and its lease holds. Events go one after another, in the
// order of the feed. An event whose try failed is repeated later, beside them.
import { setTimeout as delay } from 'node:timers/promises';
import type { Deps } from '../../contract/deps.ts';
import type { EventPosition, FeedEvent } from '../../contract/event.ts';
import type { WebhookBounds } from '../../contract/webhook.ts';
import { type Deferred, deferred } from '../../kernel/async/deferred.ts';
import { isoOf } from '../../kernel/clock.ts';
import { newTimedId } from '../../kernel/id.ts';
import { OutboundAborted } from '../../platform/outbound/faults.ts';
import { afterFailure, type Health, hasFailedForDays, healthy, isResting } from './webhooks.health.ts';
import { findEvent, type Message, testMessage, testType } from './webhooks.message.ts';
import type { DeliveryMeter } from './webhooks.metrics.ts';
import { type OffReason, switchWebhookOff } from './webhooks.off.ts';
import type { Record, Recording } from './webhooks.record.ts';
import { openSecret } from './webhooks.secrets.ts';
import { goneStatus, judge, type Outcome, type Receiver, send } from './webhooks.send.ts';
import {
  type ClaimedRow,
  type DueRow,
  findLease,
  type Leased,
  listWaiting,
  type Progress,
  type Tried,
} from './webhooks.work.sql.ts';

export interface RunTools {
  readonly record: Record;
  readonly meter: DeliveryMeter;
  readonly bounds: WebhookBounds;
  /** Gives up tries that are under way. */
  readonly signal: AbortSignal;
}

/** Of the feed, in memory: one for each webhook that is being delivered to. */
const pageEvents = 16;
const retriesAtOnce = 2;
/** Every event of a busy feed wakes the run, and hardly any of them means a test or a replay. */
const listPauseMs = 250;
/** Tries that are not recorded yet, and would be repeated after a crash. */
const unrecordedMax = 32;

export class WebhookRun {
  readonly lease: Leased;
  readonly #deps: Deps;
  readonly #webhook: ClaimedRow;
  readonly #receiver: Receiver;
  readonly #wanted: (event: Pick<FeedEvent, 'type'>) => boolean;
  readonly #tools: RunTools;
  readonly #endsAtMs: number;
  readonly #recording = new Set<Promise<void>>();
  #position: EventPosition;
  #recorded: EventPosition;
  #health: Health;
  #retryAtMs: number;
  #bell: Deferred<void> = deferred();
  #isRung = false;
  /** A delivery may have been asked for. */
  #isAsked = false;
  #listedAtMs = Number.NEGATIVE_INFINITY;
  #isOver = false;
  #idleLoops = 0;

  constructor(deps: Deps, webhook: ClaimedRow, token: string, tools: RunTools) {
    const { project_id, id, url, xid, number, since } = webhook;
    this.#deps = deps;
    this.#webhook = webhook;
    this.#tools = tools;
    this.lease = { project_id, id, token };
    this.#receiver = { webhookId: id, url, secrets: openSecrets(deps, webhook) };
    this.#wanted = toFilter(webhook.types);
    this.#position = this.#recorded = { xid, number, since };
    this.#health = webhook;
    this.#retryAtMs = toMs(webhook.retry_at);
    this.#endsAtMs = performance.now() + tools.bounds.runMsMax;
  }

  /** There may be something new to deliver. */
  wake(): void {
    this.#isRung = this.#isAsked = true;
    this.#ring();
  }

  /** Ends after the tries that are under way. */
  end(): void {
    this.#isOver = true;
    this.#ring();
  }

  /** Resolves to whether it was woken since it last looked. Rejects if the database fails. */
  async run(): Promise<boolean> {
    try {
      await Promise.all([this.#loop(() => this.#deliverPage()), this.#loop(() => this.#retryDue())]);
    } finally {
      this.#isOver = true;
      await Promise.allSettled(this.#recording);
    }
    return this.#isRung || this.#isAsked;
  }

  /** Repeats `work` while it finds something to do, or may again. The run is over when both loops have been idle for a while. */
  async #loop(work: () => Promise<boolean>): Promise<void> {
    try {
      while (!this.#isOver) {
        const rings = this.#bell.promise;
        if (await work()) continue;
        this.#idleLoops += 1;
        const isIdle = await this.#idle(rings);
        if (isIdle && this.#idleLoops === 2) this.end();
        this.#idleLoops -= 1;
        // Nothing is sent once a webhook was deleted or changed. While tries are recorded, that says so.
        if (!this.#isOver && !(await this.#holdsLease())) this.end();
      }
    } catch (error) {
      this.end();
      // The process stops: what was under way will be repeated.
      if (!(error instanceof OutboundAborted)) throw error;
    }
  }

  /** Whether nothing rang. */
  async #idle(rings: Promise<void>): Promise<boolean> {
    const waiting = new AbortController();
    const lingered = delay(this.#tools.bounds.lingerMs, true, { signal: waiting.signal }).catch(() => false);
    const isIdle = await Promise.race([rings.then(() => false), lingered]);
    waiting.abort();
    return isIdle;
  }

  async #holdsLease(): Promise<boolean> {
    return (await this.#deps.db.read(findLease(this.lease))).length > 0;
  }

  #ring(): void {
    this.#bell.resolve();
    this.#bell = deferred();
  }

  /** Tries the next events of the feed. False if there is none, or the receiver rests. */
  async #deliverPage(): Promise<boolean> {
    const { eventHub, clock } = this.#deps;
    this.#isRung = false;
    if (performance.now() > this.#endsAtMs) this.#isRung = this.#isOver = true;
    if (this.#isOver || !this.#webhook.active || isResting(this.#health, clock())) return false;
    const page = await eventHub.read(this.lease.project_id, this.#position, pageEvents);
    if (page.events.length === 0) return false;
    for (const event of page.events) {
      if (this.#isOver || isResting(this.#health, clock())) return true;
      if (this.#wanted(event)) await this.#tryFirst(event);
      else this.#position = { ...this.#position, xid: event.xid, number: event.number };
    }
    this.#position = page.position;
    if (!isSame(this.#position, this.#recorded)) this.#record({ progress: this.#progress(true) });
    return true;
  }

  async #tryFirst(event: FeedEvent): Promise<void> {
    const createdAtMs = this.#deps.clock();
    const outcome = await send(this.#deps, this.#receiver, event, this.#tools.signal);
    const tried = this.#judge(outcome, event.type, newTimedId(createdAtMs), 1);
    this.#position = { ...this.#position, xid: event.xid, number: event.number };
    const first = {
      ...tried,
      event_id: event.id,
      event_xid: event.xid,
      event_number: event.number,
      type: event.type,
      created_at: isoOf(createdAtMs),
    };
    this.#record({ progress: this.#progress(true), first });
    await this.#settle(outcome);
  }

  /** Tries what is due, a few at once. False if nothing is. */
  async #retryDue(): Promise<boolean> {
    const mayAsk = performance.now() > this.#listedAtMs + listPauseMs;
    if (this.#retryAtMs > this.#deps.clock() && !(this.#isAsked && mayAsk)) return false;
    this.#isAsked = false;
    this.#listedAtMs = performance.now();
    const waiting = await this.#deps.db.read<DueRow>(listWaiting(this.#webhook, retriesAtOnce));
    const now = this.#deps.clock();
    const due = waiting.filter(({ next_try_at }) => Date.parse(next_try_at) <= now);
    this.#retryAtMs = toMs(waiting[0]?.next_try_at ?? null);
    await Promise.all(due.map((row) => this.#tryAgain(row)));
    // What was tried must be recorded before it is listed again.
    await Promise.all(this.#recording);
    return due.length > 0;
  }

  async #tryAgain(row: DueRow): Promise<void> {
    const message = await this.#messageOf(row);
    const outcome = message ? await send(this.#deps, this.#receiver, message, this.#tools.signal) : forgotten;
    const delays = message ? undefined : [];
    const later = { ...this.#judge(outcome, row.type, row.id, row.attempts + 1, delays), slot: row.slot };
    this.#record({ progress: this.#progress(false), later });
    if (row.type !== testType) await this.#settle(outcome);
  }

  async #messageOf(row: DueRow): Promise<Message | null> {
    const { project_id, id } = this.lease;
    return row.type === testType ? testMessage(project_id, id, row) : findEvent(this.#deps, project_id, row);
  }

  /** The delivery after a try; the health of the receiver follows it. */
  #judge(
    outcome: Outcome,
    type: string,
    id: string,
    attempts: number,
    delaysMs = this.#tools.bounds.retryDelaysMs,
  ): Tried {
    const now = this.#deps.clock();
    const verdict = judge(outcome, type, attempts, delaysMs, now);
    if (verdict.next_try_at !== null)
      this.#retryAtMs = Math.min(this.#retryAtMs, Date.parse(verdict.next_try_at));
    this.#tools.meter(verdict.status, outcome.duration_ms);
    if (outcome.error === null) this.#health = healthy;
    else if (type !== testType && outcome !== forgotten)
      this.#health = afterFailure(this.#health, now, this.#tools.bounds);
    return { webhook_id: this.lease.id, token: this.lease.token, id, attempts, ...outcome, ...verdict };
  }

  /** Switches the webhook off if its receiver is gone or has failed for days, and keeps the number of unrecorded tries low. */
  async #settle({ error, response_status }: Outcome): Promise<void> {
    const reason = error === null ? null : this.#reasonToEnd(response_status);
    if (reason !== null) {
      await Promise.all(this.#recording);
      await switchWebhookOff(this.#deps, this.lease, reason);
      this.end();
    } else if (this.#recording.size >= unrecordedMax) await Promise.race(this.#recording);
  }

  #reasonToEnd(status: number | null): OffReason | null {
    if (status === goneStatus) return 'gone';
    return hasFailedForDays(this.#health, this.#deps.clock(), this.#tools.bounds) ? 'failing' : null;
  }

  #progress(moves: boolean): Progress {
    const position = moves ? this.#position : { xid: null, number: null, since: null };
    const { failing_since, failures, rest_until } = this.#health;
    return { ...this.lease, ...position, failing_since, failures, rest_until };
  }

  /** In the background. If the lease is lost, or the database does not answer, the run ends. */
  #record(recording: Recording): void {
    if (recording.progress.xid !== null) this.#recorded = this.#position;
    const recorded = this.#tools.record(recording).then(
      (isHeld) => {
        if (!isHeld) this.end();
      },
      (error: unknown) => {
        this.#deps.log.warn(
          { err: error, webhook_id: this.lease.id },
          'could not record deliveries, repeating them',
        );
        this.end();
      },
    );
    this.#recording.add(recorded);
    void recorded.then(() => this.#recording.delete(recorded));
  }
}

const forgotten: Outcome = {
  response_status: null,
  response_body: null,
  duration_ms: 0,
  error: 'The event is not kept any more',
};

const isSame = (one: EventPosition, other: EventPosition): boolean =>
  one.xid === other.xid && one.number === other.number && one.since === other.since;

const toMs = (time: string | null): number => (time === null ? Number.POSITIVE_INFINITY : Date.parse(time));

/** By the patterns themselves: a newer release may have accepted types that this one does not know. */
function toFilter(types: readonly string[] | null): (event: Pick<FeedEvent, 'type'>) => boolean {
  if (types === null) return () => true;
  const names = new Set(types);
  const groups = types.flatMap((type) => (type.endsWith('*') ? [type.slice(0, -1)] : []));
  return ({ type }) => names.has(type) || groups.some((group) => type.startsWith(group));
}

/** Those that no key decrypts are left out. */
const openSecrets = (deps: Deps, { secrets }: ClaimedRow): Receiver['secrets'] =>
  secrets.flatMap(({ id, key_id, sealed, expires_ms }) => {
    const key = openSecret(deps, { id, key_id, sealed_secret: Buffer.from(sealed, 'base64') });
    return key ? [{ key, expiresMs: expires_ms ?? Number.POSITIVE_INFINITY }] : [];
  });
