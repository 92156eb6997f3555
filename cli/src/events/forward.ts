// Sends an event to a receiver the way the service sends webhooks, with fewer and sooner retries.
import { setTimeout as delay } from 'node:timers/promises';
import type { FeedEvent } from '@pakhus/client/node';
import { signWebhook } from '@pakhus/client/webhooks';
import { describeError } from '../frame/failure.ts';

const answerMsMax = 10_000;
const pausesMs = [1_000, 3_000, 9_000];

export interface Attempt {
  readonly event_id: string;
  readonly type: string;
  /** Null if there was no answer. */
  readonly response_status: number | null;
  readonly duration_ms: number;
  readonly error: string | null;
  /** Null if there is no other try. */
  readonly next_try_ms: number | null;
}

export interface Receiver {
  readonly url: string;
  readonly secret: string;
}

/** Gives each try, until one succeeds or there were enough. */
export async function* forward(
  receiver: Receiver,
  event: FeedEvent,
  signal: AbortSignal,
): AsyncGenerator<Attempt> {
  for (let tries = 0; ; tries += 1) {
    const { isDone, ...told } = await post(receiver, event, signal);
    const pauseMs = isDone ? null : (pausesMs[tries] ?? null);
    yield { event_id: event.id, type: event.type, ...told, next_try_ms: pauseMs };
    if (pauseMs === null) return;
    await delay(pauseMs, undefined, { signal });
  }
}

async function post({ url, secret }: Receiver, event: FeedEvent, signal: AbortSignal) {
  const body = JSON.stringify(event);
  const startedAt = performance.now();
  const tell = (response_status: number | null, error: string | null) => ({
    response_status,
    duration_ms: Math.round(performance.now() - startedAt),
    error,
    isDone: error === null,
  });
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(await signWebhook(body, secret, { id: event.id })) },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(answerMsMax)]),
    });
    await answer.body?.cancel();
    return tell(answer.status, answer.ok ? null : 'not a 2xx');
  } catch (error) {
    signal.throwIfAborted();
    return tell(null, describeError(error));
  }
}
