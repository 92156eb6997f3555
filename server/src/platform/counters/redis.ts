// Counts that instances share through Redis, where they outlive the process that counted.
//
// A count is sent to Redis before its request is answered. All counts of one event loop iteration are sent together,
// since the command costs more than everything else about counting. Every sending of an instance has a number; Redis
// applies the numbers in order and each once, so whatever was not acknowledged can be sent again. To drain, the live
// hash is renamed to a batch, which is deleted after it was applied, by whichever instance comes first. While Redis is
// down, counts stay in this process and are drained from here. A Redis that comes back with older data misses numbers
// that it had acknowledged: the batch it restored keeps its name and is applied once; what was never acknowledged is
// sent under a new series.

import { setTimeout as delay } from 'node:timers/promises';
import { atEndOfIteration } from '../../kernel/async/event-loop.ts';
import { newId } from '../../kernel/id.ts';
import type { Logger } from '../log.ts';
import type { RedisClient } from '../redis.ts';
import {
  type Amounts,
  type ApplyBatch,
  type CounterName,
  type Counters,
  type CountKey,
  type CountRow,
  counterNames,
  keyOf,
  nothingCounted,
  Tallies,
  toBatches,
} from './counters.ts';

/** Skips a number that was applied before; refuses one that comes too early. The first count names the batch. */
const countScript = `
local last = tonumber(redis.call('GET', KEYS[1]) or '-1')
local number = tonumber(ARGV[1])
if number <= last then return 0 end
if last >= 0 and number > last + 1 then return redis.error_reply('GAP') end
if redis.call('EXISTS', KEYS[2]) == 0 then redis.call('SET', KEYS[3], ARGV[2]) end
for at = 3, #ARGV, 2 do redis.call('HINCRBY', KEYS[2], ARGV[at], ARGV[at + 1]) end
redis.call('SET', KEYS[1], number, 'EX', 86400)
return 1`;

const sealScript = `
if redis.call('EXISTS', KEYS[1]) == 1 then
  local name = redis.call('GET', KEYS[2]) or ARGV[2]
  redis.call('RENAME', KEYS[1], ARGV[1] .. name)
  redis.call('DEL', KEYS[2])
  redis.call('SADD', KEYS[3], name)
end
return redis.call('SMEMBERS', KEYS[3])`;

/** How long a stop waits for a Redis that may have counted what it did not acknowledge. */
const closingAttempts = 10;
const closingPauseMs = 200;

/** The most that is sent in one command. */
const sendingRowsMax = 1_000;

type Sending = readonly CountRow[];

export interface RedisCountersOptions {
  readonly redis: RedisClient;
  /** Keeps apart installations that share a Redis. */
  readonly installation: string;
  /** Counts while Redis is down. */
  readonly fallback: Counters;
  readonly log: Logger;
}

export const redisCounters = (options: RedisCountersOptions): Counters => new RedisCounters(options);

class RedisCounters implements Counters {
  readonly #redis: RedisClient;
  readonly #fallback: Counters;
  readonly #log: Logger;
  readonly #keys: ReturnType<typeof buildKeys>;
  /** The id of this instance's sequence numbers. Replaced when Redis has lost data that it had acknowledged. */
  #series = newId();
  #nextNumber = 0;
  /** Sent, but not acknowledged; in the order of their numbers. */
  readonly #unacknowledged = new Map<number, Sending>();
  readonly #inFlight = new Set<Promise<unknown>>();
  #isDown = false;
  /** Counted in this event loop iteration, and the callbacks that wait for it to be sent. */
  #fresh = new Tallies();
  #waiting: (() => void)[] = [];

  constructor({ redis, installation, fallback, log }: RedisCountersOptions) {
    this.#redis = redis;
    this.#fallback = fallback;
    this.#log = log;
    this.#keys = buildKeys(installation);
  }

  add(keys: readonly CountKey[], amounts: Amounts): void {
    if (this.#fresh.size === 0) atEndOfIteration(this.#flush);
    this.#fresh.add(keys, amounts);
    if (this.#fresh.size >= sendingRowsMax) this.#flush();
  }

  whenSent(done: () => void): void {
    if (this.#fresh.size === 0) done();
    else this.#waiting.push(done);
  }

  async drain(apply: ApplyBatch): Promise<void> {
    this.#flush();
    await this.#drainRedis(apply);
    await this.#fallback.drain(apply);
  }

  async close(apply: ApplyBatch): Promise<void> {
    this.#flush();
    await this.#settleInFlight();
    let isDrained = await this.#drainRedis(apply);
    for (
      let attempt = 1;
      !isDrained && attempt < closingAttempts && this.#unacknowledged.size > 0;
      attempt += 1
    ) {
      await delay(closingPauseMs);
      isDrained = await this.#drainRedis(apply);
    }
    if (isDrained) await this.#redis.del(this.#keys.seen(this.#series)).catch(() => undefined);
    // Redis went away with these and is still away: most likely they are lost there.
    for (const sending of this.#unacknowledged.values()) this.#keepHere(sending);
    this.#unacknowledged.clear();
    await this.#fallback.close(apply);
  }

  readonly #flush = (): void => {
    const [sending, waiting] = [this.#fresh.rows(), this.#waiting];
    this.#fresh = new Tallies();
    this.#waiting = [];
    if (sending.length > 0) {
      if (this.#isDown || this.#redis.status !== 'ready') this.#keepHere(sending);
      else this.#send(sending);
    }
    for (const done of waiting) done();
  };

  #keepHere(sending: Sending): void {
    for (const row of sending) this.#fallback.add([toCountKey(row)], row);
  }

  #send(sending: Sending): void {
    const number = this.#nextNumber;
    this.#nextNumber += 1;
    this.#unacknowledged.set(number, sending);
    const sent: Promise<unknown> = this.#count(number, sending).catch((error: unknown) => {
      if (!this.#isDown) this.#log.warn({ err: error }, 'Redis is down: counting requests in this process');
      this.#isDown = true;
    });
    this.#inFlight.add(sent);
    sent.finally(() => this.#inFlight.delete(sent));
  }

  async #count(number: number, sending: Sending): Promise<void> {
    const { live, liveName, seen } = this.#keys;
    const name = `${this.#series}:${number}`;
    const fields = sending.flatMap(toFields);
    await this.#redis.eval(countScript, 3, seen(this.#series), live, liveName, number, name, ...fields);
    this.#unacknowledged.delete(number);
  }

  async #settleInFlight(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
  }

  /** Sends again, one by one and in order, what may or may not have been counted. */
  async #resend(): Promise<void> {
    for (const [number, sending] of [...this.#unacknowledged]) await this.#count(number, sending);
  }

  async #recover(apply: ApplyBatch): Promise<void> {
    await this.#settleInFlight();
    await this.#resend().catch(async (error: unknown) => {
      if (!isGap(error)) throw error;
      this.#log.warn({}, 'Redis has come back with older data');
      // Nothing new may join the counts that it has restored: they have been applied already.
      await this.#drainShared(apply);
      this.#series = newId();
      await this.#resend();
    });
    if (this.#isDown) this.#log.info({}, 'Redis is back: counts are shared again');
    this.#isDown = false;
  }

  async #drainShared(apply: ApplyBatch): Promise<void> {
    const { live, liveName, batches, batch: batchKey } = this.#keys;
    const sealed = await this.#redis.eval(sealScript, 3, live, liveName, batches, batchKey(''), newId());
    for (const name of sealed as string[]) {
      const rows = parseRows(await this.#redis.hgetall(batchKey(name)));
      for (const batch of toBatches(name, rows)) await apply(batch);
      await this.#redis.multi().del(batchKey(name)).srem(batches, name).exec();
    }
  }

  /** False if Redis is down; a failure of `apply` is thrown. */
  async #drainRedis(apply: ApplyBatch): Promise<boolean> {
    if (this.#redis.status !== 'ready') return false;
    let applyFailure: unknown = null;
    const applyNoting: ApplyBatch = (batch) =>
      apply(batch).catch((error: unknown) => {
        applyFailure = error;
        throw error;
      });
    try {
      if (this.#isDown) await this.#recover(applyNoting);
      await this.#drainShared(applyNoting);
      return true;
    } catch (error) {
      if (applyFailure !== null) throw applyFailure;
      this.#log.debug({ err: error }, 'counts stay in Redis for now');
      return false;
    }
  }
}

/** The braces keep the keys of one installation on one node of a cluster. */
function buildKeys(installation: string) {
  const prefix = `pakhus:count:{${installation}}`;
  return {
    live: `${prefix}:live`,
    liveName: `${prefix}:live-name`,
    batches: `${prefix}:batches`,
    batch: (name: string) => `${prefix}:batch:${name}`,
    seen: (series: string) => `${prefix}:seen:${series}`,
  };
}

const isGap = (error: unknown): boolean => error instanceof Error && /\bGAP\b/.test(error.message);

const toCountKey = ({ projectId, subjectId, day }: CountRow) => ({ projectId, subjectId, day });

function toFields(row: CountRow): (string | number)[] {
  const name = keyOf(row);
  return counterNames.flatMap((counter) => (row[counter] === 0 ? [] : [`${name}|${counter}`, row[counter]]));
}

function parseRows(fields: Readonly<Record<string, string>>): CountRow[] {
  const rows = new Map<string, CountRow & Record<CounterName, number>>();
  for (const [field, amount] of Object.entries(fields)) {
    const [day = '', projectId = '', subjectId = '', counter = ''] = field.split('|');
    const key = { day, projectId, subjectId };
    const row = rows.get(keyOf(key)) ?? { ...nothingCounted, ...key };
    row[counter as CounterName] = Number(amount);
    rows.set(keyOf(key), row);
  }
  return [...rows.values()];
}
