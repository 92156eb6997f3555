// What an empty folder says: what to do next.
import { Button } from './button.tsx';
import type { Chooser } from './chooser.tsx';
import { useBrowsing } from './context.ts';
import { Icon } from './icons.tsx';

export function Empty({ chooser }: { readonly chooser: Chooser }) {
  const { model, t, can } = useBrowsing();
  const folder = model.listing.folder.value;
  return (
    <div class="empty" part="empty">
      <span class="empty-sign">
        <Icon name={can.upload ? 'upload' : 'folder'} />
      </span>
      <h2>{t('emptyTitle')}</h2>
      <p>{can.upload ? t('emptyUpload') : t('emptyReadOnly')}</p>
      {can.upload && folder !== '' && (
        <p>
          <bdi>{t('emptyFolder', { folder })}</bdi>
        </p>
      )}
      {can.upload && (
        <Button icon="upload" onPress={chooser.chooseFiles}>
          {t('uploadFiles')}
        </Button>
      )}
    </div>
  );
}
