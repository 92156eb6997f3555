// One webhook: its state, what became of each event, and how a receiver verifies what arrives.
import './webhooks.css';
import type { Webhook } from '@pakhus/client';
import { useSignal } from '@preact/signals';
import { useLoad } from '../../browser/load.ts';
import { client } from '../../frame/api.ts';
import { Link, navigate } from '../../frame/router.tsx';
import { type ScreenProps, ScreenTitle } from '../../frame/screens.tsx';
import { t } from '../../texts/texts.ts';
import { Show } from '../../ui/load.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Foreign } from '../../ui/parts.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import { Deliveries } from './deliveries.tsx';
import receiver from './receiver.txt?raw';
import { TypeList } from './type-fields.tsx';
import { type OpenDialog, WebhookDialogs, webhookActions } from './webhook-actions.tsx';
import { WebhookNotes, WebhookState } from './webhook-state.tsx';

export function WebhookScreen({ params: { webhookId = '' } }: ScreenProps) {
  const webhook = useLoad(
    async (signal) => (await client.project.webhooks()).get(webhookId, { signal }),
    [webhookId],
  );
  return <Show of={webhook}>{(loaded) => <Loaded webhook={loaded} onChange={webhook.reload} />}</Show>;
}

function Loaded({ webhook, onChange }: { webhook: Webhook; onChange: () => Promise<void> }) {
  const texts = t.webhooks;
  const open = useSignal<OpenDialog | null>(null);
  const show = (next: OpenDialog | null) => {
    open.value = next;
  };
  return (
    <div class="stack wide">
      <div class="stack tight">
        <p class="crumb">
          <Link to="/webhooks">{texts.back}</Link>
        </p>
        <div class="page-head">
          <ScreenTitle page={webhook.url}>
            <Foreign>{webhook.url}</Foreign>
          </ScreenTitle>
          <Menu label={texts.actions} text={texts.actions} items={webhookActions(webhook, show, onChange)} />
        </div>
        <div class="row">
          <WebhookState webhook={webhook} />
          <TypeList types={webhook.types} />
        </div>
      </div>
      <WebhookNotes webhook={webhook} />
      <Deliveries webhookId={webhook.id} onSent={onChange} />
      <section class="card stack">
        <h2>{texts.verify}</h2>
        <p class="soft">{texts.verifyHint}</p>
        <Snippet name={texts.receiver} text={receiver.trim()} />
      </section>
      <WebhookDialogs
        open={open.value}
        onOpen={show}
        onChange={onChange}
        onRemoved={() => navigate('/webhooks')}
      />
    </div>
  );
}
