// Text to copy, with a button for it.
import { useSignal } from '@preact/signals';
import { Button } from '../button.tsx';
import { useBrowsing } from '../context.ts';

export function CopyField({ value }: { readonly value: string }) {
  const { t } = useBrowsing();
  const said = useSignal('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value);
      said.value = t('copiedText');
    } catch {
      // Without https, or without permission.
      said.value = t('copyByHand');
    }
  };
  return (
    <div>
      <div class="secret">
        <code>{value}</code>
        <Button onPress={() => void copy()}>{t('copyText')}</Button>
      </div>
      <small role="status">{said.value}</small>
    </div>
  );
}
