// One try to deliver a message, and what follows from its outcome.
import type { Deps } from '../../contract/deps.ts';
import { isoOf, secondsOf } from '../../kernel/clock.ts';
import { OutboundAborted, OutboundRefusal } from '../../platform/outbound/faults.ts';
import { type Message, testType } from './webhooks.message.ts';
import { signedHeaders } from './webhooks.secrets.ts';
import type { Tried } from './webhooks.work.sql.ts';

export interface Receiver {
  readonly webhookId: string;
  readonly url: string;
  readonly secrets: readonly { readonly key: Buffer; readonly expiresMs: number }[];
}

/** What came back. No status: no answer. */
export interface Outcome {
  readonly response_status: number | null;
  readonly response_body: string | null;
  readonly duration_ms: number;
  /** Null after a success. */
  readonly error: string | null;
}

type SendDeps = Pick<Deps, 'outbound' | 'clock' | 'version'>;

/** Throws an OutboundAborted if the process stops first. */
export async function send(
  deps: SendDeps,
  { webhookId, url, secrets }: Receiver,
  message: Message,
  signal: AbortSignal,
): Promise<Outcome> {
  const now = deps.clock();
  const keys = secrets.flatMap(({ key, expiresMs }) => (expiresMs > now ? [key] : []));
  if (keys.length === 0) return unsigned;
  const startedAt = performance.now();
  const duration = () => Math.round(performance.now() - startedAt);
  try {
    const { status, text } = await deps.outbound.post({
      sender: webhookId,
      url,
      headers: {
        'content-type': 'application/json',
        'user-agent': `Pakhus-Webhooks/${deps.version}`,
        ...signedHeaders(keys, message.id, secondsOf(now), message.json),
      },
      body: message.json,
      signal,
    });
    return {
      response_status: status,
      response_body: text,
      duration_ms: duration(),
      error: explainStatus(status),
    };
  } catch (error) {
    if (error instanceof OutboundAborted) throw error;
    const { message: reason } = error as Error;
    return {
      response_status: null,
      response_body: null,
      duration_ms: duration(),
      error: error instanceof OutboundRefusal ? `The URL ${reason}` : reason,
    };
  }
}

/** The key that encrypted the secrets is lost. */
const unsigned: Outcome = {
  response_status: null,
  response_body: null,
  duration_ms: 0,
  error: 'The secret of this webhook cannot be read any more: replace it',
};

function explainStatus(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  const isRedirect = status >= 300 && status < 400;
  return `The receiver answered ${status}${isRedirect ? ': redirects are not followed' : ''}`;
}

export const goneStatus = 410;
/** So that retries of many events do not come all at once. */
const jitterShare = 0.1;

/** The state of a delivery after its try. A test is not repeated. */
export function judge(
  { error, response_status }: Outcome,
  type: string,
  attempts: number,
  delaysMs: readonly number[],
  nowMs: number,
): Pick<Tried, 'status' | 'next_try_at'> {
  if (error === null) return { status: 'succeeded', next_try_at: null };
  const delayMs = delaysMs[attempts - 1];
  if (delayMs === undefined || type === testType || response_status === goneStatus)
    return { status: 'failed', next_try_at: null };
  const jitter = 1 + jitterShare * (2 * Math.random() - 1);
  return { status: 'retrying', next_try_at: isoOf(nowMs + delayMs * jitter) };
}
