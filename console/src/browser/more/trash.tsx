// The trash: deleted files that can be brought back, or deleted for good.
import type { ListedFile } from '@pakhus/client';
import { useSignal } from '@preact/signals';
import { Button } from '../button.tsx';
import { useBrowsing } from '../context.ts';
import { ErrorView } from '../error-view.tsx';
import { startAt, usePages } from '../load.ts';
import type { MoreProps } from '../more-request.ts';
import { Form } from './form.tsx';
import { Facts, ShowPages } from './pages.tsx';
import { Sheet } from './sheet.tsx';

export function Trash({ delivery, onClose }: Omit<MoreProps, 'request'>) {
  const { model, t, spaceId } = useBrowsing();
  const said = useSignal('');
  const files = usePages(async (cursor, signal) => {
    const query = { trashed: true, ...(spaceId && { space_id: spaceId }), ...startAt(cursor) };
    const page = await model.user.files.list(query, { signal }).page();
    return { items: page.files, next_cursor: page.next_cursor };
  }, []);
  const changed = async (text: string) => {
    said.value = text;
    model.quota.refresh();
    await files.reload();
  };
  return (
    <Sheet title={t('trash')} onClose={onClose}>
      <p class="soft">{t('trashHint')}</p>
      <p role="status" class={said.value ? 'said' : 'unseen'}>
        <bdi>{said.value}</bdi>
      </p>
      <ShowPages of={files} label={t('trash')} empty={t('trashEmpty')} keyOf={({ id }) => id}>
        {(file) => (
          <Trashed
            file={file}
            onRestore={async () => {
              model.listing.add(await delivery.files.restore(file.id));
              await changed(t('restoredFile', { name: file.name }));
            }}
            onRemove={async () => {
              await model.user.files.delete(file.id, { permanent: true });
              await changed(t('removedForGood', { name: file.name }));
            }}
          />
        )}
      </ShowPages>
    </Sheet>
  );
}

interface TrashedProps {
  readonly file: ListedFile;
  readonly onRestore: () => Promise<void>;
  readonly onRemove: () => Promise<void>;
}

function Trashed({ file, onRestore, onRemove }: TrashedProps) {
  const { model, t, can } = useBrowsing();
  const isAsked = useSignal(false);
  const error = useSignal<unknown>(null);
  const ask = (isWanted: boolean) => () => {
    isAsked.value = isWanted;
  };
  const restore = async () => {
    error.value = null;
    try {
      await onRestore();
    } catch (failed) {
      model.abilities.learn('edit', failed);
      error.value = failed;
    }
  };
  if (isAsked.value)
    return (
      <Form action={t('removeForGood')} kind="danger" onCancel={ask(false)} onSubmit={onRemove}>
        {() => <p role="alert">{t('removeForGoodAsk', { name: file.name })}</p>}
      </Form>
    );
  return (
    <>
      <TrashedText file={file} />
      <span class="entry-buttons">
        {can.edit && (
          <Button icon="retry" onPress={() => void restore()}>
            {t('restore')}
          </Button>
        )}
        {can.delete && (
          <Button kind="danger" onPress={ask(true)}>
            {t('removeForGood')}
          </Button>
        )}
      </span>
      {error.value !== null && <ErrorView error={error.value} />}
    </>
  );
}

function TrashedText({ file }: { readonly file: ListedFile }) {
  const { t, texts } = useBrowsing();
  const { name, folder, size, trashed_at, purge_at } = file;
  const facts = [
    folder || t('rootFolder'),
    texts.bytes(size),
    trashed_at && t('trashedAt', { time: texts.dateTime(trashed_at) }),
    purge_at && t('purgedAt', { time: texts.dateTime(purge_at) }),
  ];
  return (
    <span class="entry-text">
      <bdi class="label">{name}</bdi>
      <Facts items={facts} />
    </span>
  );
}
