// How webhooks are delivered.

export interface WebhookBounds {
  /** After each failed try; none after the last. */
  readonly retryDelaysMs: readonly number[];
  /** Failures in a row before the feed rests. Each further one doubles the rest. */
  readonly failuresMax: number;
  readonly restMs: number;
  readonly restMsMax: number;
  /** Without a success for so long, a webhook is switched off. */
  readonly failingMsMax: number;
  /** How long a process keeps a webhook without anything to deliver. */
  readonly lingerMs: number;
  /** After this time it lets go of it, and reads it again. */
  readonly runMsMax: number;
  /** How often to look for what another process has left behind. Each knows by itself when its own retries are due. */
  readonly pollMs: number;
  /** Webhooks that a process delivers to at once. */
  readonly runsMax: number;
  /** After this time without a sign of life, another process goes on. */
  readonly leaseSeconds: number;
}
