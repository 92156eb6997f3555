// The frame of every dialog here: a heading with a button that closes it, and a body that scrolls.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { IconButton } from '../button.tsx';
import { useBrowsing } from '../context.ts';
import { Dialog } from '../dialog.tsx';

interface SheetProps {
  readonly title: string;
  /** What it is about, in the words of strangers. */
  readonly subject?: string | undefined;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Sheet({ title, subject, onClose, children }: SheetProps) {
  const { t } = useBrowsing();
  const body = useRef<HTMLDivElement>(null);
  // The browser would choose the button that closes it.
  useLayoutEffect(() => body.current?.querySelector<HTMLElement>('input, select')?.focus(), []);
  return (
    <Dialog label={title} kind="sheet" onClose={onClose}>
      <header class="sheet-head">
        <h2>{title}</h2>
        <IconButton icon="close" label={t('close')} onPress={onClose} />
      </header>
      <div ref={body} class="sheet-body">
        {subject !== undefined && (
          <p>
            <strong>
              <bdi>{subject}</bdi>
            </strong>
          </p>
        )}
        {children}
      </div>
    </Dialog>
  );
}
