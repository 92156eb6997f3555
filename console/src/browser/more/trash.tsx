// The trash: deleted files that can be brought back, or deleted for good.
import type { ListedFile } from '@pakhus/client';
import { useSignal } from '@preact/signals';
import { Button } from '../button.tsx';
import { useBrowsing } from '../context.ts';
import { ErrorView } from '../error-view.tsx';
import { startAt, usePages } from '../load.ts';
import type { MoreProps } from '../more-request.ts';
import { Form } from './form.tsx';
import { ShowPages } from './pages.tsx';
import { Sheet } from './sheet.tsx';

export function Trash({ delivery, onClose }: Omit<MoreProps, 'request'>) {
  const { model, t, can, spaceId } = useBrowsing();
  const removing = useSignal<ListedFile | null>(null);
  const said = useSignal('');
  const error = useSignal<unknown>(null);
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
  const restore = async ({ id, name }: ListedFile) => {
    error.value = null;
    try {
      model.listing.add(await delivery.files.restore(id));
      await changed(t('restoredFile', { name }));
    } catch (failed) {
      model.abilities.learn('edit', failed);
      error.value = failed;
    }
  };
  const file = removing.value;
  const stay = () => {
    removing.value = null;
  };
  return (
    <Sheet title={t('trash')} onClose={onClose}>
      <p class="soft">{t('trashHint')}</p>
      <p role="status" class={said.value ? 'said' : 'unseen'}>
        <bdi>{said.value}</bdi>
      </p>
      {error.value !== null && <ErrorView error={error.value} />}
      {file && (
        <Form
          action={t('removeForGood')}
          kind="danger"
          onCancel={stay}
          onSubmit={async () => {
            await model.user.files.delete(file.id, { permanent: true });
            stay();
            await changed(t('removedForGood', { name: file.name }));
          }}
        >
          {() => <p role="alert">{t('removeForGoodAsk', { name: file.name })}</p>}
        </Form>
      )}
      <ShowPages of={files} label={t('trash')} empty={t('trashEmpty')} keyOf={({ id }) => id}>
        {(one) => (
          <>
            <Trashed file={one} />
            <span class="entry-buttons">
              {can.edit && (
                <Button icon="retry" onPress={() => void restore(one)}>
                  {t('restore')}
                </Button>
              )}
              {can.delete && (
                <Button
                  kind="danger"
                  onPress={() => {
                    removing.value = one;
                  }}
                >
                  {t('removeForGood')}
                </Button>
              )}
            </span>
          </>
        )}
      </ShowPages>
    </Sheet>
  );
}

function Trashed({ file }: { readonly file: ListedFile }) {
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
      <small>{facts.filter(Boolean).join(' · ')}</small>
    </span>
  );
}
