// Whether a receiver works. After several failures in a row its feed rests for a while, so that a dead receiver costs little;
// after days without a success its webhook is switched off.
import type { WebhookBounds } from '../../contract/webhook.ts';
import { isoOf } from '../../kernel/clock.ts';

export interface Health {
  /** When the first of the failures was. */
  readonly failing_since: string | null;
  /** In a row. */
  readonly failures: number;
  readonly rest_until: string | null;
}

export const healthy: Health = { failing_since: null, failures: 0, rest_until: null };

/** Each further failure doubles the rest. */
export function afterFailure(
  { failing_since, failures }: Health,
  nowMs: number,
  bounds: WebhookBounds,
): Health {
  const inRow = failures + 1;
  const over = inRow - bounds.failuresMax;
  const restMs = over < 0 ? 0 : Math.min(bounds.restMs * 2 ** Math.min(over, 30), bounds.restMsMax);
  return {
    failing_since: failing_since ?? isoOf(nowMs),
    failures: inRow,
    rest_until: restMs === 0 ? null : isoOf(nowMs + restMs),
  };
}

export const isResting = ({ rest_until }: Health, nowMs: number): boolean =>
  rest_until !== null && Date.parse(rest_until) > nowMs;

export const hasFailedForDays = ({ failing_since }: Health, nowMs: number, bounds: WebhookBounds): boolean =>
  failing_since !== null && nowMs - Date.parse(failing_since) >= bounds.failingMsMax;
