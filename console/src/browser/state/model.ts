// Everything that one file browser remembers, put together.
import type { ListedFile } from '@pakhus/client';
import { type Signal, signal } from '@preact/signals';
import { describeError } from '../errors.ts';
import { recall, remember } from '../memory.ts';
import type { MoreRequest } from '../more-request.ts';
import { type Abilities, type Can, createAbilities } from './abilities.ts';
import type { BrowsedUser } from './browsed-user.ts';
import { createDeletions, type Deletions } from './deletions.ts';
import type { Host } from './host.ts';
import { createInterrupted, type Interrupted } from './interrupted.ts';
import { guardLeaving } from './leaving.ts';
import { createListing, type Listing } from './listing.ts';
import { createQuota, type Quota } from './quota.ts';
import { createSelection, type Selection } from './selection.ts';
import { createThumbnails, type Thumbnails } from './thumbnails.ts';
import { createToasts, type Toasts } from './toasts.ts';
import { createUndoableDelete, type UndoableDelete } from './undoable-delete.ts';
import { createUploadReports } from './upload-reports.ts';
import { createUploads, type Uploads } from './uploads.ts';

export type View = 'list' | 'grid';

/** What is open above the list. */
export type Overlay =
  | { readonly kind: 'more'; readonly request: MoreRequest }
  | { readonly kind: 'menu'; readonly file: ListedFile; readonly x: number; readonly y: number };

export interface Model extends UndoableDelete {
  readonly user: BrowsedUser;
  readonly listing: Listing;
  readonly selection: Selection;
  readonly uploads: Uploads;
  readonly interrupted: Interrupted;
  readonly deletions: Deletions;
  readonly quota: Quota;
  readonly abilities: Abilities;
  readonly toasts: Toasts;
  readonly thumbnails: Thumbnails;
  readonly view: Signal<View>;
  readonly overlay: Signal<Overlay | null>;
  /** Set to move the focus to the focused entry of the list, as soon as that is there. */
  readonly wantsFocus: Signal<boolean>;
  setView(view: View): void;
  /** Shows an error; `verb` is what was tried. */
  fail(error: unknown, verb?: keyof Can): void;
  dispose(): void;
}

const viewKey = 'pakhus-files-view';
const undoMs = 7000;

export function createModel(user: BrowsedUser, spaceId: string | undefined, host: () => Host): Model {
  const toasts = createToasts();
  const abilities = createAbilities(user);
  const quota = createQuota(user);
  const view = signal<View>(recall(viewKey) === 'grid' ? 'grid' : 'list');
  const wantsFocus = signal(false);

  function fail(error: unknown, verb?: keyof Can): void {
    const { text, note } = describeError(error, host().texts);
    if (verb) abilities.learn(verb, error);
    toasts.show({ text, note, isError: true });
    host().onError(error);
  }

  const deletions: Deletions = createDeletions({
    user,
    undoMs,
    onDeleted: () => quota.refresh(),
    onFailed(items, error) {
      listing.restore(items);
      fail(error, 'delete');
      quota.refresh();
    },
  });
  const listing = createListing({
    user,
    spaceId,
    isHidden: (fileId) => deletions.isPending(fileId),
    onError: (error) => host().onError(error),
  });
  const selection = createSelection(listing, () => host().isMultiple);
  const uploads = createUploads({
    user,
    spaceId,
    ...createUploadReports({ listing, quota, abilities, toasts, host }),
  });
  const interrupted = createInterrupted(user);
  const thumbnails = createThumbnails(user);
  const stopGuarding = guardLeaving(uploads, deletions);
  return {
    user,
    listing,
    selection,
    uploads,
    interrupted,
    deletions,
    quota,
    abilities,
    toasts,
    thumbnails,
    view,
    overlay: signal(null),
    wantsFocus,
    setView(next) {
      view.value = next;
      remember(viewKey, next);
    },
    ...createUndoableDelete({ deletions, listing, selection, toasts, wantsFocus, host }),
    fail,
    dispose() {
      stopGuarding();
      deletions.flush();
      for (const part of [listing, uploads, interrupted, quota, toasts, thumbnails]) part.dispose();
    },
  };
}
