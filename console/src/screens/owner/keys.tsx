// Project keys: created with a secret that is shown once, and revoked.
import type { ApiKey } from '@pakhus/client';
import { useSignal } from '@preact/signals';
import { startAt, usePages } from '../../browser/load.ts';
import { client } from '../../frame/api.ts';
import { ScreenTitle } from '../../frame/screens.tsx';
import { t } from '../../texts/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { ShowPages } from '../../ui/load.tsx';
import { ActiveBadge, Empty, Foreign, Time } from '../../ui/parts.tsx';
import { SecretDialog } from '../../ui/secret.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { showToast } from '../../ui/toasts.tsx';

type Open =
  | { readonly kind: 'create' }
  | { readonly kind: 'secret'; readonly key: string }
  | { readonly kind: 'revoke'; readonly of: ApiKey };

export function Keys() {
  const texts = t.owner.keys;
  const open = useSignal<Open | null>(null);
  const keys = usePages(async (cursor, signal) => {
    const page = await client.project.keys.list(startAt(cursor), { signal }).page();
    return { items: page.keys, next_cursor: page.next_cursor };
  }, []);
  const create = (
    <Button
      kind="primary"
      icon="plus"
      onPress={() => {
        open.value = { kind: 'create' };
      }}
    >
      {texts.create}
    </Button>
  );
  return (
    <div class="stack wide">
      <div class="page-head">
        <ScreenTitle>{texts.title}</ScreenTitle>
        {create}
      </div>
      <p class="soft">{texts.intro}</p>
      <ShowPages
        of={keys}
        empty={
          <Empty icon="keys" title={texts.empty}>
            {texts.emptyHint}
          </Empty>
        }
      >
        {(items) => (
          <Table
            caption={texts.title}
            columns={columns((of) => {
              open.value = { kind: 'revoke', of };
            })}
            rows={items}
            keyOf={({ id }) => id}
          />
        )}
      </ShowPages>
      <Dialogs
        open={open.value}
        onOpen={(next) => {
          open.value = next;
        }}
        onChange={keys.reload}
      />
    </div>
  );
}

const columns = (onRevoke: (key: ApiKey) => void): readonly Column<ApiKey>[] => {
  const texts = t.owner.keys;
  return [
    {
      title: texts.name,
      kind: 'head',
      cell: ({ name }) => (name ? <Foreign>{name}</Foreign> : <span class="soft">{texts.unnamed}</span>),
    },
    { title: texts.prefix, cell: ({ key_prefix }) => <code class="mono">{key_prefix}…</code> },
    { title: texts.used, cell: ({ last_used_at }) => <Time at={last_used_at} /> },
    { title: texts.created, cell: ({ created_at }) => <Time at={created_at} /> },
    { title: texts.state, cell: ({ active }) => <ActiveBadge active={active} /> },
    {
      title: texts.actions,
      kind: 'actions',
      cell: (key) =>
        key.active && (
          <Button size="small" onPress={() => onRevoke(key)}>
            {texts.revoke}
          </Button>
        ),
    },
  ];
};

interface DialogsProps {
  readonly open: Open | null;
  readonly onOpen: (next: Open | null) => void;
  readonly onChange: () => unknown;
}

function Dialogs({ open, onOpen, onChange }: DialogsProps) {
  const texts = t.owner.keys;
  const close = () => onOpen(null);
  if (open?.kind === 'secret')
    return <SecretDialog title={texts.secret} label={texts.secret} value={open.key} onClose={close} />;
  if (open?.kind === 'revoke')
    return (
      <Confirm
        title={texts.revokeTitle}
        action={texts.revoke}
        onClose={close}
        onConfirm={async () => {
          await client.project.keys.revoke(open.of.id);
          showToast(texts.revoked);
          onChange();
        }}
      >
        <p>
          <Foreign>{open.of.name ?? texts.unnamed}</Foreign> <code class="mono">{open.of.key_prefix}…</code>
        </p>
        <p>{texts.revokeHint}</p>
      </Confirm>
    );
  if (open?.kind !== 'create') return null;
  return (
    <Dialog title={texts.create} onClose={close}>
      <Form
        submit={texts.create}
        cancel={{ label: t.ui.cancel, onPress: close }}
        onSubmit={async ({ name }) => {
          const { api_key } = await client.project.keys.create({ name: name?.trim() || null });
          onOpen({ kind: 'secret', key: api_key });
          onChange();
        }}
      >
        {(wrong) => (
          <Field
            label={texts.name}
            hint={texts.nameHint}
            name="name"
            maxLength={100}
            autofocus
            wrong={wrong('name')}
          />
        )}
      </Form>
    </Dialog>
  );
}
