// Whether a webhook delivers, and why not.
import type { Webhook } from '@pakhus/client';
import { t } from '../../texts/texts.ts';
import { formatTime } from '../../ui/format.ts';
import { Badge, Time } from '../../ui/parts.tsx';

/** The service switches one off by itself, with a reason. */
function toBadge({ active, disabled_reason, failing_since }: Webhook) {
  const texts = t.webhooks;
  if (disabled_reason && !active) return <Badge tone="danger">{texts.off}</Badge>;
  if (!active) return <Badge tone="warn">{texts.paused}</Badge>;
  if (failing_since) return <Badge tone="warn">{texts.failing}</Badge>;
  return <Badge tone="good">{texts.active}</Badge>;
}

export const WebhookState = ({ webhook }: { webhook: Webhook }) => (
  <span class="row">
    {toBadge(webhook)}
    {webhook.failing_since && (
      <span class="soft nowrap">
        {t.webhooks.failingSince} <Time at={webhook.failing_since} />
      </span>
    )}
  </span>
);

/** In sentences, for the screen of the webhook. */
export function WebhookNotes({ webhook }: { webhook: Webhook }) {
  const texts = t.webhooks;
  const { active, disabled_reason, failing_since, previous_secret_until } = webhook;
  const isRotated = previous_secret_until !== null && Date.parse(previous_secret_until) > Date.now();
  return (
    <>
      {disabled_reason && !active && (
        <p class="note danger">{(texts.reasons as Readonly<Record<string, string>>)[disabled_reason]}</p>
      )}
      {!disabled_reason && !active && <p class="note">{texts.pausedHint}</p>}
      {active && failing_since && <p class="note warn">{texts.failingHint}</p>}
      {isRotated && <p class="note">{texts.bothSign(formatTime(previous_secret_until))}</p>}
    </>
  );
}
