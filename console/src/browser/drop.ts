// Files that are dragged or pasted onto the file browser.
import { type Signal, useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';
import { readDropped } from './dropped.ts';
import type { Model } from './state/model.ts';

const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false;

/** Whether files are held above it now. */
export function useDrop(
  root: RefObject<HTMLElement | null>,
  model: Model,
  canUpload: boolean,
): Signal<boolean> {
  const isAbove = useSignal(false);
  useEffect(() => {
    const element = root.current;
    if (!element || !canUpload) return;
    const ended = new AbortController();
    const { signal } = ended;
    // Enter and leave also come from every element inside.
    let depth = 0;
    const count = (change: number) => (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      depth = Math.max(0, depth + change);
      isAbove.value = depth > 0;
    };
    element.addEventListener('dragenter', count(1), { signal });
    element.addEventListener('dragleave', count(-1), { signal });
    element.addEventListener('dragover', count(0), { signal });
    element.addEventListener(
      'drop',
      (event) => {
        if (!hasFiles(event) || !event.dataTransfer) return;
        event.preventDefault();
        depth = 0;
        isAbove.value = false;
        void take(model, event.dataTransfer);
      },
      { signal },
    );
    document.addEventListener('paste', (event) => paste(element, model, event), { signal });
    return () => {
      ended.abort();
      isAbove.value = false;
    };
  }, [model, canUpload]);
  return isAbove;
}

async function take(model: Model, transfer: DataTransfer): Promise<void> {
  const folder = model.listing.folder.peek();
  try {
    model.uploads.add(await readDropped(transfer, folder));
  } catch (error) {
    // A folder that vanished or may not be read.
    model.fail(error);
  }
}

/** Only if the focus is inside, or nowhere and the pointer is: a page may have several, and fields of its own. */
function paste(element: HTMLElement, model: Model, event: ClipboardEvent): void {
  const files = [...(event.clipboardData?.files ?? [])];
  const path = event.composedPath();
  const isForField = path[0] instanceof Element && path[0].matches('input, textarea, [contenteditable]');
  const isHere = path.includes(element) || (path[0] === document.body && element.matches(':hover'));
  if (files.length === 0 || isForField || !isHere) return;
  event.preventDefault();
  const folder = model.listing.folder.peek();
  model.uploads.add(files.map((file) => ({ file, folder })));
}
