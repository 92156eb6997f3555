// Offers to continue uploads that a reload interrupted.
import { Button } from './button.tsx';
import type { Chooser } from './chooser.tsx';
import { useBrowsing } from './context.ts';

export function Interrupted({ chooser }: { readonly chooser: Chooser }) {
  const { model, t, can } = useBrowsing();
  const { uploads, discard } = model.interrupted;
  const count = uploads.value.length;
  if (count === 0 || !can.upload) return null;
  const named = uploads.value.slice(0, 3);
  return (
    <div class="notice" part="interrupted">
      <span class="notice-text">
        {t('interrupted', { count })}
        <small>
          {named.map(({ uploadId, name }) => (
            <bdi key={uploadId}>{name} </bdi>
          ))}
          {count > named.length && '…'}
        </small>
      </span>
      <Button onPress={chooser.chooseFiles}>{t('interruptedChoose')}</Button>
      <Button onPress={() => void discard()}>{t('interruptedDiscard')}</Button>
    </div>
  );
}
