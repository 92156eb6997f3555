// Deleting files as the person sees it: they disappear, a message offers to undo, and the focus goes to a neighbour.
import type { ListedFile } from '@pakhus/client';
import type { Signal } from '@preact/signals';
import type { Deletions } from './deletions.ts';
import { toFileItem } from './entries.ts';
import type { Host } from './host.ts';
import type { Listing } from './listing.ts';
import type { Selection } from './selection.ts';
import type { Toasts } from './toasts.ts';

export interface UndoableDelete {
  deleteFiles(files: readonly ListedFile[]): void;
  /** Takes back the newest deletion. */
  undo(): void;
}

interface Parts {
  readonly deletions: Deletions;
  readonly listing: Listing;
  readonly selection: Selection;
  readonly toasts: Toasts;
  readonly wantsFocus: Signal<boolean>;
  readonly host: () => Host;
}

export function createUndoableDelete(parts: Parts): UndoableDelete {
  const { deletions, listing, selection, toasts, wantsFocus, host } = parts;
  /** The newest last. */
  const undoable = new Set<() => void>();
  const focus = (index: number) => {
    selection.focus(Math.max(0, Math.min(index, listing.entries.length - 1)));
    wantsFocus.value = true;
  };
  return {
    deleteFiles(files) {
      const { t } = host().texts;
      const keys = new Set(files.map(({ id }) => id));
      const items = files.map(toFileItem);
      const count = items.length;
      const undo = () => {
        hide();
        undoable.delete(undo);
        takeBack();
        listing.restore(items);
        focus(listing.indexOf(items[0]?.key ?? ''));
        toasts.announce(t('restored', { count }));
      };
      undoable.add(undo);
      const takeBack = deletions.schedule(items, () => {
        undoable.delete(undo);
        hide();
      });
      const at = listing.entries.findIndex(({ key }) => keys.has(key));
      listing.remove(keys);
      selection.forget(keys);
      focus(at);
      const action = { label: t('undo'), run: undo };
      const hide = toasts.show({ text: t('deleted', { count }), action });
    },
    undo: () => [...undoable].at(-1)?.(),
  };
}
