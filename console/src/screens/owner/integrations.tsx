// Integrations: apps with a key of their own, limited to scopes, origins and a rate.
import type { Integration } from '@pakhus/client';
import { useSignal } from '@preact/signals';
import { startAt, usePages } from '../../browser/load.ts';
import { client } from '../../frame/api.ts';
import { ScreenTitle } from '../../frame/screens.tsx';
import { t } from '../../texts/texts.ts';
import { attempt } from '../../ui/attempt.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { formatNumber } from '../../ui/format.ts';
import { ShowPages } from '../../ui/load.tsx';
import { Menu } from '../../ui/menu.tsx';
import { ActiveBadge, Badge, Empty, Foreign, Time } from '../../ui/parts.tsx';
import { ScopeList } from '../../ui/scopes.tsx';
import { SecretDialog } from '../../ui/secret.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { showToast } from '../../ui/toasts.tsx';
import { IntegrationDialog } from './integration-dialog.tsx';

type Open =
  | { readonly kind: 'edit'; readonly integration: Integration | null }
  | { readonly kind: 'rotate' | 'remove'; readonly integration: Integration }
  | { readonly kind: 'secret'; readonly key: string };

export function Integrations() {
  const texts = t.owner.integrations;
  const open = useSignal<Open | null>(null);
  const show = (next: Open | null) => {
    open.value = next;
  };
  const integrations = usePages(async (cursor, signal) => {
    const page = await client.project.integrations.list(startAt(cursor), { signal }).page();
    return { items: page.integrations, next_cursor: page.next_cursor };
  }, []);
  const setActive = ({ id, active }: Integration) =>
    attempt(async () => {
      await client.project.integrations.update(id, { active: !active });
      showToast(texts.saved);
      await integrations.reload();
    });
  return (
    <div class="stack wide">
      <div class="page-head">
        <ScreenTitle>{texts.title}</ScreenTitle>
        <Button kind="primary" icon="plus" onPress={() => show({ kind: 'edit', integration: null })}>
          {texts.create}
        </Button>
      </div>
      <p class="soft">{texts.intro}</p>
      <ShowPages
        of={integrations}
        empty={
          <Empty icon="integrations" title={texts.empty}>
            {texts.emptyHint}
          </Empty>
        }
      >
        {(items) => (
          <Table
            caption={texts.title}
            columns={columns(show, setActive)}
            rows={items}
            keyOf={({ id }) => id}
          />
        )}
      </ShowPages>
      <Dialogs open={open.value} onOpen={show} onChange={integrations.reload} />
    </div>
  );
}

const columns = (
  onOpen: (next: Open) => void,
  onSetActive: (integration: Integration) => unknown,
): readonly Column<Integration>[] => {
  const texts = t.owner.integrations;
  return [
    {
      title: texts.name,
      kind: 'head',
      cell: ({ name, key_prefix }) => (
        <div>
          {name ? <Foreign>{name}</Foreign> : <span class="soft">{texts.unnamed}</span>}
          <div>
            <code class="mono soft nowrap">{key_prefix}…</code>
          </div>
        </div>
      ),
    },
    { title: t.ui.scopes.title, cell: ({ scopes }) => <ScopeList scopes={scopes} /> },
    { title: texts.rate, cell: (integration) => describeRate(integration) },
    { title: texts.used, cell: ({ last_used_at }) => <Time at={last_used_at} /> },
    {
      title: texts.state,
      cell: ({ active, devMode }) => (
        <span class="row">
          <ActiveBadge active={active} />
          {devMode && <Badge tone="warn">{texts.devMode}</Badge>}
        </span>
      ),
    },
    {
      title: texts.actions,
      kind: 'actions',
      cell: (integration) => (
        <Menu
          label={`${texts.actions}: ${integration.name ?? integration.key_prefix}`}
          items={[
            { label: texts.edit, onPress: () => onOpen({ kind: 'edit', integration }) },
            {
              label: integration.active ? texts.suspend : texts.resume,
              onPress: () => onSetActive(integration),
            },
            { label: texts.rotate, onPress: () => onOpen({ kind: 'rotate', integration }) },
            { label: texts.remove, danger: true, onPress: () => onOpen({ kind: 'remove', integration }) },
          ]}
        />
      ),
    },
  ];
};

function describeRate({ devMode, rateLimitMax, rateLimitWindow }: Integration): string {
  const texts = t.owner.integrations;
  if (devMode) return texts.rateNone;
  if (rateLimitMax === null || rateLimitWindow === null) return texts.rateDefault;
  return texts.rateOf(formatNumber(rateLimitMax), formatNumber(rateLimitWindow / 1000));
}

interface DialogsProps {
  readonly open: Open | null;
  readonly onOpen: (next: Open | null) => void;
  readonly onChange: () => unknown;
}

function Dialogs({ open, onOpen, onChange }: DialogsProps) {
  const texts = t.owner.integrations;
  const close = () => onOpen(null);
  const showSecret = (key: string) => {
    onOpen({ kind: 'secret', key });
    onChange();
  };
  if (!open) return null;
  if (open.kind === 'secret')
    return <SecretDialog title={texts.secret} label={texts.secret} value={open.key} onClose={close} />;
  if (open.kind === 'edit')
    return (
      <IntegrationDialog
        integration={open.integration}
        onClose={close}
        onSaved={onChange}
        onCreated={showSecret}
      />
    );
  const { integration } = open;
  const isRotation = open.kind === 'rotate';
  return (
    <Confirm
      title={isRotation ? texts.rotateTitle : texts.removeTitle}
      action={isRotation ? texts.rotate : texts.remove}
      closes={!isRotation}
      onClose={close}
      onConfirm={async () => {
        if (isRotation)
          return showSecret((await client.project.integrations.rotateKey(integration.id)).api_key);
        await client.project.integrations.delete(integration.id);
        showToast(texts.removed);
        onChange();
      }}
    >
      <p>
        <strong>
          <Foreign>{integration.name ?? texts.unnamed}</Foreign>
        </strong>
      </p>
      <p>{isRotation ? texts.rotateHint : texts.removeHint}</p>
    </Confirm>
  );
}
