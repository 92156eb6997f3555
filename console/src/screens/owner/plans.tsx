// Plans: what each user may store.
import type { Plan } from '@pakhus/client';
import { useSignal } from '@preact/signals';
import { startAt, usePages } from '../../browser/load.ts';
import { client } from '../../frame/api.ts';
import { ScreenTitle } from '../../frame/screens.tsx';
import { t } from '../../texts/texts.ts';
import { attempt } from '../../ui/attempt.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { formatBytes, formatNumber } from '../../ui/format.ts';
import { ShowPages } from '../../ui/load.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Badge, Empty, Foreign } from '../../ui/parts.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { showToast } from '../../ui/toasts.tsx';
import { PlanDialog } from './plan-dialog.tsx';

type Open =
  | { readonly kind: 'edit'; readonly plan: Plan | null }
  | { readonly kind: 'remove'; readonly plan: Plan };

export function Plans() {
  const texts = t.owner.plans;
  const open = useSignal<Open | null>(null);
  const plans = usePages(async (cursor, signal) => {
    const page = await client.project.plans.list(startAt(cursor), { signal }).page();
    return { items: page.plans, next_cursor: page.next_cursor };
  }, []);
  const close = () => {
    open.value = null;
  };
  const create = (
    <Button
      kind="primary"
      icon="plus"
      onPress={() => {
        open.value = { kind: 'edit', plan: null };
      }}
    >
      {texts.create}
    </Button>
  );
  const makeDefault = (plan: Plan) =>
    attempt(async () => {
      await client.project.plans.makeDefault(plan.id);
      showToast(texts.madeDefault(plan.name));
      await plans.reload();
    });
  return (
    <div class="stack wide">
      <div class="page-head">
        <ScreenTitle>{texts.title}</ScreenTitle>
        {create}
      </div>
      <ShowPages
        of={plans}
        empty={
          <Empty icon="plans" title={texts.empty}>
            {texts.emptyHint}
          </Empty>
        }
      >
        {(items) => (
          <Table
            caption={texts.title}
            columns={columns((next) => {
              open.value = next;
            }, makeDefault)}
            rows={items}
            keyOf={({ id }) => id}
          />
        )}
      </ShowPages>
      {open.value?.kind === 'edit' && (
        <PlanDialog plan={open.value.plan} onClose={close} onSaved={plans.reload} />
      )}
      {open.value?.kind === 'remove' && (
        <RemovePlan plan={open.value.plan} onClose={close} onRemoved={plans.reload} />
      )}
    </div>
  );
}

const columns = (
  onOpen: (next: Open) => void,
  onMakeDefault: (plan: Plan) => unknown,
): readonly Column<Plan>[] => {
  const texts = t.owner.plans;
  return [
    {
      title: texts.name,
      kind: 'head',
      cell: ({ name, description, is_default }) => (
        <div>
          <Foreign>{name}</Foreign> {is_default && <Badge tone="good">{texts.isDefault}</Badge>}
          {description && (
            <div class="soft">
              <Foreign>{description}</Foreign>
            </div>
          )}
        </div>
      ),
    },
    {
      title: texts.storageLimit,
      kind: 'number',
      cell: ({ storageLimit }) => (storageLimit === null ? texts.unlimited : formatBytes(storageLimit)),
    },
    { title: texts.maxFileSize, kind: 'number', cell: ({ maxFileSize }) => formatBytes(maxFileSize) },
    {
      title: texts.maxFiles,
      kind: 'number',
      cell: ({ maxFiles }) => (maxFiles === null ? texts.unlimited : formatNumber(maxFiles)),
    },
    {
      title: texts.allowedMimes,
      cell: ({ allowedMimes }) => (allowedMimes.length === 0 ? texts.all : allowedMimes.join(', ')),
    },
    {
      title: texts.actions,
      kind: 'actions',
      cell: (plan) => (
        <Menu
          label={`${texts.actions}: ${plan.name}`}
          items={[
            { label: texts.edit, onPress: () => onOpen({ kind: 'edit', plan }) },
            ...(plan.is_default ? [] : [{ label: texts.makeDefault, onPress: () => onMakeDefault(plan) }]),
            { label: texts.remove, danger: true, onPress: () => onOpen({ kind: 'remove', plan }) },
          ]}
        />
      ),
    },
  ];
};

interface RemoveProps {
  readonly plan: Plan;
  readonly onClose: () => void;
  readonly onRemoved: () => unknown;
}

function RemovePlan({ plan, onClose, onRemoved }: RemoveProps) {
  const texts = t.owner.plans;
  return (
    <Confirm
      title={texts.removeTitle}
      action={texts.remove}
      onClose={onClose}
      onConfirm={async () => {
        await client.project.plans.delete(plan.id);
        showToast(texts.removed(plan.name));
        onRemoved();
      }}
    >
      <p>
        <strong>
          <Foreign>{plan.name}</Foreign>
        </strong>
      </p>
      <p>{texts.removeHint}</p>
    </Confirm>
  );
}
