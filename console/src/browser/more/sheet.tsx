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
  useLayoutEffect(() => {
    if (!body.current) return;
    // The browser would choose the button that closes it.
    body.current.querySelector<HTMLElement>('input, select')?.focus();
    const observer = new MutationObserver((changes) => keepFocus(changes.map(({ target }) => target)));
    observer.observe(body.current, { childList: true, subtree: true });
    return () => observer.disconnect();
  }, []);
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

/** What had the focus may be gone after a change: then what stands in its place gets it. */
function keepFocus(changed: readonly Node[]): void {
  const places = changed.filter((node): node is Element => node instanceof Element && node.isConnected);
  const dialog = places[0]?.closest('dialog');
  if (!dialog || dialog.contains((dialog.getRootNode() as ShadowRoot).activeElement)) return;
  const next = [...places, dialog].map((place) => place.querySelector<HTMLElement>('input, select, button'));
  next.find((found) => found !== null)?.focus();
}
