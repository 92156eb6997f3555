// The selected files and the entry that has the focus. Folders can be focused, not selected.
import type { ListedFile } from '@pakhus/client';
import { batch, type ReadonlySignal, signal } from '@preact/signals';
import { compareFiles, type Entry } from './entries.ts';
import type { Listing } from './listing.ts';
import { toRange } from './selection-range.ts';

export interface Selection {
  /** Changes whenever the selection does. */
  readonly version: ReadonlySignal<number>;
  readonly count: ReadonlySignal<number>;
  readonly focusedKey: ReadonlySignal<string | null>;
  has(key: string): boolean;
  /** In the order of the list. */
  files(): ListedFile[];
  /** The index of the focused entry, 0 if there is none. */
  focusedIndex(): number;
  focus(index: number): void;
  selectOnly(index: number): void;
  toggle(index: number): void;
  /** From the anchor, which is where the last selection began. */
  extendTo(index: number): void;
  selectAll(): void;
  clear(): void;
  forget(keys: ReadonlySet<string>): void;
  reset(): void;
}

export function createSelection(listing: Listing, isMultiple: () => boolean): Selection {
  const version = signal(0);
  const count = signal(0);
  const focusedKey = signal<string | null>(null);
  let selected = new Set<string>();
  let anchor = 0;
  let guess = 0;

  const change = (next: Set<string>) =>
    batch(() => {
      selected = next;
      count.value = next.size;
      version.value += 1;
    });
  const focus = (index: number) => {
    const entry = listing.entries[index];
    if (!entry) return;
    guess = index;
    focusedKey.value = entry.key;
  };
  const keysOf = (entries: Iterable<Entry>) => {
    const keys = new Set<string>();
    for (const entry of entries) if (entry.kind === 'file') keys.add(entry.key);
    return keys;
  };
  const selectOnly = (index: number) => {
    anchor = index;
    focus(index);
    change(keysOf(listing.entries.slice(index, index + 1)));
  };

  return {
    version,
    count,
    focusedKey,
    has: (key) => selected.has(key),
    files: () =>
      [...selected]
        .flatMap((key) => {
          const entry = listing.get(key);
          return entry?.kind === 'file' ? [entry] : [];
        })
        .sort(compareFiles)
        .map(({ file }) => file),
    focusedIndex() {
      const key = focusedKey.peek();
      if (key === null) return 0;
      guess = Math.max(0, listing.indexOf(key, guess));
      return guess;
    },
    focus,
    selectOnly,
    toggle(index) {
      const entry = listing.entries[index];
      if (!isMultiple() && !(entry && selected.has(entry.key))) return selectOnly(index);
      anchor = index;
      focus(index);
      if (entry?.kind !== 'file') return;
      const next = new Set(selected);
      if (!next.delete(entry.key)) next.add(entry.key);
      change(next);
    },
    extendTo(index) {
      if (!isMultiple()) return selectOnly(index);
      focus(index);
      const [from, to] = toRange(anchor, index);
      change(keysOf(listing.entries.slice(from, to + 1)));
    },
    selectAll: () => {
      if (isMultiple()) change(keysOf(listing.entries));
    },
    clear: () => change(new Set()),
    forget(keys) {
      const next = new Set([...selected].filter((key) => !keys.has(key)));
      if (next.size !== selected.size) change(next);
    },
    reset() {
      anchor = 0;
      guess = 0;
      focusedKey.value = null;
      change(new Set());
    },
  };
}
