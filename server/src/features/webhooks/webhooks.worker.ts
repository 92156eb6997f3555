// Finds webhooks with something to deliver, and runs them. Several workers share them by leases: a webhook is delivered to by one
// process at a time, and by another one as soon as that has died.
import { setTimeout as delay } from 'node:timers/promises';
import type { Deps } from '../../contract/deps.ts';
import type { Running } from '../../contract/job.ts';
import type { WebhookBounds } from '../../contract/webhook.ts';
import { type Deferred, deferred } from '../../kernel/async/deferred.ts';
import { withTimeout } from '../../kernel/async/time-limit.ts';
import { isoOf } from '../../kernel/clock.ts';
import { newId } from '../../kernel/id.ts';
import type { Sql } from '../../platform/db/sql.ts';
import { meterDeliveries } from './webhooks.metrics.ts';
import { createRecorder } from './webhooks.record.ts';
import { type RunTools, WebhookRun } from './webhooks.run.ts';
import {
  type Claim,
  type ClaimedRow,
  claimBehind,
  claimDue,
  claimWoken,
  type ReleasedRow,
  releaseLease,
  renewLeases,
} from './webhooks.work.sql.ts';

/** Commits that follow each other closely share a claim. */
const claimPauseMs = 10;
const projectsPerClaim = 500;
/** A project without a webhook to claim is not looked at again for so long: many projects only read their feed. */
const emptyHandedMs = 500;
/** A webhook that is due again as soon as it is released does not keep the worker busy. */
const lookAgainMsMin = 100;
/** After an outage of the database. */
const retryMs = 1_000;
/** A receiver may be slow; a try that is cut is repeated after the next start. */
const stopGraceMs = 2_000;
const stopTimeoutMs = 4_000;

export const startDelivery = (deps: Deps): Running => new DeliveryWorker(deps);

class DeliveryWorker implements Running {
  readonly #deps: Deps;
  readonly #bounds: WebhookBounds;
  readonly #tools: RunTools;
  readonly #aborting = new AbortController();
  readonly #runs = new Set<WebhookRun>();
  readonly #ended = new Set<Promise<void>>();
  readonly #woken = new Set<string>();
  /** Projects that had nothing to claim a moment ago, and whether they were woken since. */
  readonly #emptyHanded = new Map<string, boolean>();
  /** Any project may have events that nobody was told about. */
  #isBehind = true;
  #isDue = true;
  /** By webhook, for those that this process has left with something to try later. */
  readonly #dueTimers = new Map<string, NodeJS.Timeout>();
  #isStopping = false;
  #bell: Deferred<void> = deferred();
  readonly #release: (() => void)[];
  readonly #claiming: Promise<void>;

  constructor(deps: Deps) {
    const bounds = deps.webhookBounds;
    this.#deps = deps;
    this.#bounds = bounds;
    const [record, meter] = [createRecorder(deps.db), meterDeliveries(deps)];
    this.#tools = { record, meter, bounds, signal: this.#aborting.signal };
    const poll = setInterval(() => this.#look(), bounds.pollMs);
    const renewal = setInterval(() => void this.#renew(), (bounds.leaseSeconds * 1000) / 3);
    const unsubscribe = deps.eventHub.subscribeToAll((projectId) => this.#wake(projectId));
    const forgetDue = () => this.#dueTimers.forEach(clearTimeout);
    this.#release = [() => clearInterval(poll), () => clearInterval(renewal), unsubscribe, forgetDue];
    this.#claiming = this.#claimAll();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const release of this.#release) release();
    this.#ring();
    for (const run of this.#runs) run.end();
    const ended = this.#claiming.then(() => Promise.all(this.#ended));
    await withTimeout(stopGraceMs, ended);
    this.#aborting.abort();
    await withTimeout(stopTimeoutMs, ended);
  }

  #wake(projectId: string | null): void {
    if (projectId === null) this.#isBehind = true;
    else if (this.#emptyHanded.has(projectId)) this.#emptyHanded.set(projectId, true);
    else this.#woken.add(projectId);
    for (const run of this.#runs) if (projectId === null || run.lease.project_id === projectId) run.wake();
    this.#ring();
  }

  #look(): void {
    this.#isDue = true;
    this.#ring();
  }

  #lookAt(dueMs: number, webhookId: string): void {
    if (this.#isStopping) return;
    const look = () => {
      this.#dueTimers.delete(webhookId);
      // After a busy moment of the event loop, timers fire early.
      if (this.#deps.clock() < dueMs) this.#lookAt(dueMs, webhookId);
      else this.#look();
    };
    const delayMs = Math.max(lookAgainMsMin, Math.ceil(dueMs - this.#deps.clock()));
    clearTimeout(this.#dueTimers.get(webhookId));
    this.#dueTimers.set(webhookId, setTimeout(look, delayMs).unref());
  }

  #ring(): void {
    this.#bell.resolve();
    this.#bell = deferred();
  }

  async #claimAll(): Promise<void> {
    while (!this.#isStopping) {
      const rings = this.#bell.promise;
      try {
        if (this.#runs.size < this.#bounds.runsMax && (await this.#claimSome())) {
          await delay(claimPauseMs);
          continue;
        }
      } catch (error) {
        this.#deps.log.warn({ err: error }, 'could not look for webhooks to deliver to, retrying');
        this.#isBehind = true;
        await delay(retryMs);
      }
      await rings;
    }
  }

  /** False if there was no reason to look. */
  async #claimSome(): Promise<boolean> {
    if (this.#isDue) {
      this.#isDue = await this.#claim(claimDue);
      return true;
    }
    if (this.#woken.size > 0) {
      await this.#claimOfWoken([...this.#woken].slice(0, projectsPerClaim));
      return true;
    }
    if (!this.#isBehind) return false;
    this.#isBehind = await this.#claim(claimBehind);
    return true;
  }

  async #claimOfWoken(projects: readonly string[]): Promise<void> {
    for (const projectId of projects) this.#woken.delete(projectId);
    if (await this.#claim((claim) => claimWoken(projects, claim))) {
      for (const projectId of projects) this.#woken.add(projectId);
      return;
    }
    // Not those with a run here, which may end at any moment and then has to be claimed again at once.
    const busy = new Set([...this.#runs].map(({ lease }) => lease.project_id));
    this.#letRest(projects.filter((projectId) => !busy.has(projectId)));
  }

  #letRest(projects: readonly string[]): void {
    if (projects.length === 0) return;
    for (const projectId of projects) this.#emptyHanded.set(projectId, false);
    const wakeAgain = () => {
      for (const projectId of projects) {
        if (this.#emptyHanded.get(projectId)) this.#woken.add(projectId);
        this.#emptyHanded.delete(projectId);
      }
      this.#ring();
    };
    setTimeout(wakeAgain, emptyHandedMs).unref();
  }

  /** Whether there may be more of them than this process can run. */
  async #claim(statement: (claim: Claim) => Sql): Promise<boolean> {
    const { runsMax, leaseSeconds } = this.#bounds;
    const limit = runsMax - this.#runs.size;
    const token = newId();
    const claim = { token, leaseSeconds, limit, now: isoOf(this.#deps.clock()) };
    const rows = await this.#deps.db.query<ClaimedRow>(statement(claim));
    for (const row of rows) this.#start(row, token);
    return rows.length === limit;
  }

  #start(row: ClaimedRow, token: string): void {
    // It has lost its lease, because the webhook was changed.
    for (const other of this.#runs) if (other.lease.id === row.id) other.end();
    const run = new WebhookRun(this.#deps, row, token, this.#tools);
    this.#runs.add(run);
    if (this.#isStopping) run.end();
    const ended = this.#finish(run);
    this.#ended.add(ended);
    void ended.then(() => this.#ended.delete(ended));
  }

  async #finish(run: WebhookRun): Promise<void> {
    const { project_id, id } = run.lease;
    try {
      const isWoken = await run.run();
      const [released] = await this.#deps.db.query<ReleasedRow>(releaseLease(run.lease));
      if (typeof released?.due_ms === 'number') this.#lookAt(released.due_ms, id);
      if (isWoken) this.#woken.add(project_id);
    } catch (error) {
      // The lease will expire.
      this.#deps.log.warn({ err: error, webhook_id: id }, 'delivery was interrupted, it will go on');
    } finally {
      this.#runs.delete(run);
      this.#ring();
    }
  }

  async #renew(): Promise<void> {
    const runs = [...this.#runs];
    if (runs.length === 0) return;
    try {
      const leases = runs.map(({ lease }) => lease);
      const rows = await this.#deps.db.query<{ id: string; token: string }>(
        renewLeases(leases, this.#bounds.leaseSeconds),
      );
      const held = new Set(rows.map(({ token, id }) => `${id} ${token}`));
      for (const run of runs) if (!held.has(`${run.lease.id} ${run.lease.token}`)) run.end();
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'could not renew the leases of webhooks, retrying');
    }
  }
}
