// A native modal dialog: it keeps the focus inside, closes with Escape and gives the focus back to what opened it.
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { t } from '../texts/texts.ts';
import { Button } from './button.tsx';

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly onClose: () => void;
  /** A secret that is shown once must not vanish by a stray key. */
  readonly closable?: boolean;
}

export function Dialog({ title, children, onClose, closable = true }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const opener = findFocus();
    const shown = dialog.current;
    shown?.showModal();
    return () => {
      // While it is open, nothing outside of it can have the focus.
      shown?.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
      // What opened it may be gone with what was deleted.
      else document.querySelector<HTMLElement>('h1')?.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        if (closable) onClose();
      }}
      onClose={() => {
        // The event of a dialog that was taken away comes late, and another dialog may be open by then.
        if (!dialog.current?.isConnected) return;
        if (closable) onClose();
        // Chromium closes on a second Escape even if the first was refused.
        else dialog.current.showModal();
      }}
    >
      <div class="dialog-body">
        <div class="dialog-head">
          <h2 id={id}>{title}</h2>
          {closable && <Button kind="plain" size="small" icon="close" label={t.ui.close} onPress={onClose} />}
        </div>
        {children}
      </div>
    </dialog>
  );
}

/** Also inside of a shadow root. */
function findFocus(): Element | null {
  let focused = document.activeElement;
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  return focused;
}
