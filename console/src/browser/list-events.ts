// What keys, clicks and the focus do in the list.
import type { Browsing } from './context.ts';
import { joinFolder } from './paths.ts';
import { fileOf } from './state/entries.ts';
import { type Grid, moveByKey } from './state/selection-range.ts';
import { canRename, rename } from './verbs.ts';

/** A folder is entered; a file is shown, or chosen in a picker. */
function openEntry(browsing: Browsing, index: number): void {
  const { model, isPicker, go, openFile, pick } = browsing;
  const entry = model.listing.entries[index];
  if (!entry) return;
  if (entry.kind === 'folder') {
    model.wantsFocus.value = true;
    go(joinFolder(model.listing.folder.peek(), entry.name));
  } else if (isPicker) pick([entry.file]);
  else openFile(entry.key);
}

function openMenu({ model }: Browsing, index: number, x: number, y: number): void {
  const file = fileOf(model.listing.entries[index]);
  if (!file) return;
  if (!model.selection.has(file.id)) model.selection.selectOnly(index);
  model.overlay.value = { kind: 'menu', file, x, y };
}

/** The files that a verb is about: all selected ones, or the focused one. */
function chosenFiles({ model }: Browsing) {
  const { selection, listing } = model;
  if (selection.count.peek() > 0) return selection.files();
  const file = fileOf(listing.entries[selection.focusedIndex()]);
  return file ? [file] : [];
}

function handleKey(browsing: Browsing, event: KeyboardEvent, grid: Grid): void {
  const { model } = browsing;
  const { selection } = model;
  const isCommand = event.ctrlKey || event.metaKey;
  const from = selection.focusedIndex();
  const to = isCommand ? null : moveByKey(event.key, from, grid);
  if (to !== null) {
    if (event.shiftKey) selection.extendTo(to);
    else selection.focus(to);
    model.wantsFocus.value = true;
  } else if (!handleVerb(browsing, event, from, isCommand)) return;
  event.preventDefault();
}

/** Whether the key meant something. */
function handleVerb(browsing: Browsing, event: KeyboardEvent, index: number, isCommand: boolean): boolean {
  const { model, can } = browsing;
  const { selection } = model;
  const key = isCommand ? `^${event.key.toLowerCase()}` : event.shiftKey ? `+${event.key}` : event.key;
  const verbs: Record<string, (() => void) | undefined> = {
    ' ': () => selection.toggle(index),
    '^ ': () => selection.toggle(index),
    '+ ': () => selection.extendTo(index),
    Enter: () => openEntry(browsing, index),
    '^a': () => selection.selectAll(),
    '^z': () => model.undo(),
    Escape: selection.count.peek() > 0 ? () => selection.clear() : undefined,
    Delete: can.delete ? () => deleteChosen(browsing) : undefined,
    F2: () => renameChosen(browsing),
    ContextMenu: () => openMenuAtFocus(browsing, event, index),
    '+F10': () => openMenuAtFocus(browsing, event, index),
  };
  verbs[key]?.();
  return verbs[key] !== undefined;
}

function deleteChosen(browsing: Browsing): void {
  const files = chosenFiles(browsing);
  if (files.length > 0) browsing.model.deleteFiles(files);
}

function renameChosen(browsing: Browsing): void {
  const [file, ...more] = chosenFiles(browsing);
  if (file && more.length === 0 && canRename(browsing, file)) rename(browsing, file);
}

function openMenuAtFocus(browsing: Browsing, event: KeyboardEvent, index: number): void {
  const { left, bottom } = (event.target as HTMLElement).getBoundingClientRect();
  openMenu(browsing, index, left + 48, bottom - 8);
}

function handleClick(browsing: Browsing, event: MouseEvent, index: number): void {
  const target = event.target as Element;
  const { selection, listing } = browsing.model;
  const more = target.closest('[data-more]');
  const isFolder = listing.entries[index]?.kind === 'folder';
  const isName = target.closest('[data-open]') !== null;
  if (more) {
    const { left, bottom } = more.getBoundingClientRect();
    openMenu(browsing, index, left, bottom);
  } else if (event.shiftKey) selection.extendTo(index);
  else if (event.ctrlKey || event.metaKey || target.closest('[data-check="true"]')) selection.toggle(index);
  else if (isName && (isFolder || !browsing.isPicker)) {
    selection.focus(index);
    openEntry(browsing, index);
  } else selection.selectOnly(index);
}

function indexAt(target: EventTarget | null): number | null {
  const index = (target as Element | null)?.closest<HTMLElement>('[data-index]')?.dataset.index;
  return index === undefined ? null : Number(index);
}

const isOnControl = (target: EventTarget | null): boolean =>
  (target as Element).closest('[data-check="true"], [data-more], [data-open]') !== null;

/** The handlers of the list: entries have none of their own, because they come and go while it is scrolled. */
export function createListEvents(browsing: Browsing, getGrid: () => Grid) {
  /** Calls `handle` only for an event of an entry. */
  const onEntry =
    <Kind extends Event>(handle: (event: Kind, index: number) => void) =>
    (event: Kind) => {
      const index = indexAt(event.target);
      if (index !== null) handle(event, index);
    };
  return {
    onKeyDown: onEntry((event: KeyboardEvent) => handleKey(browsing, event, getGrid())),
    onFocusIn: onEntry((_event, index) => browsing.model.selection.focus(index)),
    onClick: onEntry((event: MouseEvent, index) => handleClick(browsing, event, index)),
    onDblClick: onEntry((event: MouseEvent, index) => {
      if (!isOnControl(event.target) || browsing.isPicker) openEntry(browsing, index);
    }),
    onContextMenu: onEntry((event: MouseEvent, index) => {
      event.preventDefault();
      openMenu(browsing, index, event.clientX, event.clientY);
    }),
  };
}
