// Shares a file by links: makes one, shows it once, and lists those that exist.
import type { ListedFile } from '@pakhus/client';
import { useSignal } from '@preact/signals';
import { Button } from '../button.tsx';
import { useBrowsing } from '../context.ts';
import { startAt, usePages } from '../load.ts';
import type { MoreProps } from '../more-request.ts';
import { CopyField } from './copy-field.tsx';
import { Form } from './form.tsx';
import { ShareFields } from './share-fields.tsx';
import { ShareList } from './share-list.tsx';
import { readShare } from './share-values.ts';
import { Sheet } from './sheet.tsx';

interface ShareFileProps extends Omit<MoreProps, 'request'> {
  readonly file: ListedFile;
}

export function ShareFile({ file, delivery, onClose }: ShareFileProps) {
  const { t, model } = useBrowsing();
  const url = useSignal<string | null>(null);
  const existing = usePages(async (cursor, signal) => {
    const shares = await delivery.shares();
    const page = await shares.listOf(file.id, startAt(cursor), { signal }).page();
    return { items: page.shares, next_cursor: page.next_cursor };
  }, []);
  const create = async (values: Parameters<typeof readShare>[0]) => {
    try {
      const shares = await delivery.shares();
      url.value = (await shares.create(file.id, readShare(values))).url;
    } catch (error) {
      model.abilities.learn('share', error);
      throw error;
    }
    await existing.reload();
  };
  return (
    <Sheet title={t('shareTitle')} subject={file.name} onClose={onClose}>
      {url.value === null ? (
        <>
          <p class="soft">{t('shareHint')}</p>
          <Form action={t('shareCreate')} onSubmit={create}>
            {(wrong) => <ShareFields wrong={wrong} />}
          </Form>
        </>
      ) : (
        <div class="stack" role="status">
          <p>{t('shareLinkHint')}</p>
          <CopyField value={url.value} />
          <div>
            <Button
              onPress={() => {
                url.value = null;
              }}
            >
              {t('shareAnother')}
            </Button>
          </div>
        </div>
      )}
      <h3>{t('shareExisting')}</h3>
      <ShareList pages={existing} label={t('shareExisting')} delivery={delivery} />
    </Sheet>
  );
}
