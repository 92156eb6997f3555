// Counts that instances share through Redis, where they outlive the process that counted.
//
// A count leaves for Redis before its request is answered; what one turn of the event loop counts leaves in one
// sending, since a command costs the process more than everything else about counting. Every sending of an
// instance has a number, and Redis applies the numbers in order and each once: after a lost connection whatever
// has no answer is simply sent again. To drain, the live hash is renamed to a batch, which is deleted only after
// it was applied, by whichever instance comes first. While Redis is away counts stay in this process, and are
// drained from there. A Redis that comes back with older data knows less than it has answered: the batch that it
// has again bears the name it had, and is folded once; what it never answered is sent under a new series of numbers.

import { atEndOfIteration } from '../../kernel/async/event-loop.ts';
import { newId } from '../../kernel/id.ts';
import type { Logger } from '../log.ts';
import type { RedisClient } from '../redis.ts';
import {
  type ApplyBatch,
  type CounterName,
  type Counters,
  type CountRow,
  counterNames,
  keyOf,
  nothingCounted,
  Tallies,
  toBatches,
} from './counters.ts';

/**
 * A number that came before is skipped; one that comes too early waits for those before it. The first count of a
 * live hash names the batch that it will be.
 */
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

/** How long a stop waits for a Redis that may have counted what it did not answer. */
const closingTries = 10;
const closingPauseMs = 200;

/** What leaves in one command. */
const sendingRowsMax = 1_000;

type Sending = readonly CountRow[];

export interface RedisCountersOptions {
  readonly redis: RedisClient;
  /** Keeps installations apart that share a Redis. */
  readonly installation: string;
  /** Counts while Redis is away. */
  readonly fallback: Counters;
  readonly log: Logger;
}

export function redisCounters({ redis, installation, fallback, log }: RedisCountersOptions): Counters {
  // The braces keep the keys of one installation on one node of a cluster.
  const prefix = `pakhus:count:{${installation}}`;
  const [live, liveName, batches] = [`${prefix}:live`, `${prefix}:live-name`, `${prefix}:batches`];
  const batchKey = (name: string) => `${prefix}:batch:${name}`;
  /** Of this instance; another after a Redis has forgotten what it answered. */
  let series = newId();
  const seen = () => `${prefix}:seen:${series}`;
  /** Sent, and not known to be counted; in the order of their numbers. */
  const unanswered = new Map<number, Sending>();
  let nextNumber = 0;
  const inFlight = new Set<Promise<unknown>>();
  let troubled = false;
  /** Of this turn of the event loop, and who waits for it to leave. */
  let fresh = new Tallies();
  let waiting: (() => void)[] = [];

  const evalCount = (number: number, sending: Sending) =>
    redis
      .eval(
        countScript,
        3,
        seen(),
        live,
        liveName,
        number,
        `${series}:${number}`,
        ...sending.flatMap(fieldsOf),
      )
      .then(() => unanswered.delete(number));

  const send = (sending: Sending) => {
    const number = nextNumber;
    nextNumber += 1;
    unanswered.set(number, sending);
    const sent: Promise<unknown> = evalCount(number, sending).catch((error: unknown) => {
      if (!troubled) log.warn({ err: error }, 'Redis is away: requests are counted in this process');
      troubled = true;
    });
    inFlight.add(sent);
    sent.finally(() => inFlight.delete(sent));
  };

  const keepHere = (sending: Sending) => {
    for (const row of sending) fallback.add([keyFieldsOf(row)], row);
  };

  const flush = () => {
    const [sending, told] = [fresh.rows(), waiting];
    fresh = new Tallies();
    waiting = [];
    if (sending.length > 0) {
      if (troubled || redis.status !== 'ready') keepHere(sending);
      else send(sending);
    }
    for (const done of told) done();
  };

  /** Sends again, one by one and in order, what may or may not have been counted. */
  const resend = async () => {
    for (const [number, sending] of [...unanswered]) await evalCount(number, sending);
  };

  const recover = async (apply: ApplyBatch) => {
    while (inFlight.size > 0) await Promise.all(inFlight);
    await resend().catch(async (error: unknown) => {
      if (!isGap(error)) throw error;
      log.warn({}, 'Redis has come back with older data');
      // Nothing new may join the counts that it has again: they are folded already.
      await drainShared(apply);
      series = newId();
      await resend();
    });
    if (troubled) log.info({}, 'Redis is back: counts are shared again');
    troubled = false;
  };

  const drainShared = async (apply: ApplyBatch) => {
    const names = (await redis.eval(
      sealScript,
      3,
      live,
      liveName,
      batches,
      batchKey(''),
      newId(),
    )) as string[];
    for (const sealed of names) {
      const rows = rowsOf(await redis.hgetall(batchKey(sealed)));
      for (const batch of toBatches(sealed, rows)) await apply(batch);
      await redis.multi().del(batchKey(sealed)).srem(batches, sealed).exec();
    }
  };

  /** False where Redis is away; a failure of `apply` is thrown. */
  const drainRedis = async (apply: ApplyBatch): Promise<boolean> => {
    if (redis.status !== 'ready') return false;
    let applyFailure: unknown = null;
    const applyNoting: ApplyBatch = (batch) =>
      apply(batch).catch((error: unknown) => {
        applyFailure = error;
        throw error;
      });
    try {
      if (troubled) await recover(applyNoting);
      await drainShared(applyNoting);
      return true;
    } catch (error) {
      if (applyFailure !== null) throw applyFailure;
      log.debug({ err: error }, 'the counts in Redis wait');
      return false;
    }
  };

  return {
    add(keys, amounts) {
      if (fresh.size === 0) atEndOfIteration(flush);
      fresh.add(keys, amounts);
      if (fresh.size >= sendingRowsMax) flush();
    },
    whenSent(done) {
      if (fresh.size === 0) done();
      else waiting.push(done);
    },
    async drain(apply) {
      flush();
      await drainRedis(apply);
      await fallback.drain(apply);
    },
    async close(apply) {
      flush();
      while (inFlight.size > 0) await Promise.all(inFlight);
      let drained = await drainRedis(apply);
      for (let tries = 1; !drained && tries < closingTries && unanswered.size > 0; tries += 1) {
        await new Promise((resolve) => setTimeout(resolve, closingPauseMs));
        drained = await drainRedis(apply);
      }
      if (drained) await redis.del(seen()).catch(() => undefined);
      // Redis went away with these and is still away: what it may have counted is most likely gone with it.
      for (const sending of unanswered.values()) keepHere(sending);
      unanswered.clear();
      await fallback.close(apply);
    },
  };
}

const isGap = (error: unknown): boolean => error instanceof Error && /\bGAP\b/.test(error.message);

const keyFieldsOf = ({ projectId, subjectId, day }: CountRow) => ({ projectId, subjectId, day });

function fieldsOf(row: CountRow): (string | number)[] {
  const name = keyOf(row);
  return counterNames.flatMap((counter) => (row[counter] === 0 ? [] : [`${name}|${counter}`, row[counter]]));
}

function rowsOf(fields: Readonly<Record<string, string>>): CountRow[] {
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
