// Variants: the sizes and formats in which images of the project can be read.
import type { Variant } from '@pakhus/client';
import { useSignal } from '@preact/signals';
import { useLoad } from '../../browser/load.ts';
import { client } from '../../frame/api.ts';
import { ScreenTitle } from '../../frame/screens.tsx';
import { t } from '../../texts/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { formatNumber } from '../../ui/format.ts';
import { Show } from '../../ui/load.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Empty, Time } from '../../ui/parts.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { showToast } from '../../ui/toasts.tsx';
import { VariantDialog } from './variant-dialog.tsx';

type Open =
  | { readonly kind: 'edit'; readonly variant: Variant | null }
  | { readonly kind: 'remove'; readonly variant: Variant };

export function Variants() {
  const texts = t.variants;
  const open = useSignal<Open | null>(null);
  const loaded = useLoad(async (signal) => {
    const variants = await client.project.variants();
    return (await variants.list({ signal }).page()).variants;
  }, []);
  const show = (next: Open | null) => {
    open.value = next;
  };
  const close = () => show(null);
  return (
    <div class="stack wide">
      <div class="page-head">
        <ScreenTitle>{texts.title}</ScreenTitle>
        <Button kind="primary" icon="plus" onPress={() => show({ kind: 'edit', variant: null })}>
          {texts.create}
        </Button>
      </div>
      <p class="soft">{texts.intro}</p>
      <Show of={loaded}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty icon="variants" title={texts.empty}>
              {texts.emptyHint}
            </Empty>
          ) : (
            <Table caption={texts.title} columns={columns(show)} rows={rows} keyOf={({ name }) => name} />
          )
        }
      </Show>
      {open.value?.kind === 'edit' && (
        <VariantDialog variant={open.value.variant} onClose={close} onSaved={loaded.reload} />
      )}
      {open.value?.kind === 'remove' && (
        <RemoveVariant name={open.value.variant.name} onClose={close} onRemoved={loaded.reload} />
      )}
    </div>
  );
}

const columns = (onOpen: (next: Open) => void): readonly Column<Variant>[] => {
  const texts = t.variants;
  return [
    { title: texts.name, kind: 'head', cell: ({ name }) => <code>{name}</code> },
    { title: texts.box, cell: describeBox },
    { title: texts.fit, cell: ({ fit }) => texts.fitWords[fit] },
    { title: texts.format, cell: ({ format }) => format },
    { title: texts.quality, kind: 'number', cell: ({ quality }) => formatNumber(quality) },
    { title: texts.updated, cell: ({ updated_at }) => <Time at={updated_at} /> },
    {
      title: texts.actions,
      kind: 'actions',
      cell: (variant) => (
        <Menu
          label={`${texts.actions}: ${variant.name}`}
          items={[
            { label: texts.edit, onPress: () => onOpen({ kind: 'edit', variant }) },
            { label: texts.remove, danger: true, onPress: () => onOpen({ kind: 'remove', variant }) },
          ]}
        />
      ),
    },
  ];
};

const describeBox = ({ width, height }: Variant): string =>
  [width, height].map((side) => (side === null ? t.variants.any : formatNumber(side))).join(' × ');

interface RemoveProps {
  readonly name: string;
  readonly onClose: () => void;
  readonly onRemoved: () => unknown;
}

function RemoveVariant({ name, onClose, onRemoved }: RemoveProps) {
  const texts = t.variants;
  return (
    <Confirm
      title={texts.removeTitle}
      action={texts.remove}
      onClose={onClose}
      onConfirm={async () => {
        await (await client.project.variants()).delete(name);
        showToast(texts.removed(name));
        onRemoved();
      }}
    >
      <p>
        <strong>{name}</strong>
      </p>
      <p>{texts.removeHint}</p>
    </Confirm>
  );
}
