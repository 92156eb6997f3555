// Text to copy, and a dialog for secrets that the server shows once, which does not close by accident.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { t } from '../texts/texts.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { showToast } from './toasts.tsx';

export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    showToast(t.ui.copied);
  } catch {
    // Without https, or without permission.
    showToast(t.ui.copyByHand);
  }
}

export const CopyField = ({ value, label }: { value: string; label: string }) => (
  <div class="secret">
    <code title={label}>{value}</code>
    <Button size="small" icon="copy" label={t.ui.copy} onPress={() => copyText(value)} />
  </div>
);

interface SecretDialogProps {
  readonly title: string;
  readonly label: string;
  readonly value: string;
  readonly children?: ComponentChildren;
  readonly onClose: () => void;
}

export function SecretDialog({ title, label, value, children, onClose }: SecretDialogProps) {
  const kept = useSignal(false);
  return (
    <Dialog title={title} onClose={onClose} closable={false}>
      <p>{t.ui.shownOnce}</p>
      <CopyField value={value} label={label} />
      {children}
      <label class="choice">
        <input
          type="checkbox"
          checked={kept.value}
          onChange={(event) => {
            kept.value = event.currentTarget.checked;
          }}
        />
        <span>{t.ui.secretKept}</span>
      </label>
      <div class="dialog-feet">
        <Button kind="primary" disabled={!kept.value} onPress={onClose}>
          {t.ui.done}
        </Button>
      </div>
    </Dialog>
  );
}
