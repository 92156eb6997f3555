// The trash of a user: deleted files that can be brought back, or deleted for good.
import type { ListedFile } from '@pakhus/client';
import { useSignal } from '@preact/signals';
import { startAt, useLoad, usePages } from '../../browser/load.ts';
import { client } from '../../frame/api.ts';
import { Link } from '../../frame/router.tsx';
import { t } from '../../texts/texts.ts';
import { attempt } from '../../ui/attempt.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { formatBytes, formatNumber } from '../../ui/format.ts';
import { Show, ShowPages } from '../../ui/load.tsx';
import { Empty, Foreign, Time } from '../../ui/parts.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { showToast } from '../../ui/toasts.tsx';

interface TrashProps {
  readonly userId: string;
  readonly spaceId: string | undefined;
  /** Something was restored or deleted for good. */
  readonly onChange: () => void;
}

export function Trash(props: TrashProps) {
  const texts = t.files.trash;
  const loaded = useLoad((signal) => client.project.settings.get({ signal }), []);
  return (
    <section class="stack">
      <h2>{texts.title}</h2>
      <Show of={loaded}>
        {({ trash_days }) =>
          trash_days === 0 ? (
            <Empty icon="trash" title={texts.off} action={<Link to="/settings">{texts.toSettings}</Link>}>
              {texts.offHint}
            </Empty>
          ) : (
            <>
              <p class="soft">{texts.days(formatNumber(trash_days))}</p>
              <TrashedFiles {...props} />
            </>
          )
        }
      </Show>
    </section>
  );
}

function TrashedFiles({ userId, spaceId, onChange }: TrashProps) {
  const texts = t.files.trash;
  const removing = useSignal<ListedFile | null>(null);
  const files = usePages(
    async (cursor, signal) => {
      const query = { trashed: true, ...(spaceId && { space_id: spaceId }), ...startAt(cursor) };
      const page = await client.user({ id: userId }).files.list(query, { signal }).page();
      return { items: page.files, next_cursor: page.next_cursor };
    },
    [userId, spaceId],
  );
  const changed = async (text: string) => {
    showToast(text);
    onChange();
    await files.reload();
  };
  const restore = ({ id, name }: ListedFile) =>
    attempt(async () => {
      await client.user({ id: userId }).files.restore(id);
      await changed(texts.restored(name));
    });
  const remove = (file: ListedFile) => {
    removing.value = file;
  };
  return (
    <>
      <ShowPages
        of={files}
        empty={
          <Empty icon="trash" title={texts.empty}>
            {texts.emptyHint}
          </Empty>
        }
      >
        {(items) => (
          <Table
            caption={texts.title}
            columns={columns(restore, remove)}
            rows={items}
            keyOf={({ id }) => id}
          />
        )}
      </ShowPages>
      {removing.value && (
        <RemoveForGood
          userId={userId}
          file={removing.value}
          onClose={() => {
            removing.value = null;
          }}
          onRemoved={changed}
        />
      )}
    </>
  );
}

const columns = (
  onRestore: (file: ListedFile) => unknown,
  onRemove: (file: ListedFile) => void,
): readonly Column<ListedFile>[] => {
  const texts = t.files;
  return [
    { title: texts.name, kind: 'head', cell: ({ name }) => <Foreign>{name}</Foreign> },
    {
      title: texts.folder,
      cell: ({ folder }) => (folder ? <Foreign>{folder}</Foreign> : <span class="soft">{texts.root}</span>),
    },
    { title: texts.size, kind: 'number', cell: ({ size }) => formatBytes(size) },
    { title: texts.trash.trashed, cell: ({ trashed_at }) => <Time at={trashed_at ?? null} /> },
    { title: texts.trash.purged, cell: ({ purge_at }) => <Time at={purge_at ?? null} /> },
    {
      title: texts.actions,
      kind: 'actions',
      cell: (file) => (
        <div class="row end">
          <Button size="small" onPress={() => onRestore(file)}>
            {texts.trash.restore}
          </Button>
          <Button
            size="small"
            kind="plain"
            icon="trash"
            label={texts.trash.remove}
            onPress={() => onRemove(file)}
          />
        </div>
      ),
    },
  ];
};

interface RemoveProps {
  readonly userId: string;
  readonly file: ListedFile;
  readonly onClose: () => void;
  readonly onRemoved: (text: string) => unknown;
}

function RemoveForGood({ userId, file, onClose, onRemoved }: RemoveProps) {
  const texts = t.files.trash;
  return (
    <Confirm
      title={texts.removeTitle}
      action={texts.remove}
      onClose={onClose}
      onConfirm={async () => {
        await client.user({ id: userId }).files.delete(file.id, { permanent: true });
        onRemoved(texts.removed(file.name));
      }}
    >
      <p>
        <strong>
          <Foreign>{file.name}</Foreign>
        </strong>
      </p>
      <p>{texts.removeHint}</p>
    </Confirm>
  );
}
