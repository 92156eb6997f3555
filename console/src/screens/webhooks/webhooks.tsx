// Webhooks: where events are posted to.
import './webhooks.css';
import type { Webhook } from '@pakhus/client';
import { useSignal } from '@preact/signals';
import { startAt, usePages } from '../../browser/load.ts';
import { client } from '../../frame/api.ts';
import { Link } from '../../frame/router.tsx';
import { ScreenTitle } from '../../frame/screens.tsx';
import { t } from '../../texts/texts.ts';
import { Button } from '../../ui/button.tsx';
import { ShowPages } from '../../ui/load.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Empty, Foreign, Time } from '../../ui/parts.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { TypeList } from './type-fields.tsx';
import { type OpenDialog, WebhookDialogs, webhookActions } from './webhook-actions.tsx';
import { WebhookState } from './webhook-state.tsx';

export function Webhooks() {
  const texts = t.webhooks;
  const open = useSignal<OpenDialog | null>(null);
  const show = (next: OpenDialog | null) => {
    open.value = next;
  };
  const webhooks = usePages(async (cursor, signal) => {
    const page = await (await client.project.webhooks()).list(startAt(cursor), { signal }).page();
    return { items: page.webhooks, next_cursor: page.next_cursor };
  }, []);
  return (
    <div class="stack wide">
      <div class="page-head">
        <ScreenTitle>{texts.title}</ScreenTitle>
        <Button kind="primary" icon="plus" onPress={() => show({ kind: 'edit', webhook: null })}>
          {texts.create}
        </Button>
      </div>
      <p class="soft">{texts.intro}</p>
      <ShowPages
        of={webhooks}
        empty={
          <Empty icon="webhooks" title={texts.empty}>
            {texts.emptyHint}
          </Empty>
        }
      >
        {(items) => (
          <Table
            caption={texts.title}
            columns={columns(show, webhooks.reload)}
            rows={items}
            keyOf={({ id }) => id}
          />
        )}
      </ShowPages>
      <WebhookDialogs open={open.value} onOpen={show} onChange={webhooks.reload} />
    </div>
  );
}

const columns = (
  onOpen: (next: OpenDialog) => void,
  onChange: () => Promise<void>,
): readonly Column<Webhook>[] => {
  const texts = t.webhooks;
  return [
    {
      title: texts.url,
      kind: 'head',
      cell: ({ id, url }) => (
        <Link to={`/webhooks/${id}`} class="breakable">
          <Foreign>{url}</Foreign>
        </Link>
      ),
    },
    { title: texts.types, cell: ({ types }) => <TypeList types={types} /> },
    { title: texts.state, cell: (webhook) => <WebhookState webhook={webhook} /> },
    { title: texts.created, cell: ({ created_at }) => <Time at={created_at} /> },
    {
      title: texts.actions,
      kind: 'actions',
      cell: (webhook) => (
        <Menu label={`${texts.actions}: ${webhook.url}`} items={webhookActions(webhook, onOpen, onChange)} />
      ),
    },
  ];
};
